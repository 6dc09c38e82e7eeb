using TierSpaces.Engine.Devices;

namespace TierSpaces.Engine.Management;

/// <summary>A registered disk at one moment. Nothing of it changes, so that statuses are made of it outside the lane.</summary>
/// <param name="stored">Its record.</param>
/// <param name="condition">Its content, and the reasons against using it.</param>
internal sealed class RegisteredDiskSnapshot(StoredDisk stored, DiskCondition condition)
{
    /// <summary>Its record.</summary>
    internal StoredDisk Stored { get; } = stored;

    /// <summary>Its content, and the reasons against using it.</summary>
    internal DiskCondition Condition { get; } = condition;

    /// <summary>Whether it was open, and no pool owned it.</summary>
    internal required bool IsOpen { get; init; }

    /// <summary>Identity that the system reported when it was last opened; null: it was never open.</summary>
    internal required DiskIdentity? Identity { get; init; }

    /// <summary>Its counts, as the devices that it was; null for one that was never open.</summary>
    internal required IoCounters? Counters { get; init; }

    /// <summary>Paths that worked.</summary>
    internal required IReadOnlyList<string> WorkingUris { get; init; }

    /// <summary>Time of the next search for it, on the lane's clock.</summary>
    internal required long NextLookNs { get; init; }
}
