using TierSpaces.Engine.Lanes;
using TierSpaces.Engine.Primitives;

namespace TierSpaces.Engine.Devices.Raw;

// State that the raw disks of one open device share: the owner, and a handle on each further lane. Their descriptors are duplicates of one, so they
// share the open file with its lock, and the kernel reports an error of write-back to one of them only.
//
// Invariants
//  1. The last one to be closed releases the lock.
//  2. One failed flush fails them all: each disk counts the failures that it has answered with, and a flush that finds more of them fails too, even if the
//     kernel lets it succeed. So each disk reports a failure once. A flush of another lane that the kernel ends before that lane has taken the answer of the
//     one that failed does not know of it: there the flush after it fails. That is as strict as for two flushes on one lane that are under way together.
//  3. No lock: each member is one machine word, and a count only grows.

/// <summary>State of an open device that its raw disks share. Each member may be used on any lane.</summary>
internal sealed class DeviceUsers
{
    private int _open = 1;         // disks that are open, and shares that are not opened yet
    private int _failedFlushes;    // flushes that failed, but for want of room
    private int _fullFlushes;      // flushes that failed for want of room
    private volatile bool _isGone;

    /// <summary>The guard for which calls that change ranges of the device wait.</summary>
    internal CallGuard Guard { get; } = new();

    /// <summary>Whether the device has been found gone by any of them.</summary>
    internal bool IsGone => _isGone;

    internal void NoteGone() => _isGone = true;

    internal void Add() => Interlocked.Increment(ref _open);

    /// <summary>One of them has ended its last request. Returns whether it was the last one.</summary>
    internal bool RemoveAndSeeIfLast() => Interlocked.Decrement(ref _open) == 0;

    /// <summary>Counts a flush that failed.</summary>
    internal void NoteFailedFlush(IoError error)
    {
        if (error == IoError.NoSpace)
        {
            Interlocked.Increment(ref _fullFlushes);
        }
        else
        {
            Interlocked.Increment(ref _failedFlushes);
        }
    }

    /// <summary>The failures so far.</summary>
    internal FlushFailures Failures => new(Volatile.Read(ref _failedFlushes), Volatile.Read(ref _fullFlushes));
}

/// <summary>Counts of flushes of a device that failed.</summary>
/// <param name="Failed">Failed, but for want of room.</param>
/// <param name="Full">Failed for want of room.</param>
internal readonly record struct FlushFailures(int Failed, int Full)
{
    /// <summary>The error of a flush for which there are these failures, of which <paramref name="known"/> have been reported.</summary>
    internal IoError ErrorSince(FlushFailures known) => Failed != known.Failed ? IoError.Io : Full != known.Full ? IoError.NoSpace : IoError.None;
}
