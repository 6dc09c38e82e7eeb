using System.Text.Json.Serialization;

namespace TierSpaces.Contracts;

/// <summary>Purpose of a physical disk in its pool. Numbered as in Windows.</summary>
[JsonConverter(typeof(JsonStringEnumConverter<PhysicalDiskUsage>))]
public enum PhysicalDiskUsage
{
    /// <summary>Shown as "Unknown".</summary>
    Unknown = 0,

    /// <summary>Shown as "Auto-Select".</summary>
    AutoSelect = 1,

    /// <summary>Shown as "Manual-Select".</summary>
    ManualSelect = 2,

    /// <summary>Shown as "Hot Spare".</summary>
    HotSpare = 3,

    /// <summary>Shown as "Retired".</summary>
    Retired = 4,

    /// <summary>Shown as "Journal".</summary>
    Journal = 5,
}
