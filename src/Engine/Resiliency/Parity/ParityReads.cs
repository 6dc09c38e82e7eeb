using TierSpaces.Engine.Formats;
using TierSpaces.Engine.Primitives;
using TierSpaces.Engine.Resiliency.Layouts;

namespace TierSpaces.Engine.Resiliency;

// A read without the lock takes each strip from its own position and judges it. A strip that does not match, or is out, is read again under the lock, where
// other strips may be read for it.
//
// Lines with a change that has failed half way agree with neither their old nor their new entries: it is done again first. Until it can be, only what matches
// its own entries is given, and nothing counts as lost.

/// <summary>Reads a space with parity.</summary>
internal sealed class ParityReads(EngineParts parts, ParityStrips strips, ParityCommits commits)
{
    private const int BlockSize = SpaceShape.BlockSize;

    private readonly SpaceShape _shape = parts.Space.Shape;
    private readonly ParityLayout _layout = (ParityLayout)parts.Space.Layout;
    private readonly IntegrityStore _integrity = parts.Integrity;
    private readonly SpaceMembers _members = parts.Space.Members;

    /// <summary>Reads a piece, each strip from its position.</summary>
    internal LaneTask<IoError> Read(SpaceRow row, StripPiece piece, IoBuffer target) =>
        _layout.IsStripes(piece) ? ReadStripes(row, piece, target) : ReadStrip(row, piece, target);

    /// <summary>Reads a piece under its lock, from other strips where it must be, and heals what is wrong.</summary>
    internal LaneTask<IoError> ReadLocked(SpaceRow row, StripPiece piece, IoBuffer target) =>
        _layout.IsStripes(piece) ? ReadStripesLocked(row, piece, target) : GiveStrip(row, piece, target);

    private async LaneTask<IoError> ReadStripesLocked(SpaceRow row, StripPiece piece, IoBuffer target)
    {
        int stripe = _shape.DataColumns * _shape.Interleave;
        WaitGroup group = WaitGroup.Rent();
        for (int at = 0; at < piece.Length; at += stripe)
        {
            group.Add(GiveStripe(row, piece.SlabOffset + (at / _shape.DataColumns), target.Slice(at, stripe)));
        }

        return await group.Wait();
    }

    /// <summary>Fills a whole stripe: one that is out is rebuilt from what is read for the others. If something is damaged, strip by strip.</summary>
    private async LaneTask<IoError> GiveStripe(SpaceRow row, int slabOffset, IoBuffer target)
    {
        ParityStretch lines = strips.Rent();
        IoError error = await lines.Begin(row, slabOffset, _shape.Interleave, _integrity);
        if (error != IoError.None)
        {
            return error;
        }

        error = await commits.Settle(lines);
        if (error == IoError.None)
        {
            await strips.ReadOthers(lines, strips.FirstOut(lines));
        }

        for (int strip = 0; strip < lines.DataStrips && error == IoError.None; strip++)
        {
            bool isSound = !lines.HasPoison(strip) && (lines.IsHeld(strip) || (!strips.IsIn(lines, strip) && await strips.Rebuild(lines, strip)));
            error = isSound ? IoError.None : IoError.Io;
            lines[strip].Span.CopyTo(target.Slice(strip * _shape.Interleave, _shape.Interleave).Span);
        }

        strips.Return(lines);
        return error == IoError.None ? error : await GiveStrips(row, slabOffset, target);
    }

    private async LaneTask<IoError> GiveStrips(SpaceRow row, int slabOffset, IoBuffer target)
    {
        IoError error = IoError.None;
        for (int strip = 0; strip < _shape.DataColumns; strip++)
        {
            int column = _layout.DataColumn(slabOffset / _shape.Interleave, strip);
            StripPiece piece = new(row.Index, column, slabOffset, _shape.Interleave);
            IoError read = await GiveStrip(row, piece, target.Slice(strip * _shape.Interleave, _shape.Interleave));
            error = error == IoError.None ? read : error;
        }

        return error;
    }

    /// <summary>Returns the parts of strips that a piece consists of, and where each is in its data.</summary>
    internal IEnumerable<(StripPiece Strip, int At)> StripsOf(StripPiece piece)
    {
        if (!_layout.IsStripes(piece))
        {
            yield return (piece, 0);
            yield break;
        }

        for (int at = 0; at < piece.Length; at += _shape.Interleave)
        {
            int strip = at / _shape.Interleave;
            int slabOffset = piece.SlabOffset + (strip / _shape.DataColumns * _shape.Interleave);
            int column = _layout.DataColumn(slabOffset / _shape.Interleave, strip % _shape.DataColumns);
            yield return (new StripPiece(piece.Row, column, slabOffset, _shape.Interleave), at);
        }
    }

    private async LaneTask<IoError> ReadStripes(SpaceRow row, StripPiece piece, IoBuffer target)
    {
        if (IsDataOut(row, piece.SlabOffset / _shape.Interleave, piece.Length / _shape.Interleave / _shape.DataColumns))
        {
            return ILayoutEngine.Doubtful;   // under the lock each strip is read once, for itself and for the one that is out
        }

        WaitGroup group = WaitGroup.Rent();
        for (int at = 0; at < piece.Length; at += _shape.Interleave)
        {
            int strip = at / _shape.Interleave;
            int slabOffset = piece.SlabOffset + (strip / _shape.DataColumns * _shape.Interleave);
            int column = _layout.DataColumn(slabOffset / _shape.Interleave, strip % _shape.DataColumns);
            group.Add(ReadStrip(row, new StripPiece(piece.Row, column, slabOffset, _shape.Interleave), target.Slice(at, _shape.Interleave)));
        }

        return await group.Wait();
    }

    /// <summary>Whether a strip of data of some stripes is out.</summary>
    private bool IsDataOut(SpaceRow row, int first, int count)
    {
        bool isOut = false;
        for (int strip = 0; strip < count * _shape.DataColumns && !isOut; strip++)
        {
            int stripe = first + (strip / _shape.DataColumns);
            isOut = !strips.IsIn(row, _layout.DataColumn(stripe, strip % _shape.DataColumns), stripe * _shape.Interleave);
        }

        return isOut;
    }

    private async LaneTask<IoError> ReadStrip(SpaceRow row, StripPiece piece, IoBuffer target)
    {
        if ((_integrity.Find(row, piece) ?? await _integrity.Load(row, piece)) is not { } page)
        {
            return IoError.Io;
        }

        page.Pin();
        int first = _integrity.FirstBlock(piece);
        page.PrefetchEntry(first);
        IoError error = IoError.None;
        if (!strips.IsReadable(row, piece.SlabOffset))
        {
            error = ILayoutEngine.Doubtful;
        }
        else if (page.IsNeverWritten(first, piece.Length / BlockSize))
        {
            target.Span.Clear();
        }
        else if (!strips.IsIn(row, piece.Column, piece.SlabOffset))
        {
            error = ILayoutEngine.Doubtful;
        }
        else
        {
            SlabPlace place = row.Places[piece.Column];
            parts.Space.Counters.Io.NoteRead(target.Length);
            error = await _members.Read(place.Disk, place.DataOffset + piece.SlabOffset, target);
            error = error == IoError.None && page.Verify(first, target) ? IoError.None : ILayoutEngine.Doubtful;
        }

        page.Unpin();
        return error;
    }

    /// <summary>Fills a part of a strip; where something is damaged, line by line.</summary>
    private async LaneTask<IoError> GiveStrip(SpaceRow row, StripPiece piece, IoBuffer target)
    {
        IoError error = await GiveLines(row, piece, target);
        if (error == IoError.None || piece.Length == BlockSize)
        {
            return error;
        }

        error = IoError.None;
        for (int at = 0; at < piece.Length; at += BlockSize)
        {
            IoError read = await GiveLines(row, piece with { SlabOffset = piece.SlabOffset + at, Length = BlockSize }, target.Slice(at, BlockSize));
            error = error == IoError.None ? read : error;
        }

        return error;
    }

    private async LaneTask<IoError> GiveLines(SpaceRow row, StripPiece piece, IoBuffer target)
    {
        ParityStretch lines = strips.Rent();
        IoError error = await lines.Begin(row, piece.SlabOffset, piece.Length, _integrity);
        if (error != IoError.None)
        {
            return error;
        }

        int strip = lines.StripOf(piece.Column);
        bool isSettled = await commits.Settle(lines) == IoError.None;
        bool isOwn = await strips.ReadOwn(lines, strip);
        bool isGiven = isOwn || (isSettled && await strips.Rebuild(lines, strip));
        if (isGiven && !isOwn && isSettled && strips.IsReadable(row, piece.SlabOffset))
        {
            await strips.Heal(lines, strip);
        }

        isGiven &= !lines.HasPoison(strip);
        lines[strip].Span.CopyTo(target.Span);
        bool isBad = !isGiven && isSettled && piece.Length == BlockSize && lines.Entry(strip, 0) != ChecksumSector.Poisoned;
        if (isBad && await strips.IsFinal(lines))
        {
            strips.MarkLost(lines, strip);
        }
        else if (isGiven)
        {
            strips.Prove(lines, strip);
        }

        strips.Return(lines);
        if (isBad && parts.Changes.HasMarks)
        {
            await parts.Flusher.Flush();   // before the error is answered
        }

        return isGiven ? IoError.None : IoError.Io;
    }
}
