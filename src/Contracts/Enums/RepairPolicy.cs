using System.Text.Json.Serialization;

namespace TierSpaces.Contracts;

/// <summary>Number of virtual disks that are repaired at a time. Numbered as in Windows.</summary>
[JsonConverter(typeof(JsonStringEnumConverter<RepairPolicy>))]
public enum RepairPolicy
{
    /// <summary>Shown as "Sequential".</summary>
    Sequential = 2,

    /// <summary>Shown as "Parallel".</summary>
    Parallel = 3,
}
