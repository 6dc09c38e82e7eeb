using TierSpaces.Engine.Lanes;
using TierSpaces.Engine.Pools;
using TierSpaces.Engine.Primitives;
using TierSpaces.Engine.Resiliency;

namespace TierSpaces.Engine.Caching;

// Destaging shares the disks of the backing store with clients as jobs do, by WorkPauses. Clients are those whose requests reach disks slower than flash;
// writes that a cache takes are none. The share rises with the fill of the ring, so that a load that the disks can carry does not fill it.
//
// Invariants
//  1. Destaging does not pause while a request waits for space, or while the ring is to be emptied: closed, drained, given up. A pause ends when that begins.
//  2. From FullPercent on destaging does not yield to clients.

/// <summary>Keeps destaging to its share of the disks while clients use them, and to the rate that is set.</summary>
internal sealed class DestagePace(CacheContext cache, DestageGoal goal, ServingRing serving, PoolLoad load) : IWorkPacer
{
    private const long PollNs = 20_000_000;
    private const int SharePercentMin = 22;
    private const int RisesFromPercent = 50;   // fill of the ring
    private const int FullPercent = 90;
    private const int GroupsPerSecond = 20;    // while a rate is set

    private readonly ILane _lane = cache.Lane;
    private readonly CacheStatus _status = cache.Status;
    private readonly WorkPauses _pauses = new(() => load.OnSlowDisks, () => load.Working);
    private long _workSinceNs;
    private bool _isWorking;

    /// <inheritdoc/>
    public bool IsYielding => !IsUrgent && (goal.Settings.BytesPerSecond > 0 || (Share < 100 && _pauses.IsYielding));

    /// <summary>Most bytes that are begun at once.</summary>
    internal long BytesMax => goal.Settings.BytesPerSecond is > 0 and var rate ? rate / GroupsPerSecond : long.MaxValue;

    private bool IsUrgent => _status.IsClosing || _status.Waiting > 0 || _status.IsDraining || _status.State != WriteCacheState.Active;

    /// <summary>Percent of the time that destaging has beside clients, by the fill of the ring.</summary>
    private int Share
    {
        get
        {
            long fill = serving.Records is { } ring ? ring.Used * 100 / ring.Length : 100;
            long above = Math.Clamp(fill - RisesFromPercent, 0, FullPercent - RisesFromPercent);
            return (int)(SharePercentMin + (above * (100 - SharePercentMin) / (FullPercent - RisesFromPercent)));
        }
    }

    /// <summary>A round begins.</summary>
    internal void Begin()
    {
        if (!_isWorking)
        {
            _isWorking = true;
            load.BeginWork();
            _pauses.Look();
            _workSinceNs = _lane.NowNs;
        }
    }

    /// <summary>No round follows for now.</summary>
    internal void End()
    {
        if (_isWorking)
        {
            _isWorking = false;
            load.EndWork();
        }
    }

    /// <inheritdoc/>
    public async LaneTask<bool> Done(long bytes)
    {
        long nowNs = _lane.NowNs;
        (long sinceNs, long elapsedNs) = (nowNs, nowNs - _workSinceNs);
        _pauses.Look();
        while (!IsUrgent && sinceNs + PauseNs(bytes, elapsedNs) is var untilNs && untilNs > nowNs)
        {
            await _lane.Delay(Math.Min(untilNs - nowNs, PollNs));
            nowNs = _lane.NowNs;
        }

        _workSinceNs = nowNs;
        return !_status.IsClosing;
    }

    private long PauseNs(long bytes, long elapsedNs) => Math.Max(
        Share < 100 ? _pauses.YieldNs(elapsedNs, Share) : 0, WorkPauses.RateNs(bytes, elapsedNs, goal.Settings.BytesPerSecond));
}
