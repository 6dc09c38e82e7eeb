using TierSpaces.Engine.Formats;
using TierSpaces.Engine.Lanes;
using TierSpaces.Engine.Primitives;

namespace TierSpaces.Engine.Tiering;

// Requests are cut at slices. The map says in which slot of which tier each slice is.
//
// Invariants
//  1. A request on a slice takes no lock there: a task that changes where a slice is waits until the requests that began before have ended.
//  2. A write waits until its slice has a place that stays. A read of a slice without one gives zeros.
//  3. A write that waits holds its range in the order from when it came until it has its place in the store below, and a zeroing until it has ended. While
//     any range is held, every write asks for its own: so changes of one block reach the store below in the order in which they came.
//  4. A change that has waited begins only if its client is still there.

/// <summary>Cuts requests to a tiered store into slices and executes the parts.</summary>
internal sealed class TieredRequests(
    TieredContext store, MovingSlices moves, GracePeriods periods, SliceAllocator allocator, SlicesAhead ahead, SliceFreer freer)
{
    private readonly ILane _lane = store.Lane;
    private readonly TierSet _tiers = store.Tiers;
    private readonly SliceTable _table = store.Table;
    private readonly SliceIo _io = store.Io;
    private readonly SliceGrid _grid = store.Tiers.Grid;
    private readonly RangeLock _order = new();

    internal LaneTask<IoError> Read(long offset, IoBuffer target)
    {
        int slice = _grid.IndexOf(offset);
        return _grid.IndexOf(offset + target.Length - 1) == slice ? ReadSlice(slice, offset, target) : ReadMany(offset, target);
    }

    internal LaneTask<IoError> Write(long offset, IoBuffer source, WriteFlags flags)
    {
        int slice = _grid.IndexOf(offset);
        return _grid.IndexOf(offset + source.Length - 1) == slice ? WriteSlice(slice, offset, source, flags) : WriteMany(offset, source, flags);
    }

    /// <summary>Zeroes or unmaps a range: parts of slices where they are, whole slices in batches, which leave the map.</summary>
    internal async LaneTask<IoError> Zero(long offset, long length, WriteFlags flags, bool isUnmap)
    {
        if (length == 0)
        {
            return IoError.None;
        }

        LaneTask<Nothing> turn = _order.Acquire(offset, offset + length);
        bool hasWaited = !turn.IsCompleted;
        await turn;
        IoError error = StoreClients.AfterWait(hasWaited, flags);
        error = error == IoError.None ? await ZeroInOrder(offset, length, flags, isUnmap) : error;
        _order.Release(offset, offset + length);
        return error;
    }

    private async LaneTask<IoError> ZeroInOrder(long offset, long length, WriteFlags flags, bool isUnmap)
    {
        IoError error = IoError.None;
        List<int> whole = [];
        for (long at = offset; at < offset + length && error == IoError.None;)
        {
            int slice = _grid.IndexOf(at);
            long end = Math.Min(_grid.EndOf(slice), offset + length);
            if (end - at == _grid.Size && (flags & WriteFlags.NoHole) == 0 && freer.CanFree(slice))
            {
                whole.Add(slice);
            }
            else
            {
                error = await ZeroPart(slice, at, end - at, flags, isUnmap);
                freer.NoteZeroed(slice, end - at, flags);
            }

            if (whole.Count == SliceFreer.AtOnce)
            {
                error = error == IoError.None ? await Free(whole) : error;
                whole.Clear();
            }

            at = end;
        }

        return error == IoError.None && whole.Count > 0 ? await Free(whole) : error;
    }

    internal async LaneTask<IoError> Poison(long offset, long length)
    {
        IoError error = IoError.None;
        for (long at = offset; at < offset + length && error == IoError.None;)
        {
            int slice = _grid.IndexOf(at);
            long end = Math.Min(_grid.EndOf(slice), offset + length);
            error = await allocator.Reserve(slice);
            error = error == IoError.None ? await PoisonSlice(slice, at, end - at) : error;
            at = end;
        }

        return error;
    }

    internal async LaneTask<IoError> Status(long offset, long length, List<StoreExtent> extents)
    {
        IoError error = IoError.None;
        for (long at = offset; at < offset + length && error == IoError.None;)
        {
            int slice = _grid.IndexOf(at);
            long end = Math.Min(_grid.EndOf(slice), offset + length);
            SliceEntry entry = _table[slice];
            if (!entry.IsMapped || ahead.Contains(slice))
            {
                StoreExtent.Append(extents, end - at, ExtentState.Zero | ExtentState.Hole);
            }
            else
            {
                List<StoreExtent> below = [];
                int period = periods.Enter();
                error = await _tiers.SpaceOf(entry).Status(_tiers.AddressOf(entry, at), end - at, below);
                periods.Leave(period);
                below.ForEach(extent => StoreExtent.Append(extents, extent.Length, extent.State));
            }

            at = end;
        }

        return error;
    }

    private async LaneTask<IoError> ReadMany(long offset, IoBuffer target)
    {
        WaitGroup group = WaitGroup.Rent();
        for (int at = 0; at < target.Length;)
        {
            int length = _grid.LengthIn(offset + at, target.Length - at);
            group.Add(ReadSlice(_grid.IndexOf(offset + at), offset + at, target.Slice(at, length)));
            at += length;
        }

        return await group.Wait();
    }

    private async LaneTask<IoError> WriteMany(long offset, IoBuffer source, WriteFlags flags)
    {
        WaitGroup group = WaitGroup.Rent();
        for (int at = 0; at < source.Length;)
        {
            int length = _grid.LengthIn(offset + at, source.Length - at);
            group.Add(WriteSlice(_grid.IndexOf(offset + at), offset + at, source.Slice(at, length), flags));
            at += length;
        }

        return await group.Wait();
    }

    private async LaneTask<IoError> ReadSlice(int slice, long offset, IoBuffer target)
    {
        SliceEntry entry = _table[slice];
        if (!entry.IsMapped || ahead.Contains(slice))
        {
            target.Span.Clear();
            return IoError.None;
        }

        StorageTierStore tier = _tiers[entry.Tier];
        bool isClients = TierCounters.IsClients(slice, WriteFlags.None);
        long startNs = Begin(tier, isClients);
        int period = periods.Enter();
        IoError error = await tier.Space.Read(_tiers.AddressOf(entry, offset), target);
        periods.Leave(period);
        if (isClients)
        {
            tier.Counters.EndRead(target.Length, _lane.RecentNs - startNs, error != IoError.None);
        }

        return error;
    }

    private async LaneTask<IoError> WriteSlice(int slice, long offset, IoBuffer source, WriteFlags flags)
    {
        IoError error = IoError.None;
        bool isFirst = !_table[slice].IsMapped;
        bool isInOrder = _order.Held > 0 || !allocator.IsSettled(slice);
        if (isInOrder)
        {
            error = await AwaitPlace(slice, offset, offset + source.Length, flags);
            if (error != IoError.None)
            {
                return error;
            }
        }

        SliceEntry entry = _table[slice];
        StorageTierStore tier = _tiers[entry.Tier];
        if (ahead.Remove(slice))
        {
            isFirst = true;
            tier.Counters.NoteAllocated(slice);
            allocator.LookAhead(slice);
        }

        bool isClients = TierCounters.IsClients(slice, flags);
        long startNs = Begin(tier, isClients);
        int period = periods.Enter();
        LaneTask<IoError> write = _io.Write(entry, moves.Of(slice), offset, source, flags);
        if (isInOrder)
        {
            _order.Release(offset, offset + source.Length);   // the write has its place in the store below
        }

        error = await write;
        periods.Leave(period);
        if (isClients)
        {
            tier.Counters.EndWrite(source.Length, isFirst || (flags & WriteFlags.First) != 0, _lane.RecentNs - startNs, error != IoError.None);
        }
        else
        {
            tier.Counters.NoteDestaged(slice, source.Length);
        }

        return error;
    }

    /// <summary>Waits until a slice has a place for a write, which holds its range in the order then, unless the result is an error.</summary>
    private async LaneTask<IoError> AwaitPlace(int slice, long offset, long end, WriteFlags flags)
    {
        LaneTask<Nothing> turn = _order.Acquire(offset, end);
        bool hasWaited = !turn.IsCompleted;
        await turn;
        IoError error = IoError.None;
        while (error == IoError.None && !allocator.IsSettled(slice))
        {
            hasWaited = true;
            error = await allocator.Settle(slice);
        }

        error = error == IoError.None ? StoreClients.AfterWait(hasWaited, flags) : error;
        if (error != IoError.None)
        {
            _order.Release(offset, end);
        }

        return error;
    }

    /// <summary>A request begins on a tier. Returns its time.</summary>
    private long Begin(StorageTierStore tier, bool isClients)
    {
        if (isClients)
        {
            tier.Counters.Io.Begin();
        }

        return _lane.RecentNs;
    }

    private async LaneTask<IoError> ZeroPart(int slice, long offset, long length, WriteFlags flags, bool isUnmap)
    {
        if (ahead.Contains(slice) && (flags & WriteFlags.NoHole) == 0)
        {
            return IoError.None;   // zeros already
        }

        while (!allocator.IsSettled(slice))
        {
            if ((flags & WriteFlags.NoHole) == 0 && moves.Of(slice) is null)
            {
                return IoError.None;   // nowhere: zeros already
            }

            IoError settled = await allocator.Settle(slice);
            settled = settled == IoError.None ? StoreClients.AfterWait(hasWaited: true, flags) : settled;
            if (settled != IoError.None)
            {
                return settled;
            }
        }

        if (ahead.Remove(slice))
        {
            await allocator.Confirm([slice]);   // it keeps its room, whatever happens
            if (!allocator.IsSettled(slice))
            {
                return await ZeroPart(slice, offset, length, flags, isUnmap);   // it has left its place meanwhile
            }
        }

        SliceEntry entry = _table[slice];
        int period = periods.Enter();
        IoError error = await _io.Zero(entry, moves.Of(slice), offset, length, flags, isUnmap);
        periods.Leave(period);
        return error;
    }

    private async LaneTask<IoError> PoisonSlice(int slice, long offset, long length)
    {
        SliceEntry entry = _table[slice];
        int period = periods.Enter();
        IoError error = await _io.Poison(entry, moves.Of(slice), offset, length);
        periods.Leave(period);
        return error;
    }

    /// <summary>Frees whole slices; one that began to move or that the write cache came to hold meanwhile is zeroed where it is.</summary>
    private async LaneTask<IoError> Free(List<int> slices)
    {
        List<int> going = slices.FindAll(freer.CanFree);
        List<int> staying = slices.FindAll(slice => !going.Contains(slice));
        IoError error = await freer.Free(going);
        for (int i = 0; i < staying.Count && error == IoError.None; i++)
        {
            error = await ZeroPart(staying[i], _grid.StartOf(staying[i]), _grid.Size, WriteFlags.None, isUnmap: true);
            freer.NoteZeroed(staying[i], _grid.Size, WriteFlags.None);
        }

        return error;
    }
}
