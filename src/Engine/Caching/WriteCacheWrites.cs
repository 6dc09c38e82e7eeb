using TierSpaces.Engine.Formats;
using TierSpaces.Engine.Primitives;

namespace TierSpaces.Engine.Caching;

public sealed partial class WriteCache
{
    private int _ranksVersion = -1;     // members as they were when the next was looked up
    private int _ownRank;
    private int _waiting;               // requests that wait for space: destaging goes on until there are none

    /// <inheritdoc/>
    public async LaneTask<IoError> Write(long offset, IoBuffer source, WriteFlags flags)
    {
        IoError error = Refusal(offset, source.Length);
        if (error != IoError.None)
        {
            return error;
        }

        LastWriteNs = _lane.RecentNs;
        long end = offset + source.Length;
        await _locks.Acquire(offset, end);
        error = Hold(offset, end) ? IoError.None : await ReserveRows(offset, end);
        if (error == IoError.None)
        {
            WriteReason reason = ReasonFor(offset, source.Length);
            if (MayPassBy(reason, offset, source.Length))
            {
                error = NotePassed(await _home.Write(offset, source, flags), reason, offset, source.Length);
            }
            else
            {
                error = reason == WriteReason.Cache && _home.Fault == IoError.None ? await Append(offset, source, flags) : IoError.TryAgain;
                error = error == IoError.TryAgain ? await Place(offset, source, flags) : error;
            }
        }

        Unhold(offset, end);
        _locks.Release(offset, end);
        return error;
    }

    /// <inheritdoc/>
    public LaneTask<IoError> Unmap(long offset, long length) => Zero(offset, length, WriteFlags.None, isUnmap: true);

    /// <inheritdoc/>
    public LaneTask<IoError> WriteZeroes(long offset, long length, WriteFlags flags) => Zero(offset, length, flags, isUnmap: false);

    private async LaneTask<IoError> Place(long offset, IoBuffer source, WriteFlags flags)
    {
        bool isFirst = true;
        while (_home.Fault == IoError.None)
        {
            WriteReason reason = ReasonFor(offset, source.Length);
            if (reason == WriteReason.Cache)
            {
                IoError error = await Append(offset, source, flags);
                if (error != IoError.TryAgain)
                {
                    return error;
                }
            }
            else if (MayPassBy(reason, offset, source.Length))
            {
                return NotePassed(await _home.Write(offset, source, flags), reason, offset, source.Length);
            }
            else
            {
                await WaitForSpace(isFirst);
                isFirst = false;
            }
        }

        return _home.Fault;
    }

    /// <summary>
    /// Whether a write that does not belong in the ring may go home now: the home takes writes, and the ring, which is not being given up,
    /// holds nothing of the range.
    /// </summary>
    private bool MayPassBy(WriteReason reason, long offset, int length) =>
        reason != WriteReason.Cache && _home.Fault == IoError.None && State != WriteCacheState.Retiring && !_index.HasAny(offset / BlockSize, length / BlockSize);

    /// <summary>Where a write should go. What overlaps the ring belongs there, however large it is.</summary>
    private WriteReason ReasonFor(long offset, int length)
    {
        if (State != WriteCacheState.Active || _isDraining)
        {
            return WriteReason.WriteThrough;
        }

        CacheRing ring = _ring!;
        int blocks = length / BlockSize;
        bool isResident = RankOfRows(offset, length) >= _ownRank;
        bool isLarge = blocks > Math.Min(LargestCached / BlockSize, ring.PayloadMax);
        bool hasRoom = ring.HasRoom(Math.Min(blocks, ring.PayloadMax), 1) && _index.HasRoom(blocks);
        if (!isResident && !isLarge)
        {
            return hasRoom ? WriteReason.Cache : WriteReason.BypassFull;
        }

        return hasRoom && _index.HasAny(offset / BlockSize, blocks) ? WriteReason.Cache
            : isResident ? WriteReason.SsdResident : WriteReason.BypassLarge;
    }

    /// <summary>A write has gone home, past the ring.</summary>
    private IoError NotePassed(IoError error, WriteReason reason, long offset, int length)
    {
        Counters.NoteWrite(reason, length);
        _homeWritten++;
        return NoteHome(error, offset, length);
    }

    /// <summary>Brings a write into the ring, a large one in parts; TryAgain when there is no room any more or the ring takes nothing.</summary>
    private async LaneTask<IoError> Append(long offset, IoBuffer source, WriteFlags flags)
    {
        CacheRing ring = _ring!;
        IoError error = IoError.None;
        for (int at = 0; at < source.Length && error == IoError.None;)
        {
            int length = Math.Min(source.Length - at, ring.PayloadMax * BlockSize);
            if (!ring.HasRoom(length / BlockSize, 1))
            {
                return at == 0 ? IoError.TryAgain : await PlaceRest(offset + at, source.Slice(at, source.Length - at), flags);
            }

            if (ring.Join(length / BlockSize, 1) is not { } group)
            {
                await ring.GroupBegun.Wait();
                continue;
            }

            group.Add((offset + at) / BlockSize, source.Slice(at, length));
            at += length;
            await ring.Written(group);
            error = ring.Fault;
        }

        if (error != IoError.None)
        {
            StartRetiring($"a record could not be written: {error}");
            return IoError.TryAgain;
        }

        Counters.NoteWrite(WriteReason.Cache, source.Length);
        return (flags & WriteFlags.ForceUnitAccess) != 0 ? await FlushRing(ring) : IoError.None;
    }

    /// <summary>The first part of a large write is in the ring, and there is no room for the next.</summary>
    private async LaneTask<IoError> PlaceRest(long offset, IoBuffer rest, WriteFlags flags)
    {
        IoError error = await Place(offset, rest, flags);
        return error == IoError.None && (flags & WriteFlags.ForceUnitAccess) != 0 ? await Flush() : error;
    }

    private async LaneTask<Nothing> WaitForSpace(bool isFirst)
    {
        Counters.WaitOverlap += isFirst ? 1 : 0;
        _waiting++;
        await NextFreed();
        _waiting--;
        return default;
    }

    private async LaneTask<IoError> Zero(long offset, long length, WriteFlags flags, bool isUnmap)
    {
        IoError error = RefusalOfRange(offset, length);
        if (error != IoError.None || length == 0)
        {
            return error;
        }

        LastWriteNs = _lane.RecentNs;
        await _locks.Acquire(offset, offset + length);
        bool keepsRoom = (flags & WriteFlags.NoHole) != 0;
        error = await ZeroCached(offset, length, keepsRoom);
        error = error == IoError.None ? await ZeroHome(offset, length, flags & ~WriteFlags.ForceUnitAccess, isUnmap) : error;
        NoteUnits(offset, error == IoError.None && !keepsRoom ? offset + length : offset);
        _locks.Release(offset, offset + length);
        return error == IoError.None && (flags & WriteFlags.ForceUnitAccess) != 0 ? await Flush() : error;
    }

    /// <summary>The home sees only the parts that the ring does not hold: it is told of units that were zeroed as a whole.</summary>
    private void NoteUnits(long offset, long end)
    {
        for (long unit = (offset + _home.UnitSize - 1) / _home.UnitSize; (unit + 1) * _home.UnitSize <= end; unit++)
        {
            _home.UnitUnmapped((int)unit);
        }
    }

    /// <summary>
    /// Blocks of the range that the ring holds get a record that says they are zero; waits for destaging when there is no room, and until a
    /// ring that is being given up is so.
    /// </summary>
    private async LaneTask<IoError> ZeroCached(long offset, long length, bool keepsRoom)
    {
        List<CachedBlock> cached = [];
        for (int wait = 0; _home.Fault == IoError.None; wait++)
        {
            cached.Clear();
            _index.Collect(offset / BlockSize, length / BlockSize, cached);
            cached.RemoveAll(block => block.Place.IsZero && !keepsRoom);
            if (cached.Count == 0 && State != WriteCacheState.Retiring)
            {
                return IoError.None;
            }

            if (State == WriteCacheState.Active && !_isDraining && _ring!.HasRoom(0, CacheRecord.MaxExtents))
            {
                IoError error = keepsRoom ? await AppendZeroData(cached) : await AppendZeros(cached);
                if (error != IoError.TryAgain)
                {
                    return error;
                }
            }

            await WaitForSpace(wait == 0);
        }

        return _home.Fault;
    }

    private async LaneTask<IoError> AppendZeros(List<CachedBlock> cached)
    {
        CacheRing ring = _ring!;
        for (int at = 0; at < cached.Count;)
        {
            if (!ring.HasRoom(0, 1))
            {
                return IoError.TryAgain;
            }

            if (ring.Join(0, 1) is not { } group)
            {
                await ring.GroupBegun.Wait();
                continue;
            }

            while (at < cached.Count && group.HasRoom(0, 1))
            {
                int count = (int)Math.Min(RunLength(cached, at), ring.Length);
                group.AddZeros(cached[at].Block, count);
                at += count;
            }

            await ring.Written(group);
            if (ring.Fault != IoError.None)
            {
                StartRetiring($"a record could not be written: {ring.Fault}");
                return IoError.TryAgain;
            }
        }

        return IoError.None;
    }

    /// <summary>Zeros that keep their room are data like any other.</summary>
    private async LaneTask<IoError> AppendZeroData(List<CachedBlock> cached)
    {
        int most = _ring!.PayloadMax;
        IoBuffer zeros = _lane.Buffers.Rent(most * BlockSize);
        zeros.Span.Clear();
        (long first, long end) = (cached[0].Block * BlockSize, (cached[^1].Block + 1) * BlockSize);
        IoError error = Hold(first, end) ? IoError.None : await ReserveRows(first, end);
        for (int at = 0; at < cached.Count && error == IoError.None;)
        {
            int count = Math.Min(RunLength(cached, at), most);
            error = await Append(cached[at].Block * BlockSize, zeros.Slice(0, count * BlockSize), WriteFlags.None);
            at += count;
        }

        Unhold(first, end);
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

    /// <summary>The parts of the range that the ring holds nothing of are zeroed at home.</summary>
    private async LaneTask<IoError> ZeroHome(long offset, long length, WriteFlags flags, bool isUnmap)
    {
        List<CachedBlock> cached = [];
        _index.Collect(offset / BlockSize, length / BlockSize, cached);
        IoError error = IoError.None;
        long at = offset;
        for (int i = 0; i <= cached.Count && error == IoError.None; i++)
        {
            long stop = i < cached.Count ? cached[i].Block * BlockSize : offset + length;
            if (stop > at)
            {
                error = NoteHome(isUnmap ? await _home.Unmap(at, stop - at) : await _home.WriteZeroes(at, stop - at, flags), at, stop - at);
                _homeWritten++;
            }

            at = stop + BlockSize;
        }

        return error;
    }

    /// <summary>Holds the rows of a range; whether all of them are there already.</summary>
    private bool Hold(long offset, long end)
    {
        bool all = true;
        for (int row = RowOf(offset); row <= RowOf(end - 1); row++)
        {
            HoldRow(row, 1);
            all &= _home.IsReserved(row);
        }

        return all;
    }

    private async LaneTask<IoError> ReserveRows(long offset, long end)
    {
        IoError error = IoError.None;
        for (int row = RowOf(offset); row <= RowOf(end - 1) && error == IoError.None; row++)
        {
            error = await _home.Reserve(row);
        }

        return error;
    }

    private void Unhold(long offset, long end)
    {
        for (int row = RowOf(offset); row <= RowOf(end - 1); row++)
        {
            HoldRow(row, -1);
        }
    }

    private void HoldRow(int row, int change)
    {
        if (row >= _heldBlocks.Length)
        {
            Array.Resize(ref _heldBlocks, Math.Max(row + 1, RowOf(_home.Length - 1) + 1));
        }

        _heldBlocks[row] += change;
        Invariant.That(_heldBlocks[row] >= 0, "A row of the home is held until its last block is forgotten, and no longer.");
    }

    private int RowOf(long offset) => (int)(offset / _home.UnitSize);

    /// <summary>Rank of the slowest disk under a range.</summary>
    private int RankOfRows(long offset, int length)
    {
        if (_ranksVersion != _stand.MembersVersion)
        {
            _ranksVersion = _stand.MembersVersion;
            _ownRank = OwnRank(_medium!);
        }

        int lowest = int.MaxValue;
        for (int row = RowOf(offset); row <= RowOf(offset + length - 1); row++)
        {
            lowest = Math.Min(lowest, _home.LowestRank(row, _options.RankOf));
        }

        return lowest;
    }

    /// <summary>A record stands on every live copy: its blocks are found there from now on.</summary>
    private void NoteRecord(CacheGroup group, long position, long end, uint checksum)
    {
        Counters.Records++;
        Counters.RecordBytes += (long)group.Blocks * BlockSize;
        Index(group.Header, group.Extents, position, end, checksum);
        _work.NotifyAll();   // destaging waits for the first record, and looks at time and marks from then on
    }

    private void Index(ReadOnlySpan<byte> header, int extents, long position, long end, uint checksum)
    {
        long payload = position + 1;
        for (int i = 0; i < extents; i++)
        {
            CacheExtent extent = CacheRecord.ExtentAt(header, i);
            bool isData = extent.Kind == CacheExtentKind.Data;
            _queue.AddExtent(extent, isData ? payload : position);
            for (int at = 0; at < extent.Count; at++)
            {
                if (_index.Set(extent.Block + at, isData ? new CachePlace(payload + at, isZero: false) : new CachePlace(position, isZero: true)))
                {
                    HoldRow(RowOf((extent.Block + at) * BlockSize), 1);
                }
            }

            payload += isData ? extent.Count : 0;
        }

        _queue.AddRecord(end, checksum, extents);
    }
}
