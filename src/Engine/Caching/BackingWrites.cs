using TierSpaces.Engine.Primitives;
using TierSpaces.Engine.Resiliency;

namespace TierSpaces.Engine.Caching;

// Invariants
//  1. Flushed ≤ written, for writes past the ring and for runs of destaging: a flush covers what had ended when it was submitted.

/// <summary>Counts the writes to the backing store since it was opened, past the ring and by destaging, and how many of them a flush has covered.</summary>
internal sealed class BackingWrites(CacheContext cache, CacheLosses losses)
{
    private readonly IBackingStore _backing = cache.Backing;
    private readonly WriteCacheCounters _counters = cache.Counters;
    private long _passed;          // writes, unmaps and zeroings past the ring
    private long _passedFlushed;   // how many of them are durable
    private long _runs;            // runs that destaging has written
    private long _runsFlushed;     // how many of them are durable

    /// <summary>Number of requests past the ring so far.</summary>
    internal long Passed => _passed;

    /// <summary>Whether every run of destaging is durable on the backing store.</summary>
    internal bool AreRunsFlushed => _runsFlushed == _runs;

    /// <summary>Whether so many requests past the ring are durable.</summary>
    internal bool IsFlushed(long passed) => _passedFlushed >= passed;

    /// <summary>Takes the outcome of a write past the ring, and returns it.</summary>
    internal IoError NotePassed(IoError outcome, WriteReason reason, long offset, int length)
    {
        _counters.NoteWrite(reason, length);
        _passed++;
        return losses.NoteWritten(outcome, offset, length);
    }

    /// <summary>Takes the outcome of an unmap or zeroing past the ring, and returns it.</summary>
    internal IoError NoteZeroed(IoError outcome, long offset, long length)
    {
        _passed++;
        return losses.NoteWritten(outcome, offset, length);
    }

    /// <summary>A run of destaging has ended.</summary>
    internal void NoteRun() => _runs++;

    /// <summary>Flushes the backing store and counts the requests and runs before it as durable.</summary>
    internal async LaneTask<IoError> FlushBacking()
    {
        (long passed, long runs) = (_passed, _runs);
        IoError error = await _backing.Flush();
        _runsFlushed = error == IoError.None ? Math.Max(_runsFlushed, runs) : _runsFlushed;
        _passedFlushed = error == IoError.None ? Math.Max(_passedFlushed, passed) : _passedFlushed;
        return error;
    }
}
