using TierSpaces.Engine.Lanes;
using TierSpaces.Engine.Primitives;

namespace TierSpaces.Engine.Resiliency;

// The reads of a space that wait for one copy while another could answer.
//
// One timer looks at them while there are any. A read that has waited for the hedge delay is overdue: another copy is asked
// into memory of its own. When that answers first, the caller finds its data there (BufferPool.Settle); the memory of the
// first read stays with the device until it lets go.
//
// The delay adapts: a hedge that turned out useless (the first copy answered before it) doubles it, so that two copies that
// are both just busy do not get twice the load; one that helped brings it back.
//
// Invariants
//  1. A hedge is asked at most once per read, and only of a copy on a disk without overdue reads.
//  2. The answer of another copy is judged before it counts.

/// <summary>Watches the reads of a space and hedges those that take too long.</summary>
internal sealed class SpaceHedges(ILane lane, long afterNs, SpaceMembers members, Func<HedgedRead, int> otherCopy,
    Func<HedgedRead, int, IoBuffer, LaneTask<bool>> readOther)
{
    /// <summary>Answer of a read whose data is in other memory, judged already.</summary>
    internal const IoError Displaced = (IoError)(-1);

    private const int TicksPerDelay = 5;
    private const int DelayTicksMax = TicksPerDelay * 8;

    private readonly Stack<HedgedRead> _free = new();
    private readonly long _tickNs = Math.Max(1, afterNs / TicksPerDelay);
    private FollowerList<HedgedRead> _inFlight;   // in order of submission
    private int _tick;
    private int _delayTicks = TicksPerDelay;
    private bool _isRunning;

    internal BufferPool Buffers => lane.Buffers;

    /// <summary>Reads that another copy was asked for.</summary>
    internal long Asked { get; private set; }

    /// <summary>Reads that another copy answered.</summary>
    internal long Won { get; private set; }

    internal HedgedRead Rent() => _free.Count > 0 ? _free.Pop() : new HedgedRead(this);

    internal void Return(HedgedRead read) => _free.Push(read);

    /// <summary>Takes a read that has not ended on the list.</summary>
    internal int Link(HedgedRead read)
    {
        _inFlight.Add(read);
        if (!_isRunning)
        {
            _isRunning = true;
            Watch().Forget();
        }

        return _tick;
    }

    /// <summary>The first copy has answered, before or after another one.</summary>
    internal void Ended(HedgedRead read, IoError error, bool hasAnswered)
    {
        if (!read.IsHedged)
        {
            _inFlight.Remove(read);
            return;
        }

        members.NoteOverdue(read.Disk, -1);
        if (!hasAnswered && error == IoError.None)
        {
            _delayTicks = Math.Min(_delayTicks * 2, DelayTicksMax);
        }
    }

    private async LaneTask Watch()
    {
        while (_inFlight.Oldest is not null)
        {
            await lane.Delay(_tickNs);
            _tick++;
            HedgeOverdue();
        }

        _isRunning = false;
    }

    private void HedgeOverdue()
    {
        // From the start each time: asking another copy may end reads, and begin new ones.
        while (FindOverdue() is (var read, var other))
        {
            _inFlight.Remove(read);
            read.Hedge();
            members.NoteOverdue(read.Disk, 1);
            Hedge(read, other).Forget();
        }
    }

    private (HedgedRead Read, int Other)? FindOverdue()
    {
        for (HedgedRead? read = _inFlight.Oldest; read is not null && _tick - read.StartTick > _delayTicks; read = FollowerList<HedgedRead>.After(read))
        {
            if (otherCopy(read) is >= 0 and var other)
            {
                return (read, other);
            }
        }

        return null;
    }

    private async LaneTask Hedge(HedgedRead read, int other)
    {
        Asked++;
        long use = read.Use;
        IoBuffer answer = lane.Buffers.Rent(read.Target.Length);
        bool isGood = await readOther(read, other, answer);
        if (isGood && read.Use == use && read.IsWaiting)
        {
            Won++;
            _delayTicks = Math.Max(TicksPerDelay, _delayTicks - 1);
            read.Answer(answer);
        }
        else
        {
            lane.Buffers.Return(answer);
        }
    }
}
