using TierSpaces.Engine.Formats;
using TierSpaces.Engine.Primitives;

namespace TierSpaces.Engine.Resiliency;

// Makes a copy of a ring whole, in its own places or in others:
//
//  1. From here on the places take every write too.
//  2. The ring is copied in steps; each step holds the lock.
//  3. Under one hold of the lock: flush, record that the copy is whole (or has moved), take it into service.
//
// Invariants
//  1. While a copy is being made whole it takes every write beside the good ones, and is not read; it is flushed before it counts.
//  2. Writes of the owner and steps of the copying do not overlap.
//  3. A copy that missed a write meanwhile is not taken into service, or counts as dropped when it is.

/// <summary>Rebuilds and moves copies of a ring, one at a time.</summary>
internal sealed class RingRebuild(SpaceMembers members, RingCopies copies, LaneMutex mutex, string name, int blocks)
{
    private SlabPlace[]? _joining;   // places of the copy being made whole
    private bool _hasFailed;         // it missed a write, or its disk has left
    private bool _isSuspended;       // no copy is made whole or moved

    /// <summary>Ends a rebuild that runs, and lets none begin until <see cref="Resume"/>.</summary>
    internal async LaneTask<Nothing> Suspend()
    {
        await mutex.Lock();
        _isSuspended = true;
        mutex.Unlock();
        return default;
    }

    /// <summary>Lets copies be made whole again.</summary>
    internal void Resume() => _isSuspended = false;

    /// <summary>A disk has left the view.</summary>
    internal void OnDiskLost(int disk)
    {
        if (_joining?[0].Disk == disk)
        {
            _hasFailed = true;
        }
    }

    /// <summary>Writes to the copy that is being made whole too, if there is one. For <see cref="NoteWritten"/>.</summary>
    internal LaneTask<IoError> WriteJoining(long offset, IoBuffer source) =>
        _joining is null ? LaneTask.FromResult(IoError.None) : copies.WriteTo(_joining, offset, source);

    /// <summary>Takes the outcome of <see cref="WriteJoining"/>.</summary>
    internal void NoteWritten(IoError outcome)
    {
        if (outcome != IoError.None)
        {
            _hasFailed = true;
        }
    }

    /// <summary>Makes a copy whole, a step of <paramref name="buffer"/> after the other; <paramref name="commit"/> records it durably.</summary>
    internal async LaneTask<IoError> Rebuild(int copy, SlabPlace[] places, Func<LaneTask<IoError>> commit, Func<int, LaneTask<bool>> pace, IoBuffer buffer)
    {
        _joining = places;
        _hasFailed = false;
        IoError error = IoError.None;
        for (long at = 0; at < (long)blocks * JournalBlock.Size && error == IoError.None; at += buffer.Length)
        {
            IoBuffer part = buffer.Slice(0, (int)Math.Min(buffer.Length, ((long)blocks * JournalBlock.Size) - at));
            await mutex.Lock();
            error = _isSuspended ? IoError.Cancelled : await CopyStep(places, at, part);
            mutex.Unlock();
            error = error == IoError.None && !await pace(part.Length) ? IoError.Cancelled : error;
        }

        await mutex.Lock();
        if (error == IoError.None && (!await members.FlushDisk(places[0].Disk) || !members.IsLive(places[0].Disk)))
        {
            await members.Evict(places[0].Disk, IoError.Io, copies.SurvivesWithout(places[0].Disk), name);
            error = IoError.Io;
        }

        error = error == IoError.None && _hasFailed ? IoError.Io : error;
        error = error == IoError.None && _isSuspended ? IoError.Cancelled : error;
        error = error == IoError.None ? await commit() : error;
        if (error == IoError.None)
        {
            copies.Replace(copy, places, isDropped: _hasFailed);
        }

        _joining = null;
        mutex.Unlock();
        return error;
    }

    private async LaneTask<IoError> CopyStep(SlabPlace[] places, long at, IoBuffer part)
    {
        IoError error = await CopyIo.ReadAny(copies, at, except: -1, part);
        if (error != IoError.None || _hasFailed)
        {
            return IoError.Io;
        }

        error = await copies.WriteTo(places, at, part);
        if (error is not IoError.None and not IoError.NoSpace)
        {
            await members.Evict(places[0].Disk, error, copies.SurvivesWithout(places[0].Disk), name);
        }

        return error;
    }
}
