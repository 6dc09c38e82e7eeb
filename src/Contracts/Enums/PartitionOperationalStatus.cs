using System.Text.Json.Serialization;

namespace TierSpaces.Contracts;

/// <summary>State of a partition. Numbered as in Windows.</summary>
[JsonConverter(typeof(JsonStringEnumConverter<PartitionOperationalStatus>))]
public enum PartitionOperationalStatus
{
    /// <summary>Shown as "Unknown".</summary>
    Unknown = 0,

    /// <summary>Shown as "Online".</summary>
    Online = 1,

    /// <summary>Shown as "No Media".</summary>
    NoMedia = 3,

    /// <summary>Shown as "Offline".</summary>
    Offline = 4,

    /// <summary>Shown as "Failed".</summary>
    Failed = 5,
}
