using System.Text.Json.Serialization;

namespace TierSpaces.Contracts;

/// <summary>Kind of medium. Numbered as in Windows.</summary>
[JsonConverter(typeof(JsonStringEnumConverter<MediaType>))]
public enum MediaType
{
    /// <summary>Shown as "Unspecified".</summary>
    Unspecified = 0,

    /// <summary>Shown as "HDD".</summary>
    HDD = 3,

    /// <summary>Shown as "SSD".</summary>
    SSD = 4,

    /// <summary>Shown as "SCM".</summary>
    SCM = 5,
}
