using TierSpaces.Engine.Primitives;
using TierSpaces.Engine.Resiliency.Layouts;

namespace TierSpaces.Engine.Resiliency;

// Requests of a space, as far as all layouts have them in common.
//
// A request is cut into pieces, each in one row, one group and one dirty region; pieces run side by side. Strips of one column that follow each other on
// their disk are one piece (StripRuns), the memory of which is striped. A change locks its range before it waits for anything. So changes of one block are
// carried out in the order in which they came, and positions never see them in different orders. A read takes no lock, and reads again
// under the lock when its data does not match.
//
// A zeroing or unmap asks for the locks of all of its range when it comes, and gives them back row by row. Nothing that a change waits for under its lock
// (a row, a resync, a flush, a mark, room in the log) takes a range lock.
//
// Invariants
//  1. A write finds its range locked, its row ready, its region resynced and its region marked dirty, in this order.
//  2. Nothing is answered from a region that is unresolved.
//  3. A request is counted as a user of its row while the engine works on it, and waits for no lock of that row meanwhile.
//  4. A request that failed on the members as they were when it began is made again if a disk has left or joined since and the members that are there now
//     can serve it: it fails only when they cannot.
//  5. A request asks for all of its locks before it waits for the first of them: no two requests wait for each other.
//  6. A change that has waited begins only if its client is still there.

/// <summary>Cuts requests into pieces and hands them to the engine of the layout.</summary>
internal sealed class SpaceRequests(
    SpaceContext space, SpaceLog log, ChangedEntries changes, FoundWrites found, SpaceFlusher flusher, RegionMap regions,
    LackedBlocks lacks, RowMaker rowMaker, SpaceTrims trims, ILayoutEngine engine)
{
    private const int BlockSize = SpaceShape.BlockSize;

    private readonly SpaceStatus _status = space.Status;
    private readonly SpaceIoCounters _counters = space.Counters.Io;
    private readonly ILayout _layout = space.Layout;
    private readonly RowTable _rows = space.Rows;
    private readonly SpaceMembers _members = space.Members;
    private readonly RangeLock _locks = space.Locks;
    private readonly LostBlocks _lost = space.Lost;
    private readonly BufferPool _buffers = space.Lane.Buffers;
    private readonly bool _hasChecksums = space.Shape.Checksums;

    internal LaneTask<IoError> Read(long offset, IoBuffer target)
    {
        if (RequestError(offset, target.Length) is not IoError.None and var rejected)
        {
            return LaneTask.FromResult(rejected);
        }

        StripPiece piece = _layout.First(offset, target.Length);
        return piece.Length == target.Length ? ReadPiece(piece, target) : ReadMany(offset, target);
    }

    internal LaneTask<IoError> Write(long offset, IoBuffer source, WriteFlags flags)
    {
        if (RequestError(offset, source.Length) is not IoError.None and var rejected)
        {
            return LaneTask.FromResult(rejected);
        }

        if ((flags & WriteFlags.ForceUnitAccess) != 0)
        {
            return WriteThrough(offset, source, flags);
        }

        StripPiece piece = _layout.First(offset, source.Length);
        return piece.Length == source.Length ? WritePiece(piece, source, flags) : WriteMany(offset, source, flags);
    }

    internal async LaneTask<IoError> WriteZeroes(long offset, long length, WriteFlags flags)
    {
        if (RangeError(offset, length) is var rejected && (rejected != IoError.None || length == 0))
        {
            return rejected;
        }

        IoError error = _hasChecksums ? await _members.OrNoSpace(ZeroEntries(offset, length, flags)) : await WriteZeros(offset, length, flags);
        return error == IoError.None && (flags & WriteFlags.ForceUnitAccess) != 0 ? await flusher.Flush() : error;
    }

    internal async LaneTask<IoError> Status(long offset, long length, List<StoreExtent> extents)
    {
        IoError error = RangeError(offset, length);
        for (long at = offset; at < offset + length && error == IoError.None;)
        {
            StripPiece piece = _layout.First(at, offset + length - at);
            if (_rows[piece.Row] is not { IsInitialized: true } row)
            {
                long rowEnd = Math.Min((piece.Row + 1) * _layout.RowSize, offset + length);
                StoreExtent.Append(extents, rowEnd - at, ExtentState.Zero | (_rows[piece.Row] is null ? ExtentState.Hole : ExtentState.Data));
                at = rowEnd;
                continue;
            }

            int generation = row.Enter();
            if (found.HasAny(piece))   // else a region need not be resynced for this: that changes no block from written to never-written or back
            {
                error = await Resolve(row, row.RegionOf(piece.Column, piece.SlabOffset), piece);
            }

            error = error == IoError.None ? await engine.Status(row, piece, extents) : error;
            row.Leave(generation);
            at += piece.Length;
        }

        return error;
    }

    internal async LaneTask<IoError> Poison(long offset, long length)
    {
        IoError error = _hasChecksums ? RequestError(offset, length) : IoError.NotSupported;
        for (long at = offset; at < offset + length && error == IoError.None;)
        {
            StripPiece piece = _layout.First(at, offset + length - at);
            error = await PoisonPiece(piece);
            at += piece.Length;
        }

        return error;
    }

    /// <summary>
    /// Gives what is under a range back to the disks: a hole in an image, a discard on a device. Only where every block is never-written, durably, or
    /// is zeroed before it is used again, and where nothing writes.
    /// </summary>
    internal async LaneTask<Nothing> Punch(long offset, long length)
    {
        for (long at = offset; at < offset + length;)
        {
            StripPiece piece = _layout.First(at, offset + length - at);
            if (_rows[piece.Row] is { IsInitialized: true } row)
            {
                int generation = row.Enter();   // a slab that moves away is another owner's only when this has ended
                for (int column = 0; column < _layout.Columns; column++)
                {
                    if (column == piece.Column || _layout.DepthOf(piece) != piece.Length)   // whole stripes are in all columns
                    {
                        await engine.Punch(row, column, piece.SlabOffset, _layout.DepthOf(piece));
                    }
                }

                trims.Forget(piece);
                row.Leave(generation);
            }

            at += piece.Length;
        }

        return default;
    }

    /// <summary>
    /// Gives a range back: it reads as zeros, and a thin row with nothing left in it returns to the pool. Without checksums there
    /// are no entries that could say so: zeros are written, and then given back where the disks can make holes of zeros.
    /// </summary>
    internal LaneTask<IoError> Unmap(long offset, long length, WriteFlags flags) =>
        RangeError(offset, length) is not IoError.None and var rejected ? LaneTask.FromResult(rejected)
        : length == 0 ? default
        : _hasChecksums ? _members.OrNoSpace(ZeroEntries(offset, length, flags & ~WriteFlags.NoHole))
        : WriteZeros(offset, length, flags & ~WriteFlags.NoHole);

    private async LaneTask<IoError> ReadMany(long offset, IoBuffer target)
    {
        NoteSplit(offset, target.Length);
        WaitGroup group = WaitGroup.Rent();
        StripRuns runs = new(_layout, offset, target.Length);
        while (runs.Next(out StripRun run))
        {
            group.Add(ReadPiece(run.Piece, run.MemoryOf(target)));
        }

        return await group.Wait();
    }

    private async LaneTask<IoError> WriteMany(long offset, IoBuffer source, WriteFlags flags)
    {
        NoteSplit(offset, source.Length);
        WaitGroup group = WaitGroup.Rent();
        StripRuns runs = new(_layout, offset, source.Length);
        while (runs.Next(out StripRun run))
        {
            group.Add(WritePiece(run.Piece, run.MemoryOf(source), flags));
        }

        return await group.Wait();
    }

    /// <summary>Counts a request that crosses a strip or a row; one that is taken apart at a region or a checksum page alone is none.</summary>
    private void NoteSplit(long offset, int length)
    {
        long part = space.Shape.Columns > 1 ? space.Shape.Interleave : _layout.RowSize;
        if (offset / part != (offset + length - 1) / part)
        {
            _counters.NoteSplit();
        }
    }

    /// <summary>Writes and makes the write durable by a flush round. A durable write of its disks would not do: its entry is in the log (ADR 40).</summary>
    private async LaneTask<IoError> WriteThrough(long offset, IoBuffer source, WriteFlags flags)
    {
        IoError error = await Write(offset, source, flags & ~WriteFlags.ForceUnitAccess);
        return error == IoError.None ? await flusher.Flush() : error;
    }

    private async LaneTask<IoError> ReadPiece(StripPiece piece, IoBuffer target)
    {
        if (_rows[piece.Row] is not { IsInitialized: true } row)
        {
            target.Clear();
            return IoError.None;
        }

        int generation = row.Enter();
        int region = row.RegionOf(piece.Column, piece.SlabOffset);
        IoError error = row.Regions[region].IsUnresolved ? await Resolve(row, region, piece) : IoError.None;
        if (error == IoError.None)
        {
            int version = _members.Version;
            error = await engine.Read(row, piece, target);
            error = error != ILayoutEngine.Doubtful && IsOutdated(error, version, row, piece) ? ILayoutEngine.Doubtful : error;
        }

        row.Leave(generation);
        if (error == IoError.None)
        {
            _lost.Remove(piece);
        }

        return error != ILayoutEngine.Doubtful ? error
            : _buffers.IsKept(target) ? await ReadElsewhere(row, piece, target)
            : await ReadAgain(row, piece, target.ForbidKeeping());
    }

    /// <summary>
    /// The data did not match: reads again under the lock. The caller does not use the row: what frees it holds the lock and
    /// waits for its users. A row that is gone by then was zeros.
    /// </summary>
    private async LaneTask<IoError> ReadAgain(SpaceRow row, StripPiece piece, IoBuffer target)
    {
        (long key, long end) = RangeOf(piece);
        await _locks.Acquire(key, end);
        IoError error = IoError.None;
        if (_rows[piece.Row] == row)
        {
            int generation = row.Enter();
            for (int version = -1; version < 0 || IsOutdated(error, version, row, piece);)
            {
                version = _members.Version;
                error = await engine.ReadLocked(row, piece, target);
            }

            row.Leave(generation);
        }
        else
        {
            target.Clear();
        }

        _locks.Release(key, end);
        return error;
    }

    /// <summary>The first position passed its deadline and keeps the memory it was given: reads again into memory of its own.</summary>
    private async LaneTask<IoError> ReadElsewhere(SpaceRow row, StripPiece piece, IoBuffer target)
    {
        IoBuffer answer = _buffers.Rent(target.Length);
        return _buffers.Displace(target, answer, await ReadAgain(row, piece, answer));
    }

    /// <summary>Writes a piece under its lock.</summary>
    /// <param name="piece">The piece.</param>
    /// <param name="source">Its data.</param>
    /// <param name="flags">Flags of the request.</param>
    /// <param name="isLocked">Whether the caller holds the lock.</param>
    /// <param name="punchesZeros">Whether the data are zeros, which become holes where the disks make holes of zeros.</param>
    private async LaneTask<IoError> WritePiece(StripPiece piece, IoBuffer source, WriteFlags flags, bool isLocked = false, bool punchesZeros = false)
    {
        (long key, long end) = RangeOf(piece);
        LaneTask<Nothing> turn = isLocked ? default : _locks.Acquire(key, end);
        bool hasWaited = !turn.IsCompleted;
        await turn;
        IoError error = IoError.None;
        if (!IsReady(piece))
        {
            error = await MakeReady(piece);
            hasWaited = true;
        }

        error = error == IoError.None ? StoreClients.AfterWait(hasWaited, flags) : error;
        if (error != IoError.None)
        {
            Release(key, end, isLocked);
            return error;
        }

        SpaceRow row = _rows[piece.Row]!;   // it stays there under the lock
        int generation = row.Enter();
        int region = row.RegionOf(piece.Column, piece.SlabOffset);
        row.RegionAt(region).Admit();
        hasWaited = row.Regions[region].State != RegionState.Dirty && log.Exists;
        error = hasWaited ? await _members.OrNoSpace(regions.MarkDirty(row, region)) : IoError.None;
        bool isMarked = error == IoError.None;
        error = isMarked ? StoreClients.AfterWait(hasWaited, flags) : error;
        bool begins = error == IoError.None;
        for (int version = -1; begins && (version < 0 || IsOutdated(error, version, row, piece));)
        {
            version = _members.Version;
            error = await engine.Write(row, piece, source);
        }

        lacks.NoteWritten(row, _layout.GroupOf(piece.Column), piece.SlabOffset, _layout.DepthOf(piece));
        if (error == IoError.None)
        {
            _lost.Remove(piece);
            if (punchesZeros)
            {
                await engine.PunchZeros(row, piece);
                space.Counters.Rows.NotePunched(piece.Length);
            }
        }

        regions.Leave(ref row.RegionAt(region), isMarked);
        row.Leave(generation);
        Release(key, end, isLocked);
        return error;
    }

    private void Release(long key, long end, bool isLockedByCaller)
    {
        if (!isLockedByCaller)
        {
            _locks.Release(key, end);
        }
    }

    /// <summary>Whether the row of a piece is there, its region is resynced, and the log has room for its entries.</summary>
    private bool IsReady(in StripPiece piece) => !changes.IsFull && _rows[piece.Row] is { IsInitialized: true } row
        && !regions.IsUnresolved(row, row.RegionOf(piece.Column, piece.SlabOffset), piece.SlabOffset, _layout.DepthOf(piece));

    /// <summary>Waits for what a change of a piece needs, under its lock.</summary>
    private async LaneTask<IoError> MakeReady(StripPiece piece)
    {
        IoError error = changes.IsFull ? await flusher.Flush() : IoError.None;
        if (error == IoError.None && _rows[piece.Row] is not { IsInitialized: true })
        {
            error = await rowMaker.Prepare(piece.Row);
        }

        if (error == IoError.None && _rows[piece.Row] is { } row)
        {
            error = await Resolve(row, row.RegionOf(piece.Column, piece.SlabOffset), piece);
        }

        return error;
    }

    private LaneTask<IoError> Resolve(SpaceRow row, int region, in StripPiece piece) =>
        regions.Resolve(row, region, piece.SlabOffset, _layout.DepthOf(piece));

    /// <summary>Whether a request failed on members that have changed since, and those that are there now can serve it.</summary>
    private bool IsOutdated(IoError error, int version, SpaceRow row, in StripPiece piece) =>
        error is not (IoError.None or IoError.NoSpace) && _members.Version != version && _status.Fault == IoError.None
        && space.Redundancy.IsReadable(row, _layout.GroupOf(piece.Column), row.RegionOf(piece.Column, piece.SlabOffset));

    private (long Start, long End) RangeOf(in StripPiece piece)
    {
        long start = _layout.LockKey(piece.Row, _layout.GroupOf(piece.Column), piece.SlabOffset);
        return (start, start + _layout.DepthOf(piece));
    }

    /// <summary>Locks a range, all of it from when this is called, for a change that gives the locks back row by row with <see cref="UnlockRow"/>.</summary>
    /// <returns><see cref="IoError.Cancelled"/>: the range is locked, and the client is gone.</returns>
    private async LaneTask<IoError> LockRows(long offset, long end, WriteFlags flags)
    {
        bool hasWaited = false;
        WaitGroup turns = WaitGroup.Rent();
        for (long at = offset; at < end; at = EndInRow(at, end))
        {
            RowPart part = PartOf(at, EndInRow(at, end));
            for (int group = 0; group < part.Groups; group++)
            {
                (long from, long to) = RangeOf(part, group);
                LaneTask<Nothing> turn = _locks.Acquire(from, to);
                hasWaited |= !turn.IsCompleted;
                turns.Add(Await(turn));
            }
        }

        await turns.Wait();
        return StoreClients.AfterWait(hasWaited, flags);

        static async LaneTask<IoError> Await(LaneTask<Nothing> turn)
        {
            await turn;
            return IoError.None;
        }
    }

    private void UnlockRow(long offset, long end)
    {
        RowPart part = PartOf(offset, end);
        for (int group = 0; group < part.Groups; group++)
        {
            (long from, long to) = RangeOf(part, group);
            _locks.Release(from, to);
        }
    }

    private long EndInRow(long offset, long end) => Math.Min(((offset / _layout.RowSize) + 1) * _layout.RowSize, end);

    /// <summary>Returns what is locked for a range in one row: a piece alone, or whole strips of all groups.</summary>
    private RowPart PartOf(long offset, long end)
    {
        StripPiece first = _layout.First(offset, end - offset);
        if (first.Length == end - offset)
        {
            return new RowPart(first.Row, _layout.GroupOf(first.Column), 1, first.SlabOffset, first.SlabOffset + _layout.DepthOf(first));
        }

        int strip = space.Shape.Columns > 1 ? space.Shape.Interleave : BlockSize;
        int last = _layout.First(end - BlockSize, BlockSize).SlabOffset;
        return new RowPart(first.Row, 0, _layout.Groups, first.SlabOffset / strip * strip, ((last / strip) + 1) * strip);
    }

    private (long Start, long End) RangeOf(in RowPart part, int group)
    {
        long start = _layout.LockKey(part.Row, part.FirstGroup + group, part.From);
        return (start, start + part.To - part.From);
    }

    // Entries become never-written in memory and in the log; the log's blocks are written (not flushed) before the acknowledgement.
    private async LaneTask<IoError> ZeroEntries(long offset, long length, WriteFlags flags)
    {
        bool keepRows = (flags & WriteFlags.NoHole) != 0;
        IoError error = await LockRows(offset, offset + length, flags);
        for (long at = offset; at < offset + length;)
        {
            long end = EndInRow(at, offset + length);
            error = error == IoError.None ? await ZeroInRow(at, end, keepRows, flags) : error;
            UnlockRow(at, end);
            at = end;
        }

        error = error == IoError.None ? await log.Journal.Write() : error;
        trims.Start();
        if (error == IoError.None && !keepRows && space.Options.IsThin)
        {
            rowMaker.StartFreeing((int)(offset / _layout.RowSize), (int)((offset + length - 1) / _layout.RowSize));
        }

        return error;
    }

    /// <summary>Zeroes a range in one row. The caller holds its locks: the row stays as it is.</summary>
    private async LaneTask<IoError> ZeroInRow(long offset, long end, bool keepRows, WriteFlags flags)
    {
        int index = (int)(offset / _layout.RowSize);
        if (_rows[index] is not { IsInitialized: true } row)
        {
            return keepRows && _rows[index] is null ? await rowMaker.Prepare(index) : IoError.None;
        }

        IoError error = IoError.None;
        for (long at = offset; at < end && error == IoError.None;)
        {
            StripPiece piece = _layout.First(at, end - at);
            error = await ZeroPiece(row, piece, keepRows, flags);
            at += piece.Length;
        }

        return error;
    }

    private async LaneTask<IoError> ZeroPiece(SpaceRow row, StripPiece piece, bool keepRoom, WriteFlags flags)
    {
        int region = row.RegionOf(piece.Column, piece.SlabOffset);
        bool hasWaited = row.Regions[region].IsUnresolved;
        IoError error = hasWaited ? await Resolve(row, region, piece) : IoError.None;
        if (error == IoError.None)
        {
            LaneTask<IoError> room = log.Room(1);
            hasWaited |= !room.IsCompleted;
            error = await room;
        }

        error = error == IoError.None ? StoreClients.AfterWait(hasWaited, flags) : error;
        if (error == IoError.None)
        {
            error = await ChangeEntries(row, region, piece, isPoison: false);
            trims.NoteZeroed(piece, keepRoom);
        }

        return error;
    }

    /// <summary>Zeroes or poisons a piece under its lock; an engine that writes to the disks for that finds the region marked dirty.</summary>
    private async LaneTask<IoError> ChangeEntries(SpaceRow row, int region, StripPiece piece, bool isPoison)
    {
        int generation = row.Enter();
        IoError error = IoError.None;
        bool isMarked = false;
        if (engine.ZeroesWrite)
        {
            row.RegionAt(region).Admit();
            error = row.Regions[region].State == RegionState.Dirty ? IoError.None : await _members.OrNoSpace(regions.MarkDirty(row, region));
            isMarked = error == IoError.None;
        }

        if (error == IoError.None)
        {
            error = isPoison ? await engine.Poison(row, piece) : await engine.Zero(row, piece);
        }

        if (engine.ZeroesWrite)
        {
            lacks.NoteWritten(row, _layout.GroupOf(piece.Column), piece.SlabOffset, _layout.DepthOf(piece));
            regions.Leave(ref row.RegionAt(region), isMarked);
        }

        row.Leave(generation);
        return error;
    }

    private async LaneTask<IoError> PoisonPiece(StripPiece piece)
    {
        (long key, long end) = RangeOf(piece);
        await _locks.Acquire(key, end);
        IoError error = IsReady(piece) ? IoError.None : await MakeReady(piece);
        if (error == IoError.None)
        {
            SpaceRow row = _rows[piece.Row]!;
            error = await ChangeEntries(row, row.RegionOf(piece.Column, piece.SlabOffset), piece, isPoison: true);
        }

        _locks.Release(key, end);
        return error;
    }

    private async LaneTask<IoError> WriteZeros(long offset, long length, WriteFlags flags)
    {
        IoBuffer zeros = _buffers.Rent((int)Math.Min(length, 1 << 20));   // first: if there is none, nothing is locked
        zeros.Span.Clear();
        IoError error = await LockRows(offset, offset + length, flags);
        for (long at = offset; at < offset + length;)
        {
            long end = EndInRow(at, offset + length);
            error = error == IoError.None ? await WriteZerosInRow(at, end, zeros, flags) : error;
            UnlockRow(at, end);
            at = end;
        }

        _buffers.Return(zeros);
        return error;
    }

    private async LaneTask<IoError> WriteZerosInRow(long offset, long end, IoBuffer zeros, WriteFlags flags)
    {
        bool allocates = (flags & WriteFlags.NoHole) != 0;
        IoError error = IoError.None;
        for (long at = offset; at < end && error == IoError.None;)
        {
            StripPiece piece = _layout.First(at, Math.Min(zeros.Length, end - at));
            if (allocates || _rows[piece.Row] is { IsInitialized: true })
            {
                error = await WritePiece(piece, zeros.Slice(0, piece.Length), flags, isLocked: true, punchesZeros: !allocates);
            }

            at += piece.Length;
        }

        return error;
    }

    private IoError RequestError(long offset, long length) => length == 0 ? IoError.InvalidArgument : RangeError(offset, length);

    private IoError RangeError(long offset, long length) =>
        _status.Fault != IoError.None ? _status.Fault
        : offset < 0 || length < 0 || offset > _rows.Length - length || ((offset | length) & (BlockSize - 1)) != 0 ? IoError.InvalidArgument
        : IoError.None;

    /// <summary>A part of a row that is locked: the same stretch of the slabs of one group, or of several groups that follow each other.</summary>
    private readonly record struct RowPart(int Row, int FirstGroup, int Groups, int From, int To);
}
