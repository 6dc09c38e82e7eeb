using TierSpaces.Engine.Devices;
using TierSpaces.Engine.Primitives;

namespace TierSpaces.Engine.Pools;

/// <summary>A disk that was not used, and why.</summary>
/// <param name="Disk">The disk; it stays the caller's.</param>
/// <param name="Reason">Why, for people; names the disk.</param>
public sealed record RejectedDisk(IDisk Disk, string Reason)
{
    /// <summary>Whether it is of another history of the pool: nothing on it is read or written.</summary>
    public bool IsOtherHistory { get; init; }
}

/// <summary>How opening a pool came out.</summary>
public sealed record PoolOpenResult
{
    /// <summary>The pool asked for.</summary>
    public required PoolId Id { get; init; }

    /// <summary>The open pool; null when it could not be opened, and then nothing was written.</summary>
    public Pool? Pool { get; init; }

    /// <summary>OK or Degraded for an open pool, Incomplete or ReadOnly for one that could not be opened.</summary>
    public required PoolOperationalStatus Status { get; init; }

    /// <summary>Why it could not be opened, or what is wrong with it, for people.</summary>
    public string Reason { get; init; } = "";

    /// <summary>Disks that were not used; they stay the caller's.</summary>
    public IReadOnlyList<RejectedDisk> Refused { get; init; } = [];

    /// <summary>
    /// The pool's contents, for showing only when it could not be opened: what the disks present say, which need not be the
    /// newest. Null when they do not say anything whole.
    /// </summary>
    public PoolState? LastKnownState { get; init; }

    /// <summary>Members that were not there.</summary>
    public IReadOnlyList<DiskNumber> Missing { get; init; } = [];
}

/// <summary>A pool could not be made; the message says why, and the disks are as they were or blank.</summary>
public sealed class PoolException(string message) : Exception(message);
