using TierSpaces.Engine.Primitives;
using TierSpaces.Simulation;

namespace TierSpaces.Engine.Tests.Devices;

/// <summary>Two simulated lanes on one thread. The one whose clock is behind runs next, so their clocks differ by 10 ms at most.</summary>
internal sealed class TwinLanes
{
    private const long BeatNs = 10_000_000;

    internal TwinLanes(ulong seed)
    {
        First = new SimLane(seed);
        Second = new SimLane(seed + 1);
        Beat(First);
        Beat(Second);
    }

    internal SimLane First { get; }

    internal SimLane Second { get; }

    /// <summary>Runs both lanes until a task of either has ended.</summary>
    internal T Run<T>(LaneTask<T> task)
    {
        T result = default!;
        bool isEnded = false;
        Await().Forget();
        while (!isEnded)
        {
            Step();
        }

        return result;

        async LaneTask Await()
        {
            result = await task;
            isEnded = true;
        }
    }

    internal void Run(LaneTask task)
    {
        Run(AsResult());

        async LaneTask<int> AsResult()
        {
            await task;
            return 0;
        }
    }

    /// <summary>Runs both lanes for a stretch of virtual time.</summary>
    internal void Advance(long nanoseconds)
    {
        for (long endNs = First.NowNs + nanoseconds; First.NowNs < endNs || Second.NowNs < endNs;)
        {
            Step();
        }
    }

    private void Step() => Assert.True((First.NowNs <= Second.NowNs ? First : Second).Step());

    private static void Beat(SimLane lane) => lane.Schedule(BeatNs, () => Beat(lane));
}
