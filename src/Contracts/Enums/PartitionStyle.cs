using System.Text.Json.Serialization;

namespace TierSpaces.Contracts;

/// <summary>Kind of a disk's partition table. Numbered as in Windows.</summary>
[JsonConverter(typeof(JsonStringEnumConverter<PartitionStyle>))]
public enum PartitionStyle
{
    /// <summary>Shown as "RAW": no partition table.</summary>
    Unknown = 0,

    /// <summary>Shown as "MBR".</summary>
    MBR = 1,

    /// <summary>Shown as "GPT".</summary>
    GPT = 2,
}
