using System.Text.Json.Serialization;

namespace TierSpaces.Contracts;

/// <summary>State of a volume. Numbered as in Windows.</summary>
[JsonConverter(typeof(JsonStringEnumConverter<VolumeOperationalStatus>))]
public enum VolumeOperationalStatus
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

    /// <summary>Shown as "Non Recoverable Error".</summary>
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

    /// <summary>Shown as "Vendor Specific".</summary>
    VendorSpecific = 18,

    /// <summary>Shown as "Scan Needed".</summary>
    ScanNeeded = 19,

    /// <summary>Shown as "Spot Fix Needed".</summary>
    SpotFixNeeded = 20,

    /// <summary>Shown as "Full Repair Needed".</summary>
    FullRepairNeeded = 21,
}
