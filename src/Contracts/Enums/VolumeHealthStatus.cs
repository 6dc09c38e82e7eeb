using System.Text.Json.Serialization;

namespace TierSpaces.Contracts;

/// <summary>Health of a volume. Numbered as in Windows; the last two, which have no documented number, by us.</summary>
[JsonConverter(typeof(JsonStringEnumConverter<VolumeHealthStatus>))]
public enum VolumeHealthStatus
{
    /// <summary>Shown as "Healthy".</summary>
    Healthy = 0,

    /// <summary>Shown as "Scan Needed".</summary>
    ScanNeeded = 1,

    /// <summary>Shown as "Spot Fix Needed".</summary>
    SpotFixNeeded = 2,

    /// <summary>Shown as "Unhealthy".</summary>
    Unhealthy = 3,

    /// <summary>Shown as "Warning".</summary>
    Warning = 4,
}
