using TierSpaces.Engine.Formats;
using TierSpaces.Engine.Lanes;
using TierSpaces.Engine.Primitives;
using TierSpaces.Engine.Resiliency;

namespace TierSpaces.Engine.Caching;

// An unmap or zeroing of a range:
//
//  1. Blocks that the ring holds get a record that says they are zero; zeros that keep their room are data like any other.
//  2. The other parts are unmapped or zeroed on the backing store.
//  3. The backing store, which sees only the parts, learns which units were unmapped as a whole.
//
// Invariants
//  1. The lock of the range is held from before 1 until after 3.
//  2. While a ring that holds blocks of the range is being given up, nothing goes to the backing store.

/// <summary>Unmaps and zeroings of a virtual disk with a write cache.</summary>
internal sealed class CacheZeroes(
    CacheContext cache, RangeLock locks, HeldRows rows, CacheIndex index, ServingRing ring, RingRetirement retirement, CacheWrites writes,
    BackingWrites backingWrites, CacheFlusher flusher)
{
    private const int BlockSize = CacheRecord.BlockSize;

    private readonly ILane _lane = cache.Lane;
    private readonly IBackingStore _backing = cache.Backing;
    private readonly CacheStatus _status = cache.Status;
    private readonly WriteCacheCounters _counters = cache.Counters;

    internal async LaneTask<IoError> Zero(long offset, long length, WriteFlags flags, bool isUnmap)
    {
        _status.NoteWrite(_lane.RecentNs);
        LaneTask<Nothing> turn = locks.Acquire(offset, offset + length);
        bool hasWaited = !turn.IsCompleted;
        await turn;
        bool keepsRoom = (flags & WriteFlags.NoHole) != 0;
        IoError error = StoreClients.AfterWait(hasWaited, flags);
        bool isCached = index.HasAny(offset / BlockSize, length / BlockSize);
        error = error == IoError.None ? await ZeroCached(offset, length, flags) : error;
        flags = isCached ? flags.WithoutClient() : flags;   // it has begun
        error = error == IoError.None ? await ZeroBacking(offset, length, flags & ~WriteFlags.ForceUnitAccess, isUnmap) : error;
        NoteUnits(offset, error == IoError.None && !keepsRoom ? offset + length : offset);
        locks.Release(offset, offset + length);
        return error == IoError.None && (flags & WriteFlags.ForceUnitAccess) != 0 ? await flusher.Flush() : error;
    }

    private void NoteUnits(long offset, long end)
    {
        for (long unit = (offset + _backing.UnitSize - 1) / _backing.UnitSize; (unit + 1) * _backing.UnitSize <= end; unit++)
        {
            _backing.UnitUnmapped((int)unit);
        }
    }

    /// <summary>Does step 1. Waits for destaging when there is no room, and until a ring that is being given up is so.</summary>
    private async LaneTask<IoError> ZeroCached(long offset, long length, WriteFlags flags)
    {
        bool keepsRoom = (flags & WriteFlags.NoHole) != 0;
        bool hasBegun = false;
        List<CachedBlock> cached = [];
        for (int wait = 0; _backing.Fault == IoError.None; wait++)
        {
            cached.Clear();
            index.Collect(offset / BlockSize, length / BlockSize, cached);
            cached.RemoveAll(block => block.Place.IsZero && !keepsRoom);
            if (cached.Count == 0 && _status.State != WriteCacheState.Retiring)
            {
                return IoError.None;
            }

            if (_status.TakesWrites && ring.Records!.HasRoom(0, CacheRecord.MaxExtents))
            {
                hasBegun = true;
                IoError error = keepsRoom ? await AppendZeroData(cached) : await AppendZeros(cached);
                if (error != IoError.TryAgain)
                {
                    return error;
                }
            }

            _counters.NoteWaitOverlap(wait == 0);
            await _status.WaitForSpace();
            if (StoreClients.AfterWait(!hasBegun, flags) is not IoError.None and var ended)
            {
                return ended;
            }
        }

        return _backing.Fault;
    }

    private async LaneTask<IoError> AppendZeros(List<CachedBlock> cached)
    {
        CacheRing records = ring.Records!;
        for (int at = 0; at < cached.Count;)
        {
            if (!records.HasRoom(0, 1))
            {
                return IoError.TryAgain;
            }

            if (records.Join(0, 1) is not { } group)
            {
                await records.GroupBegun.Wait();
                continue;
            }

            while (at < cached.Count && group.HasRoom(0, 1))
            {
                int count = (int)Math.Min(RunLength(cached, at), records.Length);
                group.AddZeros(cached[at].Block, count);
                at += count;
            }

            await records.Written(group);
            if (records.Fault != IoError.None)
            {
                retirement.Start($"a record could not be written: {records.Fault}");
                return IoError.TryAgain;
            }
        }

        return IoError.None;
    }

    private async LaneTask<IoError> AppendZeroData(List<CachedBlock> cached)
    {
        int most = ring.Records!.PayloadMax;
        IoBuffer zeros = _lane.Buffers.Rent(most * BlockSize);
        zeros.Span.Clear();
        (long first, long end) = (cached[0].Block * BlockSize, (cached[^1].Block + 1) * BlockSize);
        IoError error = rows.Hold(first, end) ? IoError.None : await rows.Reserve(first, end);
        for (int at = 0; at < cached.Count && error == IoError.None;)
        {
            int count = Math.Min(RunLength(cached, at), most);
            error = await writes.Append(cached[at].Block * BlockSize, zeros.Slice(0, count * BlockSize), WriteFlags.None);
            at += count;
        }

        rows.Unhold(first, end);
        _lane.Buffers.Return(zeros);
        return error;
    }

    private static int RunLength(List<CachedBlock> cached, int at)
    {
        int end = at + 1;
        while (end < cached.Count && cached[end].Block == cached[end - 1].Block + 1)
        {
            end++;
        }

        return end - at;
    }

    private async LaneTask<IoError> ZeroBacking(long offset, long length, WriteFlags flags, bool isUnmap)
    {
        List<CachedBlock> cached = [];
        index.Collect(offset / BlockSize, length / BlockSize, cached);
        IoError error = IoError.None;
        long at = offset;
        for (int i = 0; i <= cached.Count && error == IoError.None; i++)
        {
            long stop = i < cached.Count ? cached[i].Block * BlockSize : offset + length;
            if (stop > at)
            {
                error = isUnmap ? await _backing.Unmap(at, stop - at, flags) : await _backing.WriteZeroes(at, stop - at, flags);
                error = backingWrites.NoteZeroed(error, at, stop - at);
            }

            at = stop + BlockSize;
        }

        return error;
    }
}
