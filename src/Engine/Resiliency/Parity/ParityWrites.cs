using System.Buffers;
using System.Numerics;
using TierSpaces.Engine.Formats;
using TierSpaces.Engine.Primitives;
using TierSpaces.Engine.Resiliency.Layouts;

namespace TierSpaces.Engine.Resiliency;

// Writes of clients.
//
//   whole stripes   parity is computed from the data alone: nothing is read
//   else            parity of the other strips, without the old data of the one that is written, and then with the new data:
//                   from P, Q and the old data where all of them match their entries; else from the other strips
//
// Parity is computed from strips that match their entries alone. Where that is impossible the data is written and parity is poisoned; but while more disks of
// the line do not answer than there are parities, nothing is written, because what they hold gives the other strips later.

/// <summary>Writes a space with parity.</summary>
internal sealed class ParityWrites(EngineParts parts, ParityStrips strips, ParityCommits commits)
{
    private const int BlockSize = SpaceShape.BlockSize;
    private const int LinesMax = 64 << 10;   // bytes of a strip that one read-modify-write covers

    /// <summary>Most bytes of a strip that are written at once: all strips of these lines are in memory, and in the record memory.</summary>
    private const int StripMax = 256 << 10;

    private readonly SpaceShape _shape = parts.Space.Shape;
    private readonly ParityLayout _layout = (ParityLayout)parts.Space.Layout;
    private readonly IntegrityStore _integrity = parts.Integrity;

    /// <summary>Most bytes of a strip that a recorded change covers.</summary>
    internal int RecordedMax => Math.Min(Math.Min(LinesMax, commits.StripMax), RecordMemoryMax);

    /// <summary>Most bytes of a strip of which all writes can be recorded at once.</summary>
    private int RecordMemoryMax => (int)Math.Min(StripMax, (long)parts.Records.BlocksMax / _shape.Columns * BlockSize);

    internal async LaneTask<IoError> Write(SpaceRow row, StripPiece piece, IoBuffer source)
    {
        IoError error = IoError.None;
        if (_layout.IsStripes(piece))
        {
            int stripe = _shape.DataColumns * _shape.Interleave;
            for (int at = 0; at < piece.Length && error == IoError.None; at += stripe)
            {
                error = await WriteStripe(row, piece.SlabOffset + (at / _shape.DataColumns), source.Slice(at, stripe));
            }

            return error;
        }

        for (int at = 0; at < piece.Length && error == IoError.None; at += RecordedMax)
        {
            int length = Math.Min(RecordedMax, piece.Length - at);
            StripPiece part = piece with { SlabOffset = piece.SlabOffset + at, Length = length };
            error = await WritePart(row, part, source.Slice(at, length));
        }

        return error;
    }

    /// <summary>Fills a strip with new data and P and Q with the parity of the line; false where nothing gives the parity of the other strips.</summary>
    internal async LaneTask<bool> TakeNew(ParityStretch lines, int strip, IoBuffer source)
    {
        bool isOld = await strips.ReadOwn(lines, strip);
        bool isParity = isOld;
        for (int parity = lines.DataStrips; parity < lines.Strips && isParity; parity++)
        {
            isParity = !lines.HasMark(parity) && await strips.ReadOwn(lines, parity);
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

    private async LaneTask<IoError> WriteStripe(SpaceRow row, int slabOffset, IoBuffer source)
    {
        IoError error = IoError.None;
        for (int within = 0; within < _shape.Interleave && error == IoError.None;)
        {
            // Where a position is out the lines are recorded, so fewer of them are written at once.
            int length = Math.Min(strips.AreAllIn(row, slabOffset) ? RecordMemoryMax : RecordedMax, _shape.Interleave - within);
            error = await WriteStripeLines(row, slabOffset + within, source, within, length);
            within += length;
        }

        parts.Space.Counters.Parity.NoteWhole(1);
        return error;
    }

    private async LaneTask<IoError> WriteStripeLines(SpaceRow row, int slabOffset, IoBuffer source, int within, int length)
    {
        ParityStretch lines = strips.Rent();
        IoError error = await lines.Begin(row, slabOffset, length, _integrity);
        if (error != IoError.None)
        {
            return error;
        }

        for (int strip = 0; strip < lines.DataStrips; strip++)
        {
            source.Slice((strip * _shape.Interleave) + within, lines.Length).Span.CopyTo(lines[strip].Span);
        }

        ParityMath.Fastest.Compute(lines.Data, lines.P, lines.Q);
        return await commits.Commit(lines, new ParityChange(lines.AllStrips));
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
        error = await commits.Settle(lines);
        bool hasParity = error == IoError.None && await TakeNew(lines, strip, source);
        if (error != IoError.None || (!hasParity && piece.Length > BlockSize))
        {
            strips.Return(lines);
            for (int at = 0; at < piece.Length && error == IoError.None; at += BlockSize)
            {
                error = await WritePart(row, piece with { SlabOffset = piece.SlabOffset + at, Length = BlockSize }, source.Slice(at, BlockSize));
            }

            return error;
        }

        if (!hasParity)
        {
            if (!await strips.IsFinal(lines))
            {
                strips.Return(lines);
                return IoError.Io;
            }

            source.Span.CopyTo(lines[strip].Span);   // it may have been read again
        }

        parts.Space.Counters.Parity.NotePartial();
        ulong written = 1UL << strip;
        return await commits.Commit(
            lines, hasParity ? new ParityChange(written | lines.ParityStrips) : new ParityChange(written, Poisoned: lines.ParityStrips));
    }
}
