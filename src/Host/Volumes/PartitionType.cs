using System.Globalization;
using TierSpaces.Contracts;

namespace TierSpaces.Host.Volumes;

/// <summary>Types of partitions, by GUID (GPT) or number (MBR), and the word that the column Type shows for them.</summary>
internal static class PartitionType
{
    /// <summary>GPT type of a data partition, the default.</summary>
    public const string BasicData = "{ebd0a0a2-b9e5-4433-87c0-68b6b72699c7}";

    private const int HiddenMbrBit = 0x10;

    private static readonly Dictionary<string, string> s_words = new()
    {
        [BasicData] = "Basic",
        ["{c12a7328-f81f-11d2-ba4b-00a0c93ec93b}"] = "System",
        ["{e3c9e316-0b5c-4db8-817d-f92df00215ae}"] = "Reserved",
        ["{de94bba4-06d1-4d40-a16a-bfd50179d6ac}"] = "Recovery",
        ["{0fc63daf-8483-4772-8e79-3d69d8477de4}"] = "Linux",
    };

    /// <summary>The word of a partition's type.</summary>
    public static string WordOf(VolumePartition partition) => partition.GptType is { } type
        ? s_words.GetValueOrDefault(type, "Unknown")
        : partition.MbrType is 0x83 ? "Linux"
        : Enum.GetName((MbrType)(partition.MbrType ?? 0)) ?? "Unknown";

    /// <summary>Whether file systems of users are on partitions of the type: they have volumes.</summary>
    public static bool HoldsData(VolumePartition partition) => partition.GptType is { } type
        ? type is BasicData || WordOf(partition) is "Linux" or "Unknown"
        : partition.MbrType is not (0x5 or 0xF or 0x85);

    /// <summary>Whether a partition belongs to the maker of a machine: the type of a recovery partition.</summary>
    public static bool IsOem(VolumePartition partition) => WordOf(partition) == "Recovery";

    /// <summary>Returns a GPT type as it is written here: a GUID in braces, lower case.</summary>
    /// <exception cref="StorageException">The text is no GUID.</exception>
    public static string ParseGpt(string text) => Guid.TryParse(text, out Guid type) && type != Guid.Empty
        ? type.ToString("B")
        : throw new StorageException(
            StorageErrors.PartitionTypeInvalid, $"-GptType '{text}': is no partition type. Valid: a GUID, for example '{BasicData}'.",
            "Give a GUID, or leave the parameter out.", "GptType");

    /// <summary>The number of an MBR type with or without the bit that hides it.</summary>
    public static int Hidden(int type, bool isHidden) => isHidden ? type | HiddenMbrBit : type & ~HiddenMbrBit;

    /// <summary>Whether an MBR type hides its partition.</summary>
    public static bool IsHidden(int type) => type is > HiddenMbrBit and < 0x20;

    /// <summary>The number of an MBR type as sfdisk takes it.</summary>
    public static string Hex(int type) => type.ToString("x", CultureInfo.InvariantCulture);
}
