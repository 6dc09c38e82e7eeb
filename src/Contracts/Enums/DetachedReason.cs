using System.Text.Json.Serialization;

namespace TierSpaces.Contracts;

/// <summary>Reason why a virtual disk is detached. Numbered as in Windows.</summary>
[JsonConverter(typeof(JsonStringEnumConverter<DetachedReason>))]
public enum DetachedReason
{
    /// <summary>Shown as "Unknown".</summary>
    Unknown = 0,

    /// <summary>Shown as "None".</summary>
    None = 1,

    /// <summary>Shown as "By Policy".</summary>
    ByPolicy = 2,

    /// <summary>Shown as "Majority Disks Unhealthy".</summary>
    MajorityDisksUnhealthy = 3,

    /// <summary>Shown as "Incomplete".</summary>
    Incomplete = 4,
}
