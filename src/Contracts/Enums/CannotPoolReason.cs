using System.Text.Json.Serialization;

namespace TierSpaces.Contracts;

/// <summary>Reason why a disk cannot be added to a pool. Numbered as in Windows.</summary>
[JsonConverter(typeof(JsonStringEnumConverter<CannotPoolReason>))]
public enum CannotPoolReason
{
    /// <summary>Shown as "Unknown".</summary>
    Unknown = 0,

    /// <summary>Shown as "Other".</summary>
    Other = 1,

    /// <summary>Shown as "In a Pool".</summary>
    InAPool = 2,

    /// <summary>Shown as "Not Healthy".</summary>
    NotHealthy = 3,

    /// <summary>Shown as "Removable Media".</summary>
    RemovableMedia = 4,

    /// <summary>Shown as "In Use by Cluster".</summary>
    InUseByCluster = 5,

    /// <summary>Shown as "Offline".</summary>
    Offline = 6,

    /// <summary>Shown as "Insufficient Capacity".</summary>
    InsufficientCapacity = 7,

    /// <summary>Shown as "Spare Disk".</summary>
    SpareDisk = 8,

    /// <summary>Shown as "Reserved by subsystem".</summary>
    ReservedBySubsystem = 9,

    /// <summary>Shown as "Starting".</summary>
    Starting = 10,
}
