using TierSpaces.Engine.Primitives;
using TierSpaces.Engine.Resiliency;

namespace TierSpaces.Engine.Caching;

// Invariants
//  1. A flush covers the writes that went into the ring and those that passed it by.
//  2. The ring of a cache that is being given up is not relied on: its data is durable only on the backing store.

/// <summary>Makes the writes of a virtual disk durable, wherever they went.</summary>
internal sealed class CacheFlusher(CacheContext cache, BackingWrites writes, ServingRing ring)
{
    private readonly IBackingStore _backing = cache.Backing;
    private readonly CacheStatus _status = cache.Status;

    internal async LaneTask<IoError> Flush()
    {
        while (_status.State == WriteCacheState.Retiring && _backing.Fault == IoError.None)
        {
            await _status.NextFreed();
        }

        long passed = writes.Passed;
        IoError error = _backing.Fault;
        if (error == IoError.None && !writes.IsFlushed(passed))
        {
            error = await writes.FlushBacking();
        }

        error = error == IoError.None && ring.Records is { } records ? await ring.FlushRing(records) : error;
        return error == IoError.None ? _backing.Fault : error;
    }
}
