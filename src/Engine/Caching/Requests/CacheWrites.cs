using TierSpaces.Engine.Formats;
using TierSpaces.Engine.Lanes;
using TierSpaces.Engine.Primitives;
using TierSpaces.Engine.Resiliency;

namespace TierSpaces.Engine.Caching;

// A write over a boundary between stripes of the backing store is cut at the first and the last one: whole stripes may pass the ring by. The rest waits for
// what is under way beside it, or in the ring for what comes.
//
// Invariants
//  1. A write holds the lock of its range until it is in the ring or on the backing store.
//  2. A write into the ring is acknowledged when its record is on every live copy.
//  3. A write goes on only when the rows of its range exist and are held.
//  4. A write that has waited begins only if its client is still there.

/// <summary>Writes of a virtual disk with a write cache.</summary>
internal sealed class CacheWrites(
    CacheContext cache, RangeLock locks, HeldRows rows, Admission admission, ServingRing ring, RingRetirement retirement, BackingWrites backingWrites,
    CacheFlusher flusher, StripeGathering gathering)
{
    private const int BlockSize = CacheRecord.BlockSize;

    private readonly ILane _lane = cache.Lane;
    private readonly IBackingStore _backing = cache.Backing;
    private readonly CacheStatus _status = cache.Status;
    private readonly WriteCacheCounters _counters = cache.Counters;
    private readonly int _stripe = cache.Backing.StripeSize;

    internal LaneTask<IoError> Write(long offset, IoBuffer source, WriteFlags flags) =>
        _stripe == 0 ? WriteOne(offset, source, flags, mayWait: false) : WriteStripes(offset, source, flags);

    private async LaneTask<IoError> WriteStripes(long offset, IoBuffer source, WriteFlags flags)
    {
        bool mayWait = gathering.Begin(offset, source.Length) && (flags & WriteFlags.ForceUnitAccess) == 0;
        int head = (int)Math.Min((_stripe - (offset % _stripe)) % _stripe, source.Length);
        int body = (source.Length - head) / _stripe * _stripe;
        int tail = source.Length - head - body;
        WaitGroup parts = WaitGroup.Rent();
        if (head > 0)
        {
            parts.Add(WriteOne(offset, source.Slice(0, head), flags, mayWait));
        }

        if (body > 0)
        {
            parts.Add(WriteOne(offset + head, source.Slice(head, body), flags, mayWait));
        }

        if (tail > 0)
        {
            parts.Add(WriteOne(offset + head + body, source.Slice(head + body, tail), flags, mayWait));
        }

        IoError error = await parts.Wait();
        gathering.End(source.Length);
        return error;
    }

    private async LaneTask<IoError> WriteOne(long offset, IoBuffer source, WriteFlags flags, bool mayWait)
    {
        _status.NoteWrite(_lane.RecentNs);
        gathering.BeginPart();
        long end = offset + source.Length;
        LaneTask<Nothing> turn = locks.Acquire(offset, end);
        bool hasWaited = !turn.IsCompleted;
        await turn;
        IoError error = IoError.None;
        if (!rows.Hold(offset, end))
        {
            flags |= WriteFlags.First;
            hasWaited = true;
            error = await rows.Reserve(offset, end);
        }

        error = error == IoError.None ? StoreClients.AfterWait(hasWaited, flags) : error;
        if (error == IoError.None)
        {
            hasWaited = mayWait && gathering.Wants(offset, source.Length);
            error = hasWaited ? await gathering.Join(offset, source) : IoError.TryAgain;
            error = error == IoError.TryAgain && StoreClients.AfterWait(hasWaited, flags) is not IoError.None and var ended ? ended : error;
            error = error == IoError.TryAgain ? await Place(offset, source, flags) : error;
        }

        rows.Unhold(offset, end);
        locks.Release(offset, end);
        gathering.EndPart();
        return error;
    }

    /// <summary>Appends a write to the ring, a large one in parts; TryAgain when there is no room any more or the ring takes nothing.</summary>
    internal async LaneTask<IoError> Append(long offset, IoBuffer source, WriteFlags flags)
    {
        CacheRing records = ring.Records!;
        IoError error = IoError.None;
        for (int at = 0; at < source.Length && error == IoError.None;)
        {
            int length = Math.Min(source.Length - at, records.PayloadMax * BlockSize);
            if (!records.HasRoom(length / BlockSize, 1))
            {
                return at == 0 ? IoError.TryAgain : await PlaceRest(offset + at, source.Slice(at, source.Length - at), flags);
            }

            if (records.Join(length / BlockSize, 1) is not { } group)
            {
                await records.GroupBegun.Wait();
                if (StoreClients.AfterWait(at == 0, flags) is not IoError.None and var ended)
                {
                    return ended;
                }

                continue;
            }

            group.Add((offset + at) / BlockSize, source.Slice(at, length));
            at += length;
            await records.Written(group);
            error = records.Fault;
        }

        if (error != IoError.None)
        {
            retirement.Start($"a record could not be written: {error}");
            return IoError.TryAgain;
        }

        _counters.NoteWrite(WriteReason.Cache, source.Length);
        return (flags & WriteFlags.ForceUnitAccess) != 0 ? await ring.FlushRing(records) : IoError.None;
    }

    /// <summary>Writes to the ring or to the backing store, and waits while neither may take the range.</summary>
    private async LaneTask<IoError> Place(long offset, IoBuffer source, WriteFlags flags)
    {
        bool isFirst = true;
        while (_backing.Fault == IoError.None)
        {
            WriteReason reason = admission.ReasonFor(offset, source.Length);
            if (reason == WriteReason.Cache)
            {
                IoError error = await Append(offset, source, flags);
                if (error != IoError.TryAgain)
                {
                    return error;
                }
            }
            else if (admission.MayPassBy(reason, offset, source.Length))
            {
                reason = reason == WriteReason.SsdResident && (flags & WriteFlags.First) != 0 ? WriteReason.SsdAllocated : reason;
                return backingWrites.NotePassed(await _backing.Write(offset, source, flags), reason, offset, source.Length);
            }
            else
            {
                _counters.NoteWaitOverlap(isFirst);
                await _status.WaitForSpace();
                isFirst = false;
                if (StoreClients.AfterWait(hasWaited: true, flags) is not IoError.None and var ended)
                {
                    return ended;
                }
            }
        }

        return _backing.Fault;
    }

    /// <summary>Writes the rest of a large write whose first part is in the ring, where there is no room for the next.</summary>
    private async LaneTask<IoError> PlaceRest(long offset, IoBuffer rest, WriteFlags flags)
    {
        IoError error = await Place(offset, rest, flags.WithoutClient());   // the write has begun
        return error == IoError.None && (flags & WriteFlags.ForceUnitAccess) != 0 ? await flusher.Flush() : error;
    }
}
