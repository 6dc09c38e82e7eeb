using System.Text.Json.Serialization;

namespace TierSpaces.Contracts;

/// <summary>Action on a storage job that was interrupted. Numbered as in Windows.</summary>
[JsonConverter(typeof(JsonStringEnumConverter<RecoveryAction>))]
public enum RecoveryAction
{
    /// <summary>Shown as "Unknown".</summary>
    Unknown = 0,

    /// <summary>Shown as "Other".</summary>
    Other = 1,

    /// <summary>Shown as "Do Not Continue".</summary>
    DoNotContinue = 2,

    /// <summary>Shown as "Continue With Next Job".</summary>
    ContinueWithNextJob = 3,

    /// <summary>Shown as "Re-run Job".</summary>
    RerunJob = 4,
}
