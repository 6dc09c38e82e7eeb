using System.Globalization;
using System.Text.Json;
using TierSpaces.Contracts;

namespace TierSpaces.Host.Volumes;

/// <summary>Reads a partition table as <c>sfdisk --json</c> prints it.</summary>
internal static class PartitionTable
{
    private const long MiB = 1 << 20;
    private const long MbrSectorsMax = uint.MaxValue;
    private const int GptEntries = 128;
    private const int GptEntryBytes = 128;

    /// <summary>Returns the table with its partitions by offset.</summary>
    /// <param name="json">Output of sfdisk.</param>
    /// <param name="device">The device.</param>
    /// <param name="bytes">Its size.</param>
    /// <param name="sectorSize">Bytes of a logical sector.</param>
    /// <param name="isGrown">Whether the device was made larger since the table was last written. The next change of a GPT moves its copy to the new end, so
    /// partitions may use everything before that place.</param>
    /// <exception cref="StorageException">The output cannot be read.</exception>
    public static DiskContents Parse(string json, string device, long bytes, int sectorSize, bool isGrown)
    {
        try
        {
            using JsonDocument document = JsonDocument.Parse(json);
            JsonElement table = document.RootElement.GetProperty("partitiontable");
            bool isGpt = Text(table, "label") == "gpt";
            string id = Text(table, "id") ?? "";
            IEnumerable<JsonElement> partitions = table.TryGetProperty("partitions", out JsonElement list) ? list.EnumerateArray() : [];
            return new DiskContents
            {
                Style = isGpt ? PartitionStyle.GPT : PartitionStyle.MBR,
                Guid = isGpt && Guid.TryParse(id, out Guid guid) ? guid.ToString("B") : null,
                Signature = isGpt ? null : Convert.ToUInt32(id, 16),
                Usable = isGpt
                    ? (Math.Max(MiB, table.GetProperty("firstlba").GetInt64() * sectorSize), GptEnd(table, bytes, sectorSize, isGrown))
                    : (MiB, Math.Min(bytes, MbrSectorsMax * sectorSize)),
                Partitions = [.. partitions.Select(one => Partition(one, device, isGpt, sectorSize)).OrderBy(static partition => partition.Offset)],
            };
        }
        catch (Exception e) when (e is JsonException or KeyNotFoundException or FormatException or InvalidOperationException)
        {
            throw new StorageException(StorageErrors.Failed, $"The partition table of {device} cannot be read: {e.Message}", "", device);
        }
    }

    /// <summary>First byte behind what partitions of a GPT may use.</summary>
    private static long GptEnd(JsonElement table, long bytes, int sectorSize, bool isGrown)
    {
        long end = (table.GetProperty("lastlba").GetInt64() + 1) * sectorSize;
        long entries = table.TryGetProperty("table-length", out JsonElement length) ? length.GetInt64() : GptEntries;
        long copy = PartitionRoom.RoundUp(entries * GptEntryBytes, sectorSize) + sectorSize;   // its entries and its header
        return isGrown ? Math.Max(end, PartitionRoom.RoundDown(bytes, sectorSize) - copy) : end;
    }

    private static VolumePartition Partition(JsonElement one, string device, bool isGpt, int sectorSize)
    {
        string node = Text(one, "node")!;
        int number = int.Parse(node.AsSpan(device.Length).TrimStart('p'), CultureInfo.InvariantCulture);
        string? guid = isGpt ? Guid.Parse(Text(one, "uuid")!).ToString("B") : null;
        long offset = one.GetProperty("start").GetInt64() * sectorSize;
        return new VolumePartition
        {
            Number = number,
            Offset = offset,
            Size = one.GetProperty("size").GetInt64() * sectorSize,
            Node = node,
            Key = guid ?? string.Create(CultureInfo.InvariantCulture, $"{{00000000-0000-0000-0000-{offset:x12}}}"),   // signature and number may change
            GptType = isGpt ? Guid.Parse(Text(one, "type")!).ToString("B") : null,
            MbrType = isGpt ? null : Convert.ToInt32(Text(one, "type"), 16),
            Guid = guid,
            IsActive = one.TryGetProperty("bootable", out JsonElement bootable) && bootable.GetBoolean(),
            Attributes = Bits(Text(one, "attrs") ?? ""),
        };
    }

    /// <summary>Numbers of the attributes in a text like <c>RequiredPartition GUID:60,63</c>.</summary>
    private static HashSet<int> Bits(string attributes) => [.. attributes.Split(' ')
        .Where(static word => word.StartsWith("GUID:", StringComparison.Ordinal))
        .SelectMany(static word => word[5..].Split(',', StringSplitOptions.RemoveEmptyEntries))
        .Select(static bit => int.Parse(bit, CultureInfo.InvariantCulture))];

    private static string? Text(JsonElement item, string name) => item.TryGetProperty(name, out JsonElement value) ? value.GetString() : null;
}
