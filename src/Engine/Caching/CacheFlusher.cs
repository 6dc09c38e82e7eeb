using TierSpaces.Engine.Primitives;
using TierSpaces.Engine.Resiliency;

namespace TierSpaces.Engine.Caching;

// Invariants
//  1. A flush covers the writes that went into the ring and those that passed it by.
//  2. The ring of a cache that is being given up is not relied on: its data is durable only on the backing store.

/// <summary>Makes the writes of a virtual disk durable, wherever they went.</summary>
internal sealed class CacheFlusher(IBackingStore backing, BackingWrites writes, ServingRing ring, CacheStatus status)
{
    internal async LaneTask<IoError> Flush()
    {
        while (status.State == WriteCacheState.Retiring && backing.Fault == IoError.None)
        {
            await status.NextFreed();
        }

        long passed = writes.Passed;
        IoError error = backing.Fault;
        if (error == IoError.None && !writes.IsFlushed(passed))
        {
            error = await writes.FlushBacking();
        }

        error = error == IoError.None && ring.Records is { } records ? await ring.FlushRing(records) : error;
        return error == IoError.None ? backing.Fault : error;
    }
}
