using System.Text.Json.Serialization;

namespace TierSpaces.Contracts;

/// <summary>Use of deduplication. Numbered as in Windows.</summary>
[JsonConverter(typeof(JsonStringEnumConverter<DedupMode>))]
public enum DedupMode
{
    /// <summary>Shown as "Disabled".</summary>
    Disabled = 0,

    /// <summary>Shown as "GeneralPurpose".</summary>
    GeneralPurpose = 1,

    /// <summary>Shown as "HyperV".</summary>
    HyperV = 2,

    /// <summary>Shown as "Backup".</summary>
    Backup = 3,

    /// <summary>Shown as "NotAvailable".</summary>
    NotAvailable = 4,
}
