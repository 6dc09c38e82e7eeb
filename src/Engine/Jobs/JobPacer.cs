using TierSpaces.Engine.Lanes;
using TierSpaces.Engine.Primitives;
using TierSpaces.Engine.Resiliency;

namespace TierSpaces.Engine.Jobs;

/// <summary>Limits on the share of the machine that jobs may use.</summary>
public sealed record JobPacing
{
    /// <summary>Percent of the time that all jobs of a pool together spend on its disks while clients use them, 1 to 100.</summary>
    public int SharePercent { get; init; } = 10;

    /// <summary>Pieces of a job that are in flight together while clients use the disks, followed by one pause; at least 1.</summary>
    public int Burst { get; init; } = 1;

    /// <summary>Most bytes a job goes through in a second; 0 sets no bound.</summary>
    public long BytesPerSecondMax { get; init; }
}

/// <summary>
/// Holds a job back between its pieces, by <see cref="WorkPauses"/>: with a share of 10 % a piece that took t is followed by a pause of nine t while clients
/// are at work. The lane that a piece runs on pauses within the piece, the lane of the job between two pieces: one at a time.
/// </summary>
/// <param name="lane">Lane of the job.</param>
/// <param name="pacing">Limits as they are now; called on any lane.</param>
/// <param name="foreground">Requests of clients completed so far and under way now, over the whole pool; called on any lane.</param>
/// <param name="running">Jobs that share the limits now, this one included; called on any lane.</param>
/// <param name="latency">Holds it back further for the latency of clients; null: nothing does.</param>
public sealed class JobPacer(
    ILane lane, Func<JobPacing> pacing, Func<(long Completed, int UnderWay)> foreground, Func<int> running, LatencyHold? latency = null)
{
    private readonly WorkPauses _pauses = new(foreground, running);

    /// <summary>Pauses due to clients so far, in nanoseconds.</summary>
    public long YieldedNs { get; private set; }

    /// <summary>Whether clients were at work at the last pause, or are now.</summary>
    public bool IsYielding => _pauses.IsYielding;

    /// <summary>Pieces in flight together while clients are at work.</summary>
    public int Burst => pacing().Burst;

    /// <summary>Completes when the next piece may begin.</summary>
    /// <param name="bytes">Bytes the last piece went through.</param>
    /// <param name="elapsedNs">Duration of the last piece.</param>
    /// <param name="on">Lane of the caller; null: that of the job.</param>
    public LaneTask Pause(long bytes, long elapsedNs, ILane? on = null)
    {
        JobPacing limits = pacing();
        _pauses.Look();
        long yielded = _pauses.YieldNs(elapsedNs, limits.SharePercent);
        YieldedNs += yielded;
        long wait = Math.Max(yielded, WorkPauses.RateNs(bytes, elapsedNs, limits.BytesPerSecondMax));
        ILane caller = on ?? lane;
        LaneTask pause = wait > 0 ? caller.Delay(wait) : caller.Yield();
        return latency is null ? pause : Hold(pause, latency, caller);
    }

    private async LaneTask Hold(LaneTask pause, LatencyHold hold, ILane caller)
    {
        await pause;
        YieldedNs += await hold.Wait(caller);
    }
}
