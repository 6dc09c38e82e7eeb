using TierSpaces.Engine.Formats;
using TierSpaces.Engine.Lanes;

namespace TierSpaces.Engine.Caching;

// Invariants
//  1. From the start mark on destaging goes on until the stop mark, whatever writes come meanwhile. A hold that is set ends it below its own start mark.
//  2. A time of day up to which writes are held counts once a day; from then on destaging goes on until the ring is empty.

/// <summary>Decides when destaging runs: by the fill of the ring, the time without writes, the time of day, and requests that wait.</summary>
internal sealed class DestageGoal(CacheContext cache, Func<int> minuteOfDay, DestageSettings settings)
{
    private const int HoldStartPercent = 80;

    private readonly ILane _lane = cache.Lane;
    private readonly CacheStatus _status = cache.Status;
    private bool _isAboveStart;      // from the start mark until the stop mark
    private int _heldMinute = -1;    // minute of the day that was looked at last
    private bool _isHoldTime;        // the time up to which writes are held has come

    /// <summary>Settings that control when destaging runs, and how fast.</summary>
    internal DestageSettings Settings => settings;

    /// <summary>Takes other settings, which take effect at once.</summary>
    internal void TakeSettings(DestageSettings other)
    {
        _isAboveStart &= settings.Hold || !other.Hold;
        settings = other;
    }

    /// <summary>Returns how many blocks of the ring may stay in use for now.</summary>
    internal long Of(CacheRing ring)
    {
        if (_status.IsDraining || _status.State == WriteCacheState.Retiring || HoldTimeCame(ring))
        {
            return 0;
        }

        int start = Settings.Hold ? HoldStartPercent : Settings.StartPercent;
        long stop = Settings.StopPercent * ring.Length / 100;
        _isAboveStart = _isAboveStart ? ring.Used > stop : ring.Used * 100 >= start * ring.Length;
        bool isIdle = !Settings.Hold && _lane.NowNs - _status.LastWriteNs >= Settings.IdleNs;
        return isIdle ? 0 : _status.Waiting > 0 ? Math.Min(stop, ring.Used - 1) : _isAboveStart ? stop : long.MaxValue;
    }

    private bool HoldTimeCame(CacheRing ring)
    {
        if (!Settings.Hold || Settings.HoldUntil < 0)
        {
            _isHoldTime = false;
            return false;
        }

        int minute = minuteOfDay();
        _isHoldTime |= minute == Settings.HoldUntil && _heldMinute != minute;
        _isHoldTime &= ring.Used > 0;
        _heldMinute = minute;
        return _isHoldTime;
    }
}
