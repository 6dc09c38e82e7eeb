using System.Text.Json.Serialization;

namespace TierSpaces.Contracts;

/// <summary>Time at which slabs are allocated. Numbered as in Windows.</summary>
[JsonConverter(typeof(JsonStringEnumConverter<ProvisioningType>))]
public enum ProvisioningType
{
    /// <summary>Shown as "Unknown".</summary>
    Unknown = 0,

    /// <summary>Shown as "Thin".</summary>
    Thin = 1,

    /// <summary>Shown as "Fixed".</summary>
    Fixed = 2,
}
