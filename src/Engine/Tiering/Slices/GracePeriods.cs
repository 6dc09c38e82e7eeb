using TierSpaces.Engine.Primitives;

namespace TierSpaces.Engine.Tiering;

// Each request that uses a place is counted in the grace period in which it began; there are two of them. A drain switches to the other period and
// waits until the former one is empty.
//
// Invariants
//  1. A request ends once, in the grace period in which it began.
//  2. One drain runs at a time: the other period is empty before requests begin in it.

/// <summary>Requests under way, without locks: a drain waits for those that began before it.</summary>
internal sealed class GracePeriods
{
    private readonly int[] _requests = new int[2];   // under way, by the grace period they began in
    private readonly LaneSignal _ended = new();      // a grace period has become empty, or a drain has ended
    private int _period;
    private bool _isDraining;

    /// <summary>Begins a request that uses a place. The result is for <see cref="Leave"/>.</summary>
    internal int Enter()
    {
        _requests[_period]++;
        return _period;
    }

    internal void Leave(int period)
    {
        int left = --_requests[period];
        Invariant.That(left >= 0, "A request ends once, in the grace period in which it began.");
        if (left == 0)
        {
            _ended.NotifyAll();
        }
    }

    /// <summary>Completes when every request that began before has ended.</summary>
    internal async LaneTask<Nothing> Drain()
    {
        while (_isDraining)
        {
            await _ended.Wait();
        }

        _isDraining = true;
        int before = _period;
        _period ^= 1;
        while (_requests[before] > 0)
        {
            await _ended.Wait();
        }

        _isDraining = false;
        _ended.NotifyAll();
        return default;
    }
}
