using TierSpaces.Engine.Devices;
using TierSpaces.Engine.Primitives;

namespace TierSpaces.Engine.Pools;

/// <summary>A disk that was not used, and the reason.</summary>
/// <param name="Disk">The disk; it stays the caller's.</param>
/// <param name="Reason">Reason, for people; names the disk.</param>
public sealed record RejectedDisk(IDisk Disk, string Reason)
{
    /// <summary>Whether it is of another history of the pool: nothing on it is read or written.</summary>
    public bool IsOtherHistory { get; init; }
}

/// <summary>Result of opening a pool.</summary>
public sealed record PoolOpenResult
{
    /// <summary>The pool asked for.</summary>
    public required PoolId Id { get; init; }

    /// <summary>The open pool; null when it could not be opened, and then nothing was written.</summary>
    public Pool? Pool { get; init; }

    /// <summary>OK or Degraded for an open pool; Incomplete, ReadOnly or InService (its lease is waited for) for one that is not open.</summary>
    public required PoolOperationalStatus Status { get; init; }

    /// <summary>Reason why the pool could not be opened, or the problem of the open pool, for people.</summary>
    public string Reason { get; init; } = "";

    /// <summary>Whether the pool waits for its lease: the next attempt may open it.</summary>
    public bool AwaitsLease { get; init; }

    /// <summary>Disks that were not used; they stay the caller's.</summary>
    public IReadOnlyList<RejectedDisk> Refused { get; init; } = [];

    /// <summary>
    /// The pool's contents, for display only when it could not be opened, as the present disks hold them. They need not be the newest. Null when the disks hold
    /// no whole state.
    /// </summary>
    public PoolState? LastKnownState { get; init; }

    /// <summary>Members that were not there.</summary>
    public IReadOnlyList<DiskNumber> Missing { get; init; } = [];
}

/// <summary>A pool could not be made; the message says why, and the disks are as they were or blank.</summary>
public sealed class PoolException(string message) : Exception(message);
