using TierSpaces.Engine.Lanes;
using TierSpaces.Engine.Primitives;

namespace TierSpaces.Engine.Verification;

/// <summary>The worker of a simulated lane: each call takes a seeded time, and runs at its end.</summary>
/// <param name="lane">The lane.</param>
internal sealed class SimLaneWorker(SimLane lane) : ILaneWorker
{
    private const int CallNsMax = 2_000_000;

    private readonly Queue<(Action Call, LaneCompletion<Nothing> Completion)> _calls = new();   // the first one runs

    /// <inheritdoc/>
    public LaneTask Run(Action call)
    {
        LaneCompletion<Nothing> completion = LaneCompletion<Nothing>.Rent();
        LaneTask task = new(completion.Task);
        _calls.Enqueue((call, completion));
        if (_calls.Count == 1)
        {
            Begin();
        }

        return task;
    }

    private void Begin() => lane.Schedule(lane.Next(CallNsMax), End);

    private void End()
    {
        (Action call, LaneCompletion<Nothing> completion) = _calls.Dequeue();
        call();
        if (_calls.Count > 0)
        {
            Begin();
        }

        completion.Complete(default);
    }
}
