using TierSpaces.Engine.Formats;
using TierSpaces.Engine.Primitives;
using TierSpaces.Engine.Resiliency.Layouts;

namespace TierSpaces.Engine.Resiliency;

public sealed partial class Space
{
    /// <summary>
    /// Gives a range back: it reads as zeros, and a thin row with nothing left in it returns to the pool. Without checksums there
    /// is nothing that could say so, and zeros are written.
    /// </summary>
    public LaneTask<IoError> Unmap(long offset, long length) =>
        RefusalOfRange(offset, length) is not IoError.None and var refused ? LaneTask.FromResult(refused)
        : length == 0 ? default
        : _shape.Checksums ? _members.OrNoSpace(ZeroEntries(offset, length, keepRows: false))
        : WriteZeros(offset, length, allocate: false);

    /// <summary>
    /// Gives what lies under a range back below: a hole in an image, a discard on a device. Only where every block is never-written, durably, or
    /// is zeroed before it is used again, and where nobody writes.
    /// </summary>
    internal async LaneTask<Nothing> Punch(long offset, long length)
    {
        for (long at = offset; at < offset + length;)
        {
            StripPiece piece = StripeGeometry.First(_shape, at, offset + length - at);
            if (_rows[piece.Row] is { IsInitialized: true } row)
            {
                int turn = row.Enter();   // a slab that moves away is somebody else's only when this has ended
                await Punch(row, piece);
                row.Leave(turn);
            }

            at += piece.Length;
        }

        return default;
    }

    private async LaneTask<Nothing> Punch(SpaceRow row, StripPiece piece)
    {
        for (int copy = 0; copy < _shape.Copies; copy++)
        {
            SlabPlace place = row.Place(piece.Column, copy);
            if (_host.Disk(place.Disk) is { } disk)
            {
                await disk.Unmap(place.DataOffset + piece.SlabOffset, piece.Length);
            }
        }

        return default;
    }

    /// <inheritdoc/>
    public async LaneTask<IoError> WriteZeroes(long offset, long length, WriteFlags flags)
    {
        if (RefusalOfRange(offset, length) is var refused && (refused != IoError.None || length == 0))
        {
            return refused;
        }

        bool keep = (flags & WriteFlags.NoHole) != 0;
        IoError error = _shape.Checksums ? await _members.OrNoSpace(ZeroEntries(offset, length, keep)) : await WriteZeros(offset, length, keep);
        return error == IoError.None && (flags & WriteFlags.ForceUnitAccess) != 0 ? await Flush() : error;
    }

    /// <inheritdoc/>
    public async LaneTask<IoError> Status(long offset, long length, List<StoreExtent> extents)
    {
        IoError error = RefusalOfRange(offset, length);
        for (long at = offset; at < offset + length && error == IoError.None;)
        {
            StripPiece piece = StripeGeometry.First(_shape, at, offset + length - at);
            if (_rows[piece.Row] is not { IsInitialized: true } row)
            {
                long rowEnd = Math.Min((piece.Row + 1) * _shape.RowSize, offset + length);
                StoreExtent.Append(extents, rowEnd - at, ExtentState.Zero | (_rows[piece.Row] is null ? ExtentState.Hole : ExtentState.Data));
                at = rowEnd;
                continue;
            }

            error = await PieceStatus(row, piece, extents);
            at += piece.Length;
        }

        return error;
    }

    private async LaneTask<IoError> PieceStatus(SpaceRow row, StripPiece piece, List<StoreExtent> extents)
    {
        if (!_shape.Checksums)
        {
            StoreExtent.Append(extents, piece.Length, ExtentState.Data);
            return IoError.None;
        }

        int turn = row.Enter();   // a region need not be resolved for this: that changes no block from written to never-written or back
        ChecksumPage? page = FindPage(row, piece) ?? await LoadPage(row, piece.Column, piece.SlabOffset / _shape.PageSpan);
        row.Leave(turn);
        if (page is null)
        {
            return IoError.Io;
        }

        for (int i = 0; i < piece.Length / BlockSize; i++)
        {
            bool isZero = page.Generations[FirstBlock(piece) + i] == ChecksumSector.NeverWritten;
            StoreExtent.Append(extents, BlockSize, isZero ? ExtentState.Zero : ExtentState.Data);
        }

        return IoError.None;
    }

    // Entries become never-written in memory and in the log; the log's blocks are written (not flushed) before the acknowledgement. A copy
    // whose disk is missing need not be recorded for it: the log keeps the zeros until every good copy's page has them, and the writeback
    // records whoever misses the page.
    private async LaneTask<IoError> ZeroEntries(long offset, long length, bool keepRows)
    {
        IoError error = IoError.None;
        for (long at = offset; at < offset + length && error == IoError.None;)
        {
            StripPiece piece = StripeGeometry.First(_shape, at, offset + length - at);
            if (_rows[piece.Row] is not { IsInitialized: true } row)
            {
                error = keepRows && _rows[piece.Row] is null ? await PrepareRow(piece.Row) : error;
                at = Math.Min((piece.Row + 1) * _shape.RowSize, offset + length);
                continue;
            }

            error = await ZeroPiece(row, piece);
            at += piece.Length;
        }

        error = error == IoError.None ? await _log!.Journal.Write() : error;
        if (error == IoError.None && !keepRows && _options.IsThin)
        {
            StartFreeingRows((int)(offset / _shape.RowSize), (int)((offset + length - 1) / _shape.RowSize));
        }

        return error;
    }

    private async LaneTask<IoError> ZeroPiece(SpaceRow row, StripPiece piece)
    {
        int region = row.RegionOf(piece.Column, piece.SlabOffset);
        IoError error = row.Regions[region].State >= RegionState.Unresolved ? await Resolve(row, region) : IoError.None;
        error = error == IoError.None ? await LogRoom(1) : error;
        if (error != IoError.None)
        {
            return error;
        }

        long key = StripeGeometry.LockKey(_shape, piece.Row, piece.Column, piece.SlabOffset);
        await _locks.Acquire(key, key + piece.Length);
        if (_rows[piece.Row] == row)
        {
            int turn = row.Enter();
            ChecksumPage? page = FindPage(row, piece) ?? await LoadPage(row, piece.Column, piece.SlabOffset / _shape.PageSpan);
            error = page is null ? IoError.Io : await ZeroLocked(row, piece, page);
            row.Leave(turn);
        }

        _locks.Release(key, key + piece.Length);
        return error;
    }

    private async LaneTask<IoError> ZeroLocked(SpaceRow row, StripPiece piece, ChecksumPage page)
    {
        int first = FirstBlock(piece);
        int count = piece.Length / BlockSize;
        if (AllNeverWritten(page, first, count))
        {
            return IoError.None;
        }

        page.Pins++;
        IoError error = await LogRoom(1);
        while (error == IoError.None && _notes is { } notes && notes.Room < count)
        {
            error = await FlushForNotes(count);
            error = error == IoError.None ? await LogRoom(1) : error;   // another request may have noted while this waited
        }

        error = error == IoError.None && !HasReadable(row, piece) ? IoError.Io : error;
        if (error == IoError.None)
        {
            ResetBlocks(row, piece, page, first, count);
            _log!.AppendZeroed(page, first, count, _shape.PageSpan / BlockSize);
        }

        page.Pins--;
        return error;
    }

    private void ResetBlocks(SpaceRow row, StripPiece piece, ChecksumPage page, int first, int count)
    {
        UnlistLost(piece);
        for (int i = 0; i < count; i++)
        {
            if (page.Generations[first + i] == ChecksumSector.NeverWritten)
            {
                continue;
            }

            row.WrittenBlocks -= row.WrittenBlocks > 0 ? 1 : 0;
            TakeBackNotes(piece, page, i);
            page.Reset(first + i);
        }
    }

    /// <summary>Notes of a block may stand while it is unlogged, changed since the last capture, or until a running flush ends.</summary>
    private void TakeBackNotes(StripPiece piece, ChecksumPage page, int at)
    {
        int block = FirstBlock(piece) + at;
        if (page.IsUnlogged(block) || page.IsChanged(block) || _roundRunning)
        {
            _notes?.AddZeroed(BlockKey(piece) + at);
        }
    }

    private void StartFreeingRows(int first, int last)
    {
        for (int index = first; index <= last; index++)
        {
            if (_rows[index] is { IsInitialized: true, WrittenBlocks: <= 0 } row)
            {
                Discard(FreeRowIfEmpty(row)).Forget();
            }
        }

        static async LaneTask Discard(LaneTask<IoError> task) => await task;
    }

    private async LaneTask<IoError> WriteZeros(long offset, long length, bool allocate)
    {
        IoBuffer zeros = _lane.Buffers.Rent((int)Math.Min(length, 1 << 20));
        zeros.Span.Clear();
        IoError error = IoError.None;
        for (long at = offset; at < offset + length && error == IoError.None;)
        {
            StripPiece piece = StripeGeometry.First(_shape, at, Math.Min(zeros.Length, offset + length - at));
            if (allocate || _rows[piece.Row] is { IsInitialized: true })
            {
                error = await WritePiece(piece, zeros.Slice(0, piece.Length));
            }

            at += piece.Length;
        }

        _lane.Buffers.Return(zeros);
        return error;
    }
}
