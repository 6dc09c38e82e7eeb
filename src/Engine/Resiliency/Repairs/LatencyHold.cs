using TierSpaces.Engine.Lanes;
using TierSpaces.Engine.Primitives;

namespace TierSpaces.Engine.Resiliency;

// Background work that keeps the mean latency of clients at or below a target. After each piece of it the requests that have completed since the piece
// began, and complete while it waits, are averaged; the next piece begins when their mean is at most the target. So a piece that made clients wait is
// followed by as many requests without it as make up for that, whatever the disks and the load are.
//
// Invariant
//  1. The mean over the requests that complete between the beginnings of two pieces is at most the target, unless the wait between them was ended by one of
//     the two limits: clients ask for nothing any more, or they are slower than the target by themselves.

/// <summary>Holds background work back while requests of clients take longer than a target on average.</summary>
/// <param name="clients">Requests completed so far and the sum of their latencies, in nanoseconds; called on any lane.</param>
/// <param name="targetNs">The mean latency to keep to, in nanoseconds, more than 0.</param>
public sealed class LatencyHold(Func<(long Completed, long LatencyNs)> clients, long targetNs)
{
    /// <summary>Longest wait, in nanoseconds: work goes on slowly where clients are slower than the target by themselves.</summary>
    public const long WaitNsMax = 10_000_000_000;

    /// <summary>Time without a completed request after which clients count as gone, in nanoseconds.</summary>
    public const long StillNs = 1_000_000_000;

    private const long PollNs = 5_000_000;

    private (long Completed, long LatencyNs) _since = clients();   // when the piece before began

    /// <summary>Completes when the next piece may begin; the result is the time waited, in nanoseconds.</summary>
    public async LaneTask<long> Wait(ILane lane)
    {
        (long beganNs, long lastNs) = (lane.NowNs, lane.NowNs);
        (long Completed, long LatencyNs) now = clients();
        while (IsAbove(now) && lane.NowNs - beganNs < WaitNsMax && lane.NowNs - lastNs < StillNs)
        {
            await lane.Delay(PollNs);
            (long Completed, long LatencyNs) next = clients();
            lastNs = next.Completed == now.Completed ? lastNs : lane.NowNs;
            now = next;
        }

        _since = now;
        return lane.NowNs - beganNs;
    }

    private bool IsAbove((long Completed, long LatencyNs) now) => now.LatencyNs - _since.LatencyNs > (now.Completed - _since.Completed) * targetNs;
}
