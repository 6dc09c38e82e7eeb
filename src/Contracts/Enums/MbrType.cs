using System.Text.Json.Serialization;

namespace TierSpaces.Contracts;

/// <summary>Type of a partition in an MBR. Numbered as in Windows.</summary>
[JsonConverter(typeof(JsonStringEnumConverter<MbrType>))]
public enum MbrType
{
    /// <summary>Shown as "FAT12".</summary>
    FAT12 = 1,

    /// <summary>Shown as "FAT16".</summary>
    FAT16 = 4,

    /// <summary>Shown as "Extended".</summary>
    Extended = 5,

    /// <summary>Shown as "Huge".</summary>
    Huge = 6,

    /// <summary>Shown as "IFS".</summary>
    IFS = 7,

    /// <summary>Shown as "FAT32".</summary>
    FAT32 = 12,
}
