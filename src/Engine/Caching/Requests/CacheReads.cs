using TierSpaces.Engine.Formats;
using TierSpaces.Engine.Primitives;
using TierSpaces.Engine.Resiliency;

namespace TierSpaces.Engine.Caching;

// A read takes cached blocks from the ring and the rest from the backing store.
//
// Invariants
//  1. Data that the index names when a read begins stays readable until that read ends.

/// <summary>Reads of a virtual disk with a write cache.</summary>
internal sealed class CacheReads(CacheContext cache, CacheIndex index, ServingRing ring, RingReaders readers)
{
    private const int BlockSize = CacheRecord.BlockSize;

    private readonly IBackingStore _backing = cache.Backing;
    private readonly WriteCacheCounters _counters = cache.Counters;

    internal LaneTask<IoError> Read(long offset, IoBuffer target)
    {
        if (index.Count == 0)
        {
            _counters.NoteMiss(target.Length);
            return _backing.Read(offset, target);
        }

        int length = RunAt(offset / BlockSize, target.Length / BlockSize, out CachePlace place) * BlockSize;
        if (length == target.Length && place.IsNone)
        {
            _counters.NoteMiss(length);
            return _backing.Read(offset, target);
        }

        return ReadRuns(offset, target);
    }

    /// <summary>Appends the allocation status of a range: of cached blocks from the ring, of the others from the backing store.</summary>
    internal async LaneTask<IoError> Status(long offset, long length, List<StoreExtent> extents)
    {
        List<CachedBlock> cached = [];
        index.Collect(offset / BlockSize, length / BlockSize, cached);   // first: what is destaged meanwhile is data all the same
        List<StoreExtent> below = [];
        IoError error = await _backing.Status(offset, length, below);
        int next = 0;
        long at = offset;
        foreach (StoreExtent extent in below)
        {
            for (long end = at + extent.Length; at < end;)
            {
                bool isCached = next < cached.Count && cached[next].Block * BlockSize == at;
                long stop = isCached ? at + BlockSize : next < cached.Count ? Math.Min(end, cached[next].Block * BlockSize) : end;
                StoreExtent.Append(extents, stop - at, !isCached ? extent.State : cached[next].Place.IsZero ? ExtentState.Zero : ExtentState.Data);
                next += isCached ? 1 : 0;
                at = stop;
            }
        }

        return error;
    }

    private async LaneTask<IoError> ReadRuns(long offset, IoBuffer target)
    {
        int period = readers.Enter();
        WaitGroup group = WaitGroup.Rent();
        for (int at = 0; at < target.Length;)
        {
            int length = RunAt((offset + at) / BlockSize, (target.Length - at) / BlockSize, out CachePlace place) * BlockSize;
            IoBuffer part = target.Slice(at, length).ForbidKeeping();
            if (place.IsNone)
            {
                _counters.NoteMiss(length);
                group.Add(_backing.Read(offset + at, part));
            }
            else
            {
                _counters.NoteHit(length);
                ReadCached(place, part, group);
            }

            at += length;
        }

        IoError error = await group.Wait();
        readers.Leave(period);
        return error;
    }

    private void ReadCached(CachePlace place, IoBuffer part, WaitGroup group)
    {
        if (place.IsZero)
        {
            part.Span.Clear();
        }
        else
        {
            group.Add(ring.Records!.Read(place.Position, part, _counters));
        }
    }

    /// <summary>Returns how many blocks from here on are alike: on the backing store, zero, or one after another in a record.</summary>
    private int RunAt(long block, int most, out CachePlace place)
    {
        place = index.Find(block);
        int count = 1;
        for (CachePlace next; count < most; count++)
        {
            next = index.Find(block + count);
            bool follows = place.IsNone ? next.IsNone
                : place.IsZero ? !next.IsNone && next.IsZero
                : !next.IsNone && !next.IsZero && next.Position == place.Position + count;
            if (!follows)
            {
                break;
            }
        }

        return count;
    }
}
