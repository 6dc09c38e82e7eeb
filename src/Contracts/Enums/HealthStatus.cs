using System.Text.Json.Serialization;

namespace TierSpaces.Contracts;

/// <summary>Health of an object. Numbered as in Windows.</summary>
[JsonConverter(typeof(JsonStringEnumConverter<HealthStatus>))]
public enum HealthStatus
{
    /// <summary>Shown as "Healthy".</summary>
    Healthy = 0,

    /// <summary>Shown as "Warning".</summary>
    Warning = 1,

    /// <summary>Shown as "Unhealthy".</summary>
    Unhealthy = 2,

    /// <summary>Shown as "Unknown".</summary>
    Unknown = 5,
}
