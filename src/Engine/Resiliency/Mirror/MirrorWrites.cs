using TierSpaces.Engine.Formats;
using TierSpaces.Engine.Primitives;
using TierSpaces.Engine.Resiliency.Layouts;

namespace TierSpaces.Engine.Resiliency;

// Writes of a simple or mirrored space.
//
// Invariants
//  1. A write is acknowledged only when every copy in the view holds it and every copy that misses it is durably stale.
//  2. A copy counts only if it is not stale and its disk is in the view at the acknowledgement.
//  3. A block of which no good copy took a write for certain is listed as failed.
//  4. A write is recorded before it is submitted. The record is marked acknowledged, with the entry, before the write is.

/// <summary>Writes a simple or mirrored space.</summary>
internal sealed class MirrorWrites(EngineParts parts, MirrorCopies copies, FailedWrites failed)
{
    private const int BlockSize = SpaceShape.BlockSize;

    [ThreadStatic]
    private static FreeList<uint[]> s_checksums;   // one array per write in flight

    private readonly SpaceMembers _members = parts.Space.Members;
    private readonly SpaceShape _shape = parts.Space.Shape;
    private readonly IntegrityStore _integrity = parts.Integrity;
    private readonly WriteRecords _records = parts.Records;

    internal async LaneTask<IoError> Write(SpaceRow row, StripPiece piece, IoBuffer source)
    {
        IoError error = _shape.Checksums ? await WriteChecked(row, piece, source) : await WriteCopies(row, piece, source);
        if (IsOnlyCopyGone(error) && !_shape.Checksums)
        {
            await _members.Evict(copies.PlaceOf(row, piece.Column, 0).Disk, error, hasOtherCopy: false, "a write");
        }

        if (error == IoError.None)
        {
            failed.Remove(piece);
            parts.Found.Remove(piece);
        }
        else if (!_shape.Checksums && _shape.Copies > 1)
        {
            NoteFailed(row, piece, null, new WriteOutcome(WriteRecords.None, [], source));
        }

        return error;
    }

    private async LaneTask<IoError> WriteChecked(SpaceRow row, StripPiece piece, IoBuffer source)
    {
        ChecksumPage? page = _integrity.Find(row, piece) ?? await _integrity.Load(row, piece);
        if (page is null)
        {
            return IoError.Io;
        }

        page.Pin();
        uint[] checksums = s_checksums.Take() ?? new uint[ChecksumPage.Blocks];
        int first = _integrity.FirstBlock(piece);
        int count = piece.Length / BlockSize;
        page.PrefetchEntry(first);
        for (int i = 0; i < count; i++)
        {
            checksums[i] = Crc32c.Compute(source.Slice(i * BlockSize, BlockSize).Span);
        }

        int slots = WriteRecords.SlotsFor(piece);
        IoError error = _records.HasRoom(slots) ? IoError.None : await parts.Flusher.FlushForRecords(slots);
        if (error == IoError.None)
        {
            int ticket = _records.Begin(piece, source, checksums);
            LaneTask<IoError> write = WriteCopies(row, piece, source);
            parts.Flusher.StartWhenHalfFull();
            error = await write;
            if (IsOnlyCopyGone(error))
            {
                await _members.Evict(copies.PlaceOf(row, piece.Column, 0).Disk, error, hasOtherCopy: false, "a write");
            }

            if (error == IoError.None)
            {
                SetEntries(row, page, first, count, checksums);
                _records.Acknowledge(ticket);
            }
            else
            {
                NoteFailed(row, piece, page, new WriteOutcome(ticket, checksums, source));
            }
        }

        s_checksums.Return(checksums);
        page.Unpin();
        return error;
    }

    /// <summary>
    /// Lists the blocks of a write that failed. One that was never written, or whose entry is not known, is answered by its entry whatever arrived.
    /// </summary>
    private void NoteFailed(SpaceRow row, StripPiece piece, ChecksumPage? page, in WriteOutcome outcome)
    {
        RecordHold? hold = _records.Hold(outcome.Ticket);
        for (int i = 0; i < piece.Length / BlockSize; i++)
        {
            StripPiece block = piece with { SlabOffset = piece.SlabOffset + (i * BlockSize), Length = BlockSize };
            if (page is not null && !ChecksumSector.HasValue(page.Generations[_integrity.FirstBlock(block)]))
            {
                hold?.Void(i);
                continue;
            }

            WriteRecord? record = page is null ? null : new WriteRecord(
                _records.BlockKey(block), outcome.Checksums[i], false, false, SectorChecksums.Of(outcome.Source.Slice(i * BlockSize, BlockSize).Span));
            failed.Add(row, block, record, hold, i);
        }

        hold?.Release(settled: -1);
    }

    private void SetEntries(SpaceRow row, ChecksumPage page, int first, int count, uint[] checksums)
    {
        for (int i = 0; i < count; i++)
        {
            if (row.WrittenBlocks >= 0 && page.Generations[first + i] == 0)
            {
                row.NoteWritten(1);
            }

            page.Set(first + i, checksums[i]);
        }

        parts.Changes.Note(page, count);
    }

    /// <summary>Writes every live copy side by side; a copy that fails or is missing is durably out or stale before this completes.</summary>
    private LaneTask<IoError> WriteCopies(SpaceRow row, StripPiece piece, IoBuffer source) =>
        _shape.Copies == 1 ? copies.WriteCopy(new RowPiece(row, piece), 0, source) : WriteMirror(new RowPiece(row, piece), source);

    private async LaneTask<IoError> WriteMirror(RowPiece range, IoBuffer source)
    {
        CopyOutcome outcome = await CopyIo.WriteAll(copies, range, source, _members.Version);
        bool isHeld = Holds(range, outcome);
        if (isHeld && !outcome.IsWhole)
        {
            IoError missing = await MarkMissing(range, outcome);
            if (missing != IoError.None)
            {
                return missing;
            }

            isHeld = Holds(range, outcome);   // the disk of the only copy that took it may have left meanwhile
        }

        return isHeld ? IoError.None : outcome.Error;
    }

    /// <summary>A write of which there is no other copy met no disk: it leaves the view all the same.</summary>
    private bool IsOnlyCopyGone(IoError write) => _shape.Copies == 1 && write is IoError.DeviceGone or IoError.NoDevice;

    /// <summary>Whether a good copy took a write: it is not stale there, and its disk is in the view now.</summary>
    private bool Holds(RowPiece range, CopyOutcome outcome)
    {
        for (int copy = 0; copy < _shape.Copies; copy++)
        {
            if (outcome[copy] == IoError.None && copies.IsReadable(range, copy))
            {
                return true;
            }
        }

        return false;
    }

    /// <summary>A good copy took the write, another did not: that one must be durably stale before the write is acknowledged.</summary>
    private async LaneTask<IoError> MarkMissing(RowPiece range, CopyOutcome outcome)
    {
        (SpaceRow row, StripPiece piece) = range;
        for (int copy = 0; copy < _shape.Copies; copy++)
        {
            IoError error = outcome[copy];
            if (error == IoError.NoSpace)
            {
                return error;
            }

            if (error != IoError.None)
            {
                await _members.EvictSince(outcome.Version, copies.PlaceOf(row, piece.Column, copy).Disk, error, hasOtherCopy: true, "a write");
                error = await parts.Stale.MarkStale(
                    row, copies.PositionOf(piece.Column, copy), MirrorCopies.RegionBit(row, piece), new Lack(piece.SlabOffset, piece.Length));
                if (error != IoError.None)
                {
                    return parts.Space.Status.Fail(error, "a missing copy could not be recorded as stale");
                }
            }
        }

        return IoError.None;
    }

    /// <summary>A write that failed: its record, and the values that it would have left.</summary>
    /// <param name="Ticket">Ticket of its record.</param>
    /// <param name="Checksums">Checksum of each block.</param>
    /// <param name="Source">Its data.</param>
    private readonly record struct WriteOutcome(int Ticket, uint[] Checksums, IoBuffer Source);
}
