using System.Text.Json.Serialization;

namespace TierSpaces.Contracts;

/// <summary>Outcome of a check or repair of a file system.</summary>
[JsonConverter(typeof(JsonStringEnumConverter<RepairStatus>))]
public enum RepairStatus
{
    /// <summary>Shown as "NoErrorsFound".</summary>
    NoErrorsFound = 0,

    /// <summary>Shown as "ErrorsFound".</summary>
    ErrorsFound = 1,

    /// <summary>Shown as "ErrorsFixed".</summary>
    ErrorsFixed = 2,
}
