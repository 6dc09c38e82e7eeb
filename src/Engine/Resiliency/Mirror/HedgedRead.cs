using TierSpaces.Engine.Primitives;
using TierSpaces.Engine.Resiliency.Layouts;

namespace TierSpaces.Engine.Resiliency;

/// <summary>A read of one copy that is in flight; when it takes too long, another copy is asked and the first good answer wins.</summary>
internal sealed class HedgedRead(SpaceHedges hedges) : LinkedFollower
{
    internal SpaceRow Row { get; private set; } = null!;

    internal StripPiece Piece { get; private set; }

    /// <summary>Entries to judge the other copy by; null where there are none.</summary>
    internal ChecksumPage? Page { get; private set; }

    /// <summary>Copy that was asked first.</summary>
    internal int Copy { get; private set; }

    internal IoBuffer Target { get; private set; }

    internal int StartTick { get; private set; }

    /// <summary>Number of the use of this slot, so that a hedge that ends late knows its read.</summary>
    internal long Use { get; private set; }

    /// <summary>Whether another copy has been asked.</summary>
    internal bool IsHedged { get; private set; }

    /// <summary>Disk that the first copy was read from: the slab may have moved when it answers.</summary>
    internal int Disk { get; private set; }

    internal LaneTask<IoError> Begin(SpaceRow row, StripPiece piece, ChecksumPage? page, int copy, int disk, IoBuffer target, int tick, LaneTask<IoError> read)
    {
        (Row, Piece, Page, Copy, Disk, Target, StartTick, IsHedged) = (row, piece, page, copy, disk, target, tick, false);
        Use++;
        return Follow(read);
    }

    /// <summary>Another copy is asked.</summary>
    internal void Hedge() => IsHedged = true;

    /// <summary>Another copy has answered, into <paramref name="answer"/>; the first one keeps the memory it was given.</summary>
    internal void Answer(IoBuffer answer)
    {
        hedges.Buffers.Keep(Target);
        hedges.Buffers.Displace(Target, answer);
        AnswerEarly(SpaceHedges.Displaced);
    }

    protected override IoError OnEnded(IoError error)
    {
        hedges.Ended(this, error, HasAnswered);
        if (HasAnswered)
        {
            hedges.Buffers.LetGo(Target);
        }

        return error;
    }

    protected override void Free()
    {
        Use++;
        Row = null!;
        Page = null;
        hedges.Return(this);
    }
}
