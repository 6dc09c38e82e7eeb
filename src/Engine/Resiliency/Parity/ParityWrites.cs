using System.Buffers;
using System.Numerics;
using TierSpaces.Engine.Formats;
using TierSpaces.Engine.Primitives;
using TierSpaces.Engine.Resiliency.Layouts;

namespace TierSpaces.Engine.Resiliency;

// Writes in place.
//
//   whole stripes   parity is computed from the data alone: nothing is read
//   else            parity of the other strips, without the old data of the one that is written, and then with the new data:
//                   from P, Q and the old data where all of them match their entries; else from the other strips
//
// Invariants
//  1. Parity is computed from strips that match their entries alone. Where that is impossible the data is written and parity is poisoned.
//  2. Entries of data and parity change together, those of positions that are out included.
//  3. A first write is recorded before it is submitted, and again if a flush meanwhile may have cleared the record.

/// <summary>Writes and unmaps a space with parity.</summary>
internal sealed class ParityWrites(EngineParts parts, ParityStrips strips)
{
    private const int BlockSize = SpaceShape.BlockSize;
    private const int LinesMax = 64 << 10;   // bytes of a strip that one read-modify-write covers

    /// <summary>Most bytes of a strip that are written at once: all strips of these lines are in memory, and in the first-write journal.</summary>
    internal const int StripMax = 256 << 10;

    private readonly SpaceShape _shape = parts.Space.Shape;
    private readonly ParityLayout _layout = (ParityLayout)parts.Space.Layout;
    private readonly IntegrityStore _integrity = parts.Integrity;
    private readonly FirstWrites _firstWrites = parts.FirstWrites;
    private readonly SpaceMembers _members = parts.Space.Members;

    internal async LaneTask<IoError> Write(SpaceRow row, StripPiece piece, IoBuffer source)
    {
        IoError error = IoError.None;
        if (_layout.IsStripes(piece))
        {
            int stripe = _shape.DataColumns * _shape.Interleave;
            for (int at = 0; at < piece.Length && error == IoError.None; at += stripe)
            {
                for (int within = 0; within < _shape.Interleave && error == IoError.None; within += StripMax)
                {
                    error = await WriteStripe(row, piece.SlabOffset + (at / _shape.DataColumns) + within, source.Slice(at, stripe), within);
                }
            }

            return error;
        }

        for (int at = 0; at < piece.Length && error == IoError.None; at += LinesMax)
        {
            int length = Math.Min(LinesMax, piece.Length - at);
            StripPiece part = piece with { SlabOffset = piece.SlabOffset + at, Length = length };
            error = await WritePart(row, part, source.Slice(at, length));
        }

        return error;
    }

    private async LaneTask<IoError> WriteStripe(SpaceRow row, int slabOffset, IoBuffer source, int within)
    {
        ParityStretch lines = strips.Rent();
        IoError error = await lines.Begin(row, slabOffset, Math.Min(StripMax, _shape.Interleave - within), _integrity);
        if (error != IoError.None)
        {
            return error;
        }

        for (int strip = 0; strip < lines.DataStrips; strip++)
        {
            source.Slice((strip * _shape.Interleave) + within, lines.Length).Span.CopyTo(lines[strip].Span);
        }

        ParityMath.Fastest.Compute(lines.Data, lines.P, lines.Q);
        error = await WriteStrips(lines, (1UL << lines.Strips) - 1);
        strips.Return(lines);
        return error;
    }

    private async LaneTask<IoError> WritePart(SpaceRow row, StripPiece piece, IoBuffer source)
    {
        ParityStretch lines = strips.Rent();
        IoError error = await lines.Begin(row, piece.SlabOffset, piece.Length, _integrity);
        if (error != IoError.None)
        {
            return error;
        }

        int strip = lines.StripOf(piece.Column);
        bool hasParity = await TakeNew(lines, strip, source);
        if (!hasParity && piece.Length > BlockSize)
        {
            strips.Return(lines);
            for (int at = 0; at < piece.Length && error == IoError.None; at += BlockSize)
            {
                error = await WritePart(row, piece with { SlabOffset = piece.SlabOffset + at, Length = BlockSize }, source.Slice(at, BlockSize));
            }

            return error;
        }

        error = await WriteStrips(lines, hasParity ? (1UL << strip) | ParityStripsOf(lines) : 1UL << strip);
        if (error == IoError.None && !hasParity)
        {
            PoisonParity(lines);
        }

        strips.Return(lines);
        return error;
    }

    /// <summary>Writes the parity of a line as if a strip of it were zeros. The strip itself is not written.</summary>
    internal async LaneTask<IoError> WriteParityWithout(ParityStretch line, int strip)
    {
        IoBuffer zeros = parts.Space.Lane.Buffers.Rent(line.Length);
        zeros.Span.Clear();
        bool hasParity = await TakeNew(line, strip, zeros);
        parts.Space.Lane.Buffers.Return(zeros);
        line.SetHeld(strip);   // its zeros are what the parity counts now
        IoError error = hasParity ? await WriteStrips(line, ParityStripsOf(line)) : IoError.None;
        if (error == IoError.None && !hasParity)
        {
            PoisonParity(line);
        }

        return error;
    }

    private static ulong ParityStripsOf(ParityStretch lines) => ((1UL << lines.Strips) - 1) & ~((1UL << lines.DataStrips) - 1);

    /// <summary>Takes new data for a strip, and computes the parity with it; false where nothing gives the parity of the other strips.</summary>
    private async LaneTask<bool> TakeNew(ParityStretch lines, int strip, IoBuffer source)
    {
        bool isOld = await strips.ReadOwn(lines, strip);
        bool isParity = isOld;
        for (int parity = lines.DataStrips; parity < lines.Strips && isParity; parity++)
        {
            isParity = !lines.HasPoison(parity) && await strips.ReadOwn(lines, parity);
        }

        if (isParity)
        {
            ParityMath.Fastest.Accumulate([source], lines[strip], default);   // the difference of old and new
            ParityMath.Fastest.Update(strip, lines[strip], lines.P, lines.Q);
            source.Span.CopyTo(lines[strip].Span);
            return true;
        }

        bool hasOthers = true;
        for (int other = 0; other < lines.DataStrips; other++)
        {
            hasOthers &= other == strip || await strips.Give(lines, other);
        }

        source.Span.CopyTo(lines[strip].Span);
        if (hasOthers)
        {
            ParityMath.Fastest.Compute(lines.Data, lines.P, lines.Q);
        }

        return hasOthers;
    }

    /// <summary>Writes strips side by side and enters what they hold.</summary>
    private async LaneTask<IoError> WriteStrips(ParityStretch lines, ulong which)
    {
        for (int strip = 0; strip < lines.Strips; strip++)
        {
            _ = (which >> strip & 1) != 0 ? lines.ComputeChecksums(strip) : null;
        }

        IoError error = await NoteFirstWrites(lines, which);
        uint noted = _firstWrites.Generation;
        int version = _members.Version;
        LaneTask<IoError>[] writes = ArrayPool<LaneTask<IoError>>.Shared.Rent(lines.Strips);
        for (int strip = 0; strip < lines.Strips && error == IoError.None; strip++)
        {
            writes[strip] = (which >> strip & 1) == 0 ? LaneTask.FromResult(IoError.None)
                : strips.StartWrite(lines.Row, lines.ColumnOf(strip), lines.SlabOffset, lines[strip]);
        }

        IoError outcome = error;
        for (int strip = 0; strip < lines.Strips && error == IoError.None; strip++)
        {
            IoError ended = await strips.EndWrite(lines.Row, lines.ColumnOf(strip), lines.SlabOffset, await writes[strip], version);
            outcome = outcome == IoError.None ? ended : outcome;
        }

        ArrayPool<LaneTask<IoError>>.Shared.Return(writes, clearArray: true);
        outcome = outcome == IoError.None && !strips.IsReadable(lines.Row, lines.SlabOffset) ? IoError.Io : outcome;
        if (outcome == IoError.None && _firstWrites.Generation != noted)
        {
            outcome = await NoteFirstWrites(lines, which);   // a flush meanwhile may have cleared the records
        }

        if (outcome == IoError.None)
        {
            SetEntries(lines, which);
        }

        return outcome;
    }

    private void SetEntries(ParityStretch lines, ulong which)
    {
        for (int strip = 0; strip < lines.Strips; strip++)
        {
            if ((which >> strip & 1) == 0)
            {
                continue;
            }

            ChecksumPage page = lines.PageOf(strip);
            for (int i = 0; i < lines.Blocks; i++)
            {
                bool isFirst = page.Generations[lines.FirstBlock + i] == ChecksumSector.NeverWritten;
                lines.Row.NoteWritten(lines.Row.WrittenBlocks >= 0 && isFirst ? 1 : 0);
                page.Set(lines.FirstBlock + i, lines.ChecksumsOf(strip)[i]);
            }

            parts.Changes.Note(page, lines.Blocks);
        }
    }

    private void PoisonParity(ParityStretch lines)
    {
        for (int strip = lines.DataStrips; strip < lines.Strips; strip++)
        {
            ChecksumPage page = lines.PageOf(strip);
            for (int i = 0; i < lines.Blocks; i++)
            {
                bool isFirst = page.Generations[lines.FirstBlock + i] == ChecksumSector.NeverWritten;
                lines.Row.NoteWritten(lines.Row.WrittenBlocks >= 0 && isFirst ? 1 : 0);
                page.Poison(lines.FirstBlock + i);
            }

            parts.Changes.Note(page, lines.Blocks);
        }
    }

    private async LaneTask<IoError> NoteFirstWrites(ParityStretch lines, ulong which)
    {
        int slots = FirstWrites.SlotsFor(lines.PieceOf(0)) * BitOperations.PopCount(which);
        IoError error = _firstWrites.HasRoom(slots) ? IoError.None : await parts.Flusher.FlushForFirstWrites(slots);
        for (int strip = 0; strip < lines.Strips && error == IoError.None && _firstWrites.IsKept; strip++)
        {
            if ((which >> strip & 1) != 0)
            {
                _firstWrites.Note(lines.PageOf(strip), lines.PieceOf(strip), lines[strip], lines.ChecksumsOf(strip));
            }
        }

        return error;
    }
}
