namespace TierSpaces.Engine.Devices;

/// <summary>Kind of a reason why a disk cannot be pooled, numbered as in Windows.</summary>
public enum CannotPoolKind
{
    /// <summary>None of the others.</summary>
    Other = 1,

    /// <summary>It is a member of a pool.</summary>
    InAPool = 2,

    /// <summary>It cannot be read, or the metadata on it is damaged.</summary>
    NotHealthy = 3,

    /// <summary>Its medium can be taken out.</summary>
    RemovableMedia = 4,

    /// <summary>It is away, or cannot be written.</summary>
    Offline = 6,

    /// <summary>It is too small, or partitions or a file system take its capacity.</summary>
    InsufficientCapacity = 7,

    /// <summary>Another storage system has it.</summary>
    ReservedBySubsystem = 9,

    /// <summary>A process that has ended holds it still; it is opened as soon as that is over.</summary>
    Starting = 10,
}
