using System.Text.Json.Serialization;

namespace TierSpaces.Contracts;

/// <summary>State of an object; numbers above 19 are codes of the provider. Numbered as in Windows.</summary>
[JsonConverter(typeof(JsonStringEnumConverter<OperationalStatus>))]
public enum OperationalStatus
{
    /// <summary>Shown as "Unknown".</summary>
    Unknown = 0,

    /// <summary>Shown as "Other".</summary>
    Other = 1,

    /// <summary>Shown as "OK".</summary>
    OK = 2,

    /// <summary>Shown as "Degraded".</summary>
    Degraded = 3,

    /// <summary>Shown as "Stressed".</summary>
    Stressed = 4,

    /// <summary>Shown as "Predictive Failure".</summary>
    PredictiveFailure = 5,

    /// <summary>Shown as "Error".</summary>
    Error = 6,

    /// <summary>Shown as "Non-Recoverable Error".</summary>
    NonRecoverableError = 7,

    /// <summary>Shown as "Starting".</summary>
    Starting = 8,

    /// <summary>Shown as "Stopping".</summary>
    Stopping = 9,

    /// <summary>Shown as "Stopped".</summary>
    Stopped = 10,

    /// <summary>Shown as "In Service".</summary>
    InService = 11,

    /// <summary>Shown as "No Contact".</summary>
    NoContact = 12,

    /// <summary>Shown as "Lost Communication".</summary>
    LostCommunication = 13,

    /// <summary>Shown as "Aborted".</summary>
    Aborted = 14,

    /// <summary>Shown as "Dormant".</summary>
    Dormant = 15,

    /// <summary>Shown as "Supporting Entity in Error".</summary>
    SupportingEntityInError = 16,

    /// <summary>Shown as "Completed".</summary>
    Completed = 17,

    /// <summary>Shown as "Power Mode".</summary>
    PowerMode = 18,

    /// <summary>Shown as "Relocating".</summary>
    Relocating = 19,

    /// <summary>Shown as "Majority Disks Unhealthy".</summary>
    MajorityDisksUnhealthy = 32768,

    /// <summary>Shown as "Minority Disks Unhealthy".</summary>
    MinorityDisksUnhealthy = 32769,

    /// <summary>Shown as "Detached".</summary>
    Detached = 53250,

    /// <summary>Shown as "Incomplete".</summary>
    Incomplete = 53251,

    /// <summary>Shown as "Failed Media".</summary>
    FailedMedia = 53252,

    /// <summary>Shown as "Split".</summary>
    Split = 53253,

    /// <summary>Shown as "Stale Metadata".</summary>
    StaleMetadata = 53254,

    /// <summary>Shown as "IO Error".</summary>
    IOError = 53255,

    /// <summary>Shown as "Unrecognized Metadata".</summary>
    UnrecognizedMetadata = 53256,
}
