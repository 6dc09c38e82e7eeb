using TierSpaces.Engine.Lanes;
using TierSpaces.Engine.Primitives;

namespace TierSpaces.Engine.Jobs;

/// <summary>Limits on the share of the machine that jobs may use.</summary>
public sealed record JobPacing
{
    /// <summary>Percent of the time that all jobs of a pool together spend on its disks while clients use them, 1 to 100.</summary>
    public int SharePercent { get; init; } = 10;

    /// <summary>Most bytes a job goes through in a second; 0 sets no bound.</summary>
    public long BytesPerSecondMax { get; init; }
}

/// <summary>
/// Holds a job back between its pieces. While clients are at work a piece that took t is followed by a pause of nine t (with a share
/// of 10 %), so that the disks are theirs nine tenths of the time; while they are not, the job runs without a pause. The lane that a piece runs on pauses
/// within the piece, the lane of the job between two pieces: one at a time.
/// </summary>
/// <param name="lane">Lane of the job.</param>
/// <param name="pacing">Limits.</param>
/// <param name="foreground">Requests of clients completed so far and under way now, over the whole pool; called on any lane.</param>
/// <param name="running">Jobs that share the limits now, this one included; called on any lane.</param>
public sealed class JobPacer(ILane lane, JobPacing pacing, Func<(long Completed, int UnderWay)> foreground, Func<int> running)
{
    private const long PauseNsMax = 10_000_000_000;   // a piece that a hung disk held up does not stop the job for hours

    private long _completed = -1;
    private bool _wasBusy;   // at the last pause

    /// <summary>Pauses due to clients so far, in nanoseconds.</summary>
    public long YieldedNs { get; private set; }

    /// <summary>Whether clients were at work at the last pause, or are now.</summary>
    public bool IsYielding => _wasBusy || foreground().UnderWay > 0;

    /// <summary>Completes when the next piece may begin.</summary>
    /// <param name="bytes">Bytes the last piece went through.</param>
    /// <param name="elapsedNs">Duration of the last piece.</param>
    /// <param name="on">Lane of the caller; null: that of the job.</param>
    public LaneTask Pause(long bytes, long elapsedNs, ILane? on = null)
    {
        (long completed, int underWay) = foreground();
        bool isBusy = underWay > 0 || (_completed >= 0 && completed != _completed);
        _completed = completed;
        _wasBusy = isBusy;
        long share = Math.Clamp(pacing.SharePercent / Math.Max(1, running()), 1, 100);
        long yielded = isBusy ? Math.Min(PauseNsMax, elapsedNs * (100 - share) / share) : 0;
        YieldedNs += yielded;
        long byRate = pacing.BytesPerSecondMax > 0 ? (long)(bytes * 1e9 / pacing.BytesPerSecondMax) - elapsedNs : 0;
        long wait = Math.Max(yielded, byRate);
        ILane caller = on ?? lane;
        return wait > 0 ? caller.Delay(wait) : caller.Yield();
    }
}
