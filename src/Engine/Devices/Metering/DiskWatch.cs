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

/// <summary>Looks at the requests in flight of the disks of one lane, four times a second.</summary>
public sealed class DiskWatch(ILane lane, IoDeadlines? deadlines = null)
{
    /// <summary>Length of a tick: how exactly deadlines are kept.</summary>
    internal const long TickNs = 250_000_000;

    private readonly List<MeteredDisk> _disks = [];
    private readonly int _patienceTicks = Ticks((deadlines ?? IoDeadlines.Default).PatienceNs);
    private readonly int _stallTicks = Ticks((deadlines ?? IoDeadlines.Default).StallNs);
    private bool _isRunning;

    /// <summary>Ticks so far.</summary>
    internal int Tick { get; private set; }

    internal void Add(MeteredDisk disk) => _disks.Add(disk);

    internal void Remove(MeteredDisk disk) => _disks.Remove(disk);

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

        foreach (MeteredDisk other in _disks.ToArray())
        {
            if (other != waiting && !other.HasLive)
            {
                other.Probe().Forget();
            }
        }
    }

    private bool HasAnswered(MeteredDisk waiting, int begun) => _disks.Exists(other => other != waiting && other.AnsweredTick > begun);

    private static int Ticks(long nanoseconds) => (int)Math.Clamp((nanoseconds + TickNs - 1) / TickNs, 1, int.MaxValue / 2);

    private async LaneTask Run()
    {
        while (_disks.Exists(static disk => disk.HasLive))
        {
            await lane.Delay(TickNs);
            Tick++;
            for (int i = _disks.Count - 1; i >= 0; i = Math.Min(i, _disks.Count) - 1)
            {
                AskOthers(_disks[i]);
                _disks[i].FailOverdue();
            }
        }

        _isRunning = false;
    }
}
