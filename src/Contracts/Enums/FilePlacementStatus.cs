using System.Text.Json.Serialization;

namespace TierSpaces.Contracts;

/// <summary>Share of a pinned file that is on its tier. Numbered as in Windows.</summary>
[JsonConverter(typeof(JsonStringEnumConverter<FilePlacementStatus>))]
public enum FilePlacementStatus
{
    /// <summary>Shown as "Unknown": nothing was ever written where it lies.</summary>
    Unknown = 0,

    /// <summary>Shown as "Completely on tier".</summary>
    CompletelyOnTier = 1,

    /// <summary>Shown as "Partially on tier".</summary>
    PartiallyOnTier = 2,

    /// <summary>Shown as "Not on tier".</summary>
    NotOnTier = 3,
}
