using TierSpaces.Engine.Lanes;
using TierSpaces.Engine.Primitives;

namespace TierSpaces.Engine.Caching;

// Invariants
//  1. A reader of the ring ends once, in the grace period in which it began.
//  2. Space of the ring, or a former place of a copy, is used again only after the readers that began before have ended.

/// <summary>Reads of the ring under way.</summary>
internal sealed class RingReaders(ILane lane)
{
    private const long PollNs = 50_000;

    private readonly int[] _readers = new int[2];   // under way, by the grace period they began in
    private int _period;

    /// <summary>Begins a read: what the index names now stays readable until <see cref="Leave"/>.</summary>
    internal int Enter()
    {
        _readers[_period]++;
        return _period;
    }

    internal void Leave(int period)
    {
        _readers[period]--;
        Invariant.That(_readers[period] >= 0, "A reader of the ring ends once, in the grace period in which it began.");
    }

    /// <summary>Completes when every read that may have seen what was forgotten before has ended.</summary>
    internal async LaneTask<Nothing> DrainReaders()
    {
        int period = _period;
        _period = 1 - period;
        while (_readers[period] > 0)
        {
            await lane.Delay(PollNs);
        }

        return default;
    }
}
