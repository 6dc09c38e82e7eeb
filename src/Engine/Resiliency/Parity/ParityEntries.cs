using TierSpaces.Engine.Formats;
using TierSpaces.Engine.Primitives;
using TierSpaces.Engine.Resiliency.Layouts;

namespace TierSpaces.Engine.Resiliency;

// Blocks that become never-written or poisoned count as zeros in the parity of their line from then on. Lines whose data are then all never-written have no
// parity: their entries alone change. In the others the parity is written as if zeros were written to the block.

/// <summary>Unmaps and poisons blocks of a space with parity, and tells which blocks were never written.</summary>
internal sealed class ParityEntries(EngineParts parts, ParityStrips strips, ParityWrites writes)
{
    private const int BlockSize = SpaceShape.BlockSize;

    private readonly SpaceShape _shape = parts.Space.Shape;
    private readonly IntegrityStore _integrity = parts.Integrity;
    private readonly FirstWrites _firstWrites = parts.FirstWrites;

    internal LaneTask<IoError> Zero(SpaceRow row, StripPiece piece, int depth) => ForEachLine(row, piece, depth, isPoison: false);

    internal LaneTask<IoError> Poison(SpaceRow row, StripPiece piece, int depth) => ForEachLine(row, piece, depth, isPoison: true);

    /// <summary>Appends the states of a part of a strip.</summary>
    internal async LaneTask<IoError> Status(SpaceRow row, StripPiece piece, List<StoreExtent> extents)
    {
        if ((_integrity.Find(row, piece) ?? await _integrity.Load(row, piece)) is not { } page)
        {
            return IoError.Io;
        }

        int first = _integrity.FirstBlock(piece);
        for (int i = 0; i < piece.Length / BlockSize; i++)
        {
            bool isZero = page.Generations[first + i] == ChecksumSector.NeverWritten;
            StoreExtent.Append(extents, BlockSize, isZero ? ExtentState.Zero : ExtentState.Data);
        }

        return IoError.None;
    }

    // Line by line: which of them lose their last data differs from line to line.
    private async LaneTask<IoError> ForEachLine(SpaceRow row, StripPiece piece, int depth, bool isPoison)
    {
        bool isWhole = piece.Length > depth;
        IoError error = IoError.None;
        for (int at = 0; at < depth && error == IoError.None; at += BlockSize)
        {
            ParityStretch lines = strips.Rent();
            error = await lines.Begin(row, piece.SlabOffset + at, BlockSize, _integrity);
            if (error != IoError.None)
            {
                return error;
            }

            ulong which = isWhole ? (1UL << lines.DataStrips) - 1 : 1UL << lines.StripOf(piece.Column);
            error = await EndLine(lines, which, isPoison);
            strips.Return(lines);
        }

        return error;
    }

    private async LaneTask<IoError> EndLine(ParityStretch line, ulong which, bool isPoison)
    {
        ulong written = 0;
        for (int strip = 0; strip < line.DataStrips; strip++)
        {
            written |= line.Entry(strip, 0) != ChecksumSector.NeverWritten ? 1UL << strip : 0;
        }

        if (!isPoison && (written & which) == 0)
        {
            return IoError.None;
        }

        bool hasParity = isPoison || (written & ~which) != 0;
        IoError error = IoError.None;
        for (int strip = 0; strip < line.DataStrips && error == IoError.None && hasParity; strip++)
        {
            if ((written & which & (1UL << strip)) != 0 && line.Entry(strip, 0) != ChecksumSector.Poisoned)
            {
                error = await writes.WriteParityWithout(line, strip);
            }
        }

        int slots = line.Strips * FirstWriteJournal.SlotsPerRecord;
        error = error == IoError.None ? await parts.Log.Room(line.Strips) : error;
        while (error == IoError.None && !_firstWrites.HasRoom(slots))
        {
            error = await parts.Flusher.FlushForFirstWrites(slots);
            error = error == IoError.None ? await parts.Log.Room(line.Strips) : error;
        }

        error = error == IoError.None && !strips.IsReadable(line.Row, line.SlabOffset) ? IoError.Io : error;
        for (int strip = 0; strip < line.Strips && error == IoError.None; strip++)
        {
            if (strip < line.DataStrips ? (which >> strip & 1) != 0 : !hasParity)
            {
                Change(line, strip, isPoison);
            }
        }

        return error;
    }

    private void Change(ParityStretch line, int strip, bool isPoison)
    {
        ChecksumPage page = line.PageOf(strip);
        int block = line.FirstBlock;
        StripPiece piece = line.PieceOf(strip);
        bool wasWritten = page.Generations[block] != ChecksumSector.NeverWritten;
        _firstWrites.TakeBack(piece, page, 0, parts.Flusher.IsRunning);
        if (isPoison)
        {
            line.Row.NoteWritten(line.Row.WrittenBlocks >= 0 && !wasWritten ? 1 : 0);
            page.Poison(block);
            parts.Changes.Note(page, 1);
        }
        else if (wasWritten)
        {
            parts.Lost.Remove(piece);
            line.Row.NoteWritten(line.Row.WrittenBlocks > 0 ? -1 : 0);
            page.Reset(block);
            parts.Log.AppendZeroed(page, block, 1, _shape.PageSpan / BlockSize);
        }
    }
}
