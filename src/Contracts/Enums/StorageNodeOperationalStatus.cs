using System.Text.Json.Serialization;

namespace TierSpaces.Contracts;

/// <summary>Operational status of a node. Numbered as in Windows.</summary>
[JsonConverter(typeof(JsonStringEnumConverter<StorageNodeOperationalStatus>))]
public enum StorageNodeOperationalStatus
{
    /// <summary>Shown as "Unknown".</summary>
    Unknown = 0,

    /// <summary>Shown as "Up".</summary>
    Up = 2,

    /// <summary>Shown as "Down".</summary>
    Down = 6,

    /// <summary>Shown as "Joining".</summary>
    Joining = 8,

    /// <summary>Shown as "Paused".</summary>
    Paused = 10,
}
