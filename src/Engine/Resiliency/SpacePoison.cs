using TierSpaces.Engine.Formats;
using TierSpaces.Engine.Primitives;
using TierSpaces.Engine.Resiliency.Layouts;

namespace TierSpaces.Engine.Resiliency;

// Blocks whose newest contents are lost, as whoever was to bring them here knows: their entries say so, and are logged as those of a write are.
// Nothing is written into the blocks: what they hold is older than what was promised, and is never read again.

public sealed partial class Space
{
    /// <inheritdoc/>
    public async LaneTask<IoError> Poison(long offset, long length)
    {
        IoError error = _shape.Checksums ? Refusal(offset, length) : IoError.NotSupported;
        for (long at = offset; at < offset + length && error == IoError.None;)
        {
            StripPiece piece = StripeGeometry.First(_shape, at, offset + length - at);
            error = _changedBytes > _changedBytesMax ? await FlushForRoom() : IoError.None;
            error = error == IoError.None ? await PoisonPiece(piece) : error;
            at += piece.Length;
        }

        return error;
    }

    private async LaneTask<IoError> PoisonPiece(StripPiece piece)
    {
        IoError error = _rows[piece.Row] is { IsInitialized: true } ? IoError.None : await PrepareRow(piece.Row);
        if (error == IoError.None && _rows[piece.Row] is { } found && found.RegionOf(piece.Column, piece.SlabOffset) is var region
            && found.Regions[region].State >= RegionState.Unresolved)
        {
            error = await Resolve(found, region);
        }

        if (error != IoError.None)
        {
            return error;
        }

        long key = StripeGeometry.LockKey(_shape, piece.Row, piece.Column, piece.SlabOffset);
        await _locks.Acquire(key, key + piece.Length);
        error = IoError.TryAgain;   // the row was given back meanwhile: whoever holds data for it keeps it from that
        if (_rows[piece.Row] is { IsInitialized: true } row)
        {
            int turn = row.Enter();
            ChecksumPage? page = FindPage(row, piece) ?? await LoadPage(row, piece.Column, piece.SlabOffset / _shape.PageSpan);
            error = page is null ? IoError.Io : await PoisonLocked(row, piece, page);
            row.Leave(turn);
        }

        _locks.Release(key, key + piece.Length);
        return error;
    }

    private async LaneTask<IoError> PoisonLocked(SpaceRow row, StripPiece piece, ChecksumPage page)
    {
        int first = FirstBlock(piece);
        int count = piece.Length / BlockSize;
        page.Pins++;
        IoError error = _notes is not null && _notes.Room < count ? await FlushForNotes(count) : IoError.None;
        error = error == IoError.None && !HasReadable(row, piece) ? IoError.Io : error;
        for (int i = 0; i < count && error == IoError.None; i++)
        {
            row.WrittenBlocks += row.WrittenBlocks >= 0 && page.Generations[first + i] == ChecksumSector.NeverWritten ? 1 : 0;
            TakeBackNotes(piece, page, i);
            page.Poison(first + i);
        }

        if (error == IoError.None)
        {
            NoteChanged(page, count);
        }

        page.Pins--;
        return error;
    }
}
