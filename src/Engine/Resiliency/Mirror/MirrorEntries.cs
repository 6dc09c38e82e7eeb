using TierSpaces.Engine.Formats;
using TierSpaces.Engine.Primitives;
using TierSpaces.Engine.Resiliency.Layouts;

namespace TierSpaces.Engine.Resiliency;

// Operations that change the entries of a simple or mirrored space and not its data: unmapping and poisoning.
//
// A copy whose disk is missing need not be recorded for it: the log keeps the entries until every good copy's page has them, and the writeback
// records copies that miss the page.

/// <summary>Unmaps and poisons blocks by their entries, and tells which blocks were never written.</summary>
internal sealed class MirrorEntries(EngineParts parts, MirrorCopies copies, FailedWrites failed)
{
    private const int BlockSize = SpaceShape.BlockSize;

    private readonly SpaceShape _shape = parts.Space.Shape;
    private readonly IntegrityStore _integrity = parts.Integrity;
    private readonly WriteRecords _records = parts.Records;

    internal async LaneTask<IoError> Zero(SpaceRow row, StripPiece piece)
    {
        if ((_integrity.Find(row, piece) ?? await _integrity.Load(row, piece)) is not { } page)
        {
            return IoError.Io;
        }

        int first = _integrity.FirstBlock(piece);
        int count = piece.Length / BlockSize;
        if (page.IsNeverWritten(first, count))
        {
            return IoError.None;
        }

        page.Pin();
        IoError error = await parts.Log.Room(1);
        while (error == IoError.None && !_records.HasRoom(count))
        {
            error = await parts.Flusher.FlushForRecords(count);
            error = error == IoError.None ? await parts.Log.Room(1) : error;   // another request may have noted while this waited
        }

        error = error == IoError.None && !copies.HasReadable(row, piece) ? IoError.Io : error;
        if (error == IoError.None)
        {
            ResetBlocks(row, piece, page, first, count);
            parts.Log.AppendZeroed(page, first, count, _shape.PageSpan / BlockSize);
        }

        page.Unpin();
        return error;
    }

    internal async LaneTask<IoError> Poison(SpaceRow row, StripPiece piece)
    {
        if ((_integrity.Find(row, piece) ?? await _integrity.Load(row, piece)) is not { } page)
        {
            return IoError.Io;
        }

        int first = _integrity.FirstBlock(piece);
        int count = piece.Length / BlockSize;
        page.Pin();
        IoError error = _records.HasRoom(count) ? IoError.None : await parts.Flusher.FlushForRecords(count);
        error = error == IoError.None && !copies.HasReadable(row, piece) ? IoError.Io : error;
        for (int i = 0; i < count && error == IoError.None; i++)
        {
            row.NoteWritten(row.WrittenBlocks >= 0 && page.Generations[first + i] == ChecksumSector.NeverWritten ? 1 : 0);
            _records.Lose(piece, i);
            page.Poison(first + i);
        }

        if (error == IoError.None)
        {
            failed.Remove(piece);
            parts.Found.Remove(piece);
            parts.Changes.Note(page, count);
        }

        page.Unpin();
        return error;
    }

    internal async LaneTask<IoError> Status(SpaceRow row, StripPiece piece, List<StoreExtent> extents)
    {
        if (!_shape.Checksums)
        {
            StoreExtent.Append(extents, piece.Length, ExtentState.Data);
            return IoError.None;
        }

        return await _integrity.AppendStates(row, piece, extents);
    }

    internal async LaneTask<Nothing> Punch(SpaceRow row, int column, int slabOffset, int length)
    {
        for (int copy = 0; copy < copies.Count; copy++)
        {
            SlabPlace place = copies.PlaceOf(row, column, copy);
            await parts.Space.Members.Unmap(place.Disk, place.DataOffset + slabOffset, length);
        }

        return default;
    }

    internal async LaneTask<Nothing> PunchZeros(SpaceRow row, StripPiece piece)
    {
        for (int copy = 0; copy < copies.Count; copy++)
        {
            SlabPlace place = copies.PlaceOf(row, piece.Column, copy);
            await parts.Space.Members.PunchZeros(place.Disk, place.DataOffset + piece.SlabOffset, piece.Length);
        }

        return default;
    }

    private void ResetBlocks(SpaceRow row, StripPiece piece, ChecksumPage page, int first, int count)
    {
        parts.Space.Lost.Remove(piece);
        parts.Found.Remove(piece);
        failed.Remove(piece);
        for (int i = 0; i < count; i++)
        {
            if (page.Generations[first + i] == ChecksumSector.NeverWritten)
            {
                continue;
            }

            row.NoteWritten(row.WrittenBlocks > 0 ? -1 : 0);
            _records.Zero(piece, i);
            page.Reset(first + i);
        }
    }
}
