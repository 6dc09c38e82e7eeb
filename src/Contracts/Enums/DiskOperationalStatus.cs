using System.Text.Json.Serialization;

namespace TierSpaces.Contracts;

/// <summary>State of a disk; numbers above 53263 are its own. Numbered as in Windows.</summary>
[JsonConverter(typeof(JsonStringEnumConverter<DiskOperationalStatus>))]
public enum DiskOperationalStatus
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

    /// <summary>Shown as "Online".</summary>
    Online = 53264,

    /// <summary>Shown as "Not Ready".</summary>
    NotReady = 53265,

    /// <summary>Shown as "No Media".</summary>
    NoMedia = 53266,

    /// <summary>Shown as "Offline".</summary>
    Offline = 53267,

    /// <summary>Shown as "Failed".</summary>
    Failed = 53268,
}
