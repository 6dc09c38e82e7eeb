using System.Runtime.ExceptionServices;
using TierSpaces.Engine.Lanes;
using TierSpaces.Engine.Primitives;

namespace TierSpaces.Engine.Management;

// Invariants
//  1. A question waits for no lane longer than LimitNs. An answer that comes later is still followed to its end.
//  2. A lane that has not answered in time is asked nothing more until it has: questions do not pile up there.

/// <summary>Asks the lanes of virtual disks, all at once, and waits for their answers at most for a time.</summary>
internal sealed class LanePatience(ILane control)
{
    /// <summary>Longest wait for a lane, in nanoseconds.</summary>
    internal const long LimitNs = 250_000_000;

    private readonly HashSet<ILane> _silent = [];   // lanes that have not answered in time

    /// <summary>Asks each lane its questions; completes when all have answered, or after the limit. An exception of an answer in time is thrown.</summary>
    /// <param name="questions">Lanes, and functions that send a question there and note the answer.</param>
    internal async LaneTask<Nothing> Ask(IReadOnlyList<(ILane Lane, Func<LaneTask<Nothing>> Send)> questions)
    {
        Round round = new();
        foreach ((ILane lane, Func<LaneTask<Nothing>> send) in questions)
        {
            if (!_silent.Contains(lane))
            {
                round.Unanswered.Add(lane);
                Follow(round, lane, send()).Forget();
            }
        }

        if (round.Unanswered.Count > 0)
        {
            EndAfterLimit(round).Forget();
            await round.Decided.Wait();
            _silent.UnionWith(round.Unanswered);
        }

        round.Failure?.Throw();
        return default;
    }

    private async LaneTask Follow(Round round, ILane lane, LaneTask<Nothing> answer)
    {
        try
        {
            await answer;
        }
        catch (Exception failure)
        {
            round.Failure ??= ExceptionDispatchInfo.Capture(failure);
        }

        round.Unanswered.Remove(lane);
        _silent.Remove(lane);
        if (round.Unanswered.Count == 0)
        {
            round.Decided.NotifyAll();
        }
    }

    private async LaneTask EndAfterLimit(Round round)
    {
        await control.Delay(LimitNs);
        round.Decided.NotifyAll();
    }

    private sealed class Round
    {
        internal List<ILane> Unanswered { get; } = [];   // one entry for each question

        internal LaneSignal Decided { get; } = new();

        internal ExceptionDispatchInfo? Failure { get; set; }
    }
}
