using TierSpaces.Engine.Lanes;
using TierSpaces.Engine.Primitives;

namespace TierSpaces.Engine.Caching;

/// <summary>Keeps destaging to the rate that is set, unless requests wait for space or the cache empties itself.</summary>
internal sealed class DestagePace(ILane lane, CacheStatus status, DestageGoal goal)
{
    private const long PollNs = 20_000_000;

    private long _nextNs;   // when the next run may begin

    /// <summary>Waits until so many bytes may be written to the backing store.</summary>
    internal async LaneTask<Nothing> Wait(int bytes)
    {
        long rate = goal.Settings.BytesPerSecond;
        if (rate <= 0)
        {
            _nextNs = 0;
            return default;
        }

        long now = lane.NowNs;
        _nextNs = Math.Max(_nextNs, now);
        while (_nextNs > now && !status.IsClosing && status.Waiting == 0 && !status.IsDraining && status.State == WriteCacheState.Active)
        {
            await lane.Delay(Math.Min(_nextNs - now, PollNs));
            now = lane.NowNs;
        }

        _nextNs += (long)(bytes * 1e9 / rate);
        return default;
    }
}
