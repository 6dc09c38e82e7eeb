using TierSpaces.Engine.Formats;
using TierSpaces.Engine.Primitives;
using TierSpaces.Engine.Resiliency.Layouts;

namespace TierSpaces.Engine.Resiliency;

// Blocks that become never-written or poisoned count as zeros in the parity of their line from then on. Lines whose data are then all never-written have no
// parity: their entries alone change. In the others the parity is written as if zeros were written to the block.

/// <summary>Unmaps and poisons blocks of a space with parity.</summary>
internal sealed class ParityEntries(EngineParts parts, ParityStrips strips, ParityWrites writes, ParityCommits commits)
{
    private const int BlockSize = SpaceShape.BlockSize;

    private readonly ParityLayout _layout = (ParityLayout)parts.Space.Layout;
    private readonly IntegrityStore _integrity = parts.Integrity;

    internal LaneTask<IoError> Zero(SpaceRow row, StripPiece piece) => ForEachStretch(row, piece, isPoison: false);

    internal LaneTask<IoError> Poison(SpaceRow row, StripPiece piece) => ForEachStretch(row, piece, isPoison: true);

    private async LaneTask<IoError> ForEachStretch(SpaceRow row, StripPiece piece, bool isPoison)
    {
        bool isWhole = _layout.IsStripes(piece);
        int end = piece.SlabOffset + _layout.DepthOf(piece);
        int interleave = parts.Space.Shape.Interleave;
        IoError error = IoError.None;
        for (int at = piece.SlabOffset; at < end && error == IoError.None;)
        {
            int length = Math.Min(Math.Min(writes.RecordedMax, end - at), interleave - (at % interleave));
            error = await Change(row, at, length, isWhole ? -1 : piece.Column, isPoison);
            at += length;
        }

        return error;
    }

    /// <summary>Changes one column, or the data of all (−1), of lines of one stripe; line by line where the lines differ.</summary>
    private async LaneTask<IoError> Change(SpaceRow row, int slabOffset, int length, int column, bool isPoison)
    {
        ParityStretch lines = strips.Rent();
        IoError error = await lines.Begin(row, slabOffset, length, _integrity);
        if (error != IoError.None)
        {
            return error;
        }

        error = await commits.Settle(lines);
        ulong which = column < 0 ? lines.DataMask : 1UL << lines.StripOf(column);
        Kind kind = KindOf(lines, which, 0, isPoison);
        for (int block = 1; block < lines.Blocks && kind != Kind.Mixed; block++)
        {
            kind = KindOf(lines, which, block, isPoison) == kind ? kind : Kind.Mixed;
        }

        bool hasParity = true;
        if (error == IoError.None && kind == Kind.Parity)
        {
            hasParity = await TakeZeros(lines, column);
        }

        if (error == IoError.None && length > BlockSize && (kind == Kind.Mixed || !hasParity))
        {
            strips.Return(lines);
            for (int at = 0; at < length && error == IoError.None; at += BlockSize)
            {
                error = await Change(row, slabOffset + at, BlockSize, column, isPoison);
            }

            return error;
        }

        if (error != IoError.None || kind == Kind.Nothing)
        {
            strips.Return(lines);
            return error;
        }

        if (!hasParity && !await strips.IsFinal(lines))
        {
            strips.Return(lines);
            return IoError.Io;
        }

        ulong zeroed = isPoison ? 0 : which;
        ulong poisoned = isPoison ? which : 0;
        parts.Space.Counters.Parity.NotePartial();
        return await commits.Commit(
            lines,
            kind == Kind.Entries ? new ParityChange(0, zeroed | lines.ParityStrips, poisoned)
            : hasParity ? new ParityChange(lines.ParityStrips, zeroed, poisoned)
            : new ParityChange(0, zeroed, poisoned | lines.ParityStrips));
    }

    /// <summary>Computes the parity as if one column, or the data of all, were zeros; false where nothing gives it.</summary>
    private async LaneTask<bool> TakeZeros(ParityStretch lines, int column)
    {
        if (column < 0)
        {
            foreach (IoBuffer strip in lines.Data)
            {
                strip.Span.Clear();
            }

            ParityMath.Fastest.Compute(lines.Data, lines.P, lines.Q);
            return true;
        }

        IoBuffer zeros = parts.Space.Lane.Buffers.Rent(lines.Length);
        zeros.Span.Clear();
        bool hasParity = await writes.TakeNew(lines, lines.StripOf(column), zeros);
        parts.Space.Lane.Buffers.Return(zeros);
        return hasParity;
    }

    private static Kind KindOf(ParityStretch lines, ulong which, int block, bool isPoison)
    {
        ulong written = 0;
        for (int strip = 0; strip < lines.DataStrips; strip++)
        {
            written |= lines.Entry(strip, block) != ChecksumSector.NeverWritten ? 1UL << strip : 0;
        }

        return isPoison || ((written & ~which) != 0 && (written & which) != 0) ? Kind.Parity : (written & which) != 0 ? Kind.Entries : Kind.Nothing;
    }

    /// <summary>Changes of a line.</summary>
    private enum Kind
    {
        /// <summary>Nothing: the blocks are never-written already.</summary>
        Nothing,

        /// <summary>Entries alone: no data is left in the line.</summary>
        Entries,

        /// <summary>Entries, and the parity on the disks.</summary>
        Parity,

        /// <summary>Not the same in all lines.</summary>
        Mixed,
    }
}
