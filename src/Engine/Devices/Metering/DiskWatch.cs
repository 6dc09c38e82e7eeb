using TierSpaces.Engine.Lanes;
using TierSpaces.Engine.Primitives;

namespace TierSpaces.Engine.Devices;

// The clock of all deadlines of a lane: one timer while anything is in flight, none per request.
//
// Age is counted in ticks that the lane has run, not in time: a process that was stopped for a minute finds its disks as it
// left them, and reads their answers before it judges them.
//
// A disk is blamed only if another disk completed a request in the same period. The other disks may be idle, because all clients wait for
// this one. So idle disks are probed, with a read of one block, once half of the time is over.
//
// This is judged over the disks of all lanes, see DiskWatches. Answers through other handles of the device that is judged are its own, so they do not count.
// Each disk has a count of its answers. At its own tick a watch looks which counts of disks of other lanes have moved (DistantAnswers), and it posts a request
// to the other lanes to probe their idle disks. Deadlines and ticks are of the lane: a lane that is late judges late.

/// <summary>Looks at the requests in flight of the disks of one lane, four times a second.</summary>
public sealed class DiskWatch
{
    /// <summary>Length of a tick: how exactly deadlines are kept.</summary>
    internal const long TickNs = 250_000_000;

    private readonly ILane _lane;
    private readonly DistantAnswers _distant;
    private readonly List<MeteredDisk> _disks = [];
    private readonly int _patienceTicks;
    private readonly int _stallTicks;
    private bool _isRunning;

    /// <summary>Watches disks of a lane, and their handles on other lanes by watches of those.</summary>
    public DiskWatch(ILane lane, IoDeadlines? deadlines = null)
        : this(lane, new DiskWatches(deadlines ?? IoDeadlines.Default))
    {
    }

    internal DiskWatch(ILane lane, DiskWatches all)
    {
        _lane = lane;
        All = all;
        _distant = new DistantAnswers(all, this);
        _patienceTicks = Ticks(all.Deadlines.PatienceNs);
        _stallTicks = Ticks(all.Deadlines.StallNs);
    }

    /// <summary>The disks of this and of other lanes.</summary>
    internal DiskWatches All { get; }

    /// <summary>Ticks so far.</summary>
    internal int Tick { get; private set; }

    internal void Add(MeteredDisk disk)
    {
        _disks.Add(disk);
        All.Add(disk);
    }

    internal void Remove(MeteredDisk disk)
    {
        _disks.Remove(disk);
        All.Remove(disk);
    }

    /// <summary>A request is in flight.</summary>
    internal void Wake()
    {
        if (!_isRunning)
        {
            _isRunning = true;
            Run().Forget();
        }
    }

    /// <summary>Whether a request of this disk has waited long enough.</summary>
    internal bool IsOverdue(MeteredDisk disk, MeteredRequest request)
    {
        (int age, int begun) = (Tick - request.StartTick, request.StartTick);
        return age >= _patienceTicks && (request.Operation == MemberOperation.Close || age >= _stallTicks || HasAnswered(disk, begun));
    }

    private void AskOthers(MeteredDisk waiting)
    {
        if (waiting.OldestTick is not { } begun || Tick - begun < _patienceTicks / 2 || HasAnswered(waiting, begun))
        {
            return;
        }

        ProbeIdle(waiting);
        AskOtherLanes(waiting);
    }

    // A method of its own: what a lambda captures is allocated where its method begins.
    private void AskOtherLanes(MeteredDisk waiting)
    {
        foreach (DiskWatch other in All.Disks.Select(static disk => disk.Watch).Where(watch => watch != this).Distinct())
        {
            LanePosts.TryPost(other._lane, () => other.ProbeIdle(waiting));
        }
    }

    private void ProbeIdle(MeteredDisk waiting)
    {
        foreach (MeteredDisk other in _disks.ToArray())
        {
            if (!other.IsSameDevice(waiting) && !other.HasLive)
            {
                other.Probe().Forget();
            }
        }
    }

    private bool HasAnswered(MeteredDisk waiting, int begun) =>
        _disks.Exists(other => other.AnsweredTick > begun && !other.IsSameDevice(waiting)) || _distant.HasAnswered(waiting, begun);

    private static int Ticks(long nanoseconds) => (int)Math.Clamp((nanoseconds + TickNs - 1) / TickNs, 1, int.MaxValue / 2);

    private async LaneTask Run()
    {
        while (_disks.Exists(static disk => disk.HasLive))
        {
            await _lane.Delay(TickNs);
            Tick++;
            _distant.Look(Tick);
            for (int i = _disks.Count - 1; i >= 0; i = Math.Min(i, _disks.Count) - 1)
            {
                AskOthers(_disks[i]);
                _disks[i].FailOverdue();
            }
        }

        _isRunning = false;
    }
}
