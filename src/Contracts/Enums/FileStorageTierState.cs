using System.Text.Json.Serialization;

namespace TierSpaces.Contracts;

/// <summary>State of the move of a pinned file to its tier. Numbered as in Windows.</summary>
[JsonConverter(typeof(JsonStringEnumConverter<FileStorageTierState>))]
public enum FileStorageTierState
{
    /// <summary>Shown as "Unknown".</summary>
    Unknown = 0,

    /// <summary>Shown as "OK": nothing of it is on another tier.</summary>
    OK = 1,

    /// <summary>Shown as "Insufficient Capacity".</summary>
    InsufficientCapacity = 2,

    /// <summary>Shown as "In Process": slices of its virtual disk are being moved.</summary>
    InProcess = 3,

    /// <summary>Shown as "Pending": it moves with the next optimization.</summary>
    Pending = 4,
}
