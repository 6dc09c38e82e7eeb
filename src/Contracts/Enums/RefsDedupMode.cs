using System.Text.Json.Serialization;

namespace TierSpaces.Contracts;

/// <summary>Use of deduplication by ReFS. Numbered as in Windows.</summary>
[JsonConverter(typeof(JsonStringEnumConverter<RefsDedupMode>))]
public enum RefsDedupMode
{
    /// <summary>Shown as "Disabled".</summary>
    Disabled = 0,

    /// <summary>Shown as "Dedup".</summary>
    Dedup = 1,

    /// <summary>Shown as "DedupAndCompress".</summary>
    DedupAndCompress = 2,

    /// <summary>Shown as "Compress".</summary>
    Compress = 3,

    /// <summary>Shown as "NotAvailable".</summary>
    NotAvailable = 4,
}
