using System.Text.Json.Serialization;

namespace TierSpaces.Contracts;

/// <summary>Share of the disks that repairs have while clients use them. Numbered as in Windows.</summary>
[JsonConverter(typeof(JsonStringEnumConverter<RepairPriority>))]
public enum RepairPriority
{
    /// <summary>Shown as "VeryLow".</summary>
    VeryLow = 1,

    /// <summary>Shown as "Low".</summary>
    Low = 2,

    /// <summary>Shown as "Medium".</summary>
    Medium = 4,

    /// <summary>Shown as "High".</summary>
    High = 8,

    /// <summary>Shown as "VeryHigh".</summary>
    VeryHigh = 16,
}
