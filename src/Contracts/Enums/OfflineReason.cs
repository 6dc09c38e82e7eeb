using System.Text.Json.Serialization;

namespace TierSpaces.Contracts;

/// <summary>Reason why a disk is offline. Numbered as in Windows.</summary>
[JsonConverter(typeof(JsonStringEnumConverter<OfflineReason>))]
public enum OfflineReason
{
    /// <summary>Shown as "Policy".</summary>
    Policy = 1,

    /// <summary>Shown as "Redundant Path".</summary>
    RedundantPath = 2,

    /// <summary>Shown as "Snapshot".</summary>
    Snapshot = 3,

    /// <summary>Shown as "Collision".</summary>
    Collision = 4,

    /// <summary>Shown as "Resource Exhaustion".</summary>
    ResourceExhaustion = 5,

    /// <summary>Shown as "Critical Write Failures".</summary>
    CriticalWriteFailures = 6,

    /// <summary>Shown as "Data Integrity Scan Required".</summary>
    DataIntegrityScanRequired = 7,
}
