using System.Text.Json.Serialization;

namespace TierSpaces.Contracts;

/// <summary>Checksum kept of every block. Ours.</summary>
[JsonConverter(typeof(JsonStringEnumConverter<ChecksumKind>))]
public enum ChecksumKind
{
    /// <summary>Shown as "None".</summary>
    None = 0,

    /// <summary>Shown as "CRC32C".</summary>
    CRC32C = 1,
}
