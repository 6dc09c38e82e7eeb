using TierSpaces.Engine.Primitives;
using TierSpaces.Engine.Resiliency.Layouts;

namespace TierSpaces.Engine.Resiliency;

// Reads of copies that do not answer: asked elsewhere after the hedge delay, and after the deadline.
public sealed partial class Space
{
    private readonly SpaceHedges _hedges;

    /// <summary>Reads that another copy was asked for because the first one took too long.</summary>
    public long HedgesAsked => _hedges.Asked;

    /// <summary>Reads that were answered by the other copy.</summary>
    public long HedgesWon => _hedges.Won;

    /// <summary>Reads a copy; when it does not answer soon, another one too: then the result may be <see cref="SpaceHedges.Displaced"/>.</summary>
    private LaneTask<IoError> ReadHedged(SpaceRow row, StripPiece piece, ChecksumPage? page, int copy, IoBuffer target)
    {
        LaneTask<IoError> read = ReadCopy(row, piece, copy, target);
        if (_shape.Copies == 1 || !target.MayBeKept || read.IsCompleted)
        {
            return read;
        }

        HedgedRead hedged = _hedges.Rent();
        return hedged.Begin(row, piece, page, copy, target, _hedges.Link(hedged), read);
    }

    /// <summary>Another copy for an overdue read: readable, and on a disk that answers. −1: none.</summary>
    private int OtherCopy(HedgedRead read)
    {
        for (int copy = 0; copy < _shape.Copies; copy++)
        {
            if (copy != read.Copy && IsReadable(read.Row, read.Piece, copy) && !_members.HasOverdue(read.Row.Place(read.Piece.Column, copy).Disk))
            {
                return copy;
            }
        }

        return -1;
    }

    private async LaneTask<bool> ReadOther(HedgedRead read, int copy, IoBuffer answer)
    {
        (SpaceRow row, StripPiece piece, ChecksumPage? page) = (read.Row, read.Piece, read.Page);
        int turn = row.Enter();   // the read itself may end meanwhile
        if (page is not null)
        {
            page.Pins++;
        }

        IoError error = await ReadCopy(row, piece, copy, answer);
        bool isGood = error == IoError.None && (page is null || Verify(page, FirstBlock(piece), answer));
        if (page is not null)
        {
            page.Pins--;
        }

        row.Leave(turn);
        return isGood;
    }

    /// <summary>The first copy passed its deadline and keeps the memory it was given: the others are read into memory of their own.</summary>
    private async LaneTask<IoError> ReadElsewhere(SpaceRow row, StripPiece piece, IoBuffer target)
    {
        IoBuffer answer = _lane.Buffers.Rent(target.Length);
        IoError error = _shape.Checksums ? await ReadAgain(row, piece, answer) : await ReadOtherCopies(row, piece, -1, answer);
        if (error == IoError.None)
        {
            _lane.Buffers.Displace(target, answer);
        }
        else
        {
            _lane.Buffers.Return(answer);
        }

        return error;
    }
}
