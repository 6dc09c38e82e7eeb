using System.Text.Json.Serialization;

namespace TierSpaces.Contracts;

/// <summary>Reason why a pool is read-only. Numbered as in Windows.</summary>
[JsonConverter(typeof(JsonStringEnumConverter<ReadOnlyReason>))]
public enum ReadOnlyReason
{
    /// <summary>Shown as "Unknown".</summary>
    Unknown = 0,

    /// <summary>Shown as "None".</summary>
    None = 1,

    /// <summary>Shown as "By Policy".</summary>
    ByPolicy = 2,

    /// <summary>Shown as "Majority Disks Unhealthy".</summary>
    MajorityDisksUnhealthy = 3,
}
