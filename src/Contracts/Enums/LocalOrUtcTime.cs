using System.Text.Json.Serialization;

namespace TierSpaces.Contracts;

/// <summary>Clock of the times of a storage job. Numbered as in Windows.</summary>
[JsonConverter(typeof(JsonStringEnumConverter<LocalOrUtcTime>))]
public enum LocalOrUtcTime
{
    /// <summary>Shown as "Local Time".</summary>
    LocalTime = 1,

    /// <summary>Shown as "UTC Time".</summary>
    UtcTime = 2,
}
