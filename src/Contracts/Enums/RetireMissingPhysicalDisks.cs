using System.Text.Json.Serialization;

namespace TierSpaces.Contracts;

/// <summary>Whether missing disks are retired. Numbered as in Windows.</summary>
[JsonConverter(typeof(JsonStringEnumConverter<RetireMissingPhysicalDisks>))]
public enum RetireMissingPhysicalDisks
{
    /// <summary>Shown as "Auto".</summary>
    Auto = 1,

    /// <summary>Shown as "Always".</summary>
    Always = 2,

    /// <summary>Shown as "Never".</summary>
    Never = 3,
}
