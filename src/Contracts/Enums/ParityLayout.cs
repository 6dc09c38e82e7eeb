using System.Text.Json.Serialization;

namespace TierSpaces.Contracts;

/// <summary>Placement of parity on the columns. Numbered as in Windows.</summary>
[JsonConverter(typeof(JsonStringEnumConverter<ParityLayout>))]
public enum ParityLayout
{
    /// <summary>Shown as "Non-rotated Parity".</summary>
    NonRotatedParity = 1,

    /// <summary>Shown as "Rotated Parity".</summary>
    RotatedParity = 2,
}
