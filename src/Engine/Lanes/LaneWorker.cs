using TierSpaces.Engine.Primitives;

namespace TierSpaces.Engine.Lanes;

// Invariants
//  1. At most one thread runs calls. It begins with the first one and ends when it has been idle for a while, or never if a call does not return.
//  2. Calls end in the order in which they began; each completes on the lane unless the lane has stopped by then.

/// <summary>A thread for the blocking calls of one owner on a real lane.</summary>
/// <param name="lane">Lane of the owner.</param>
/// <param name="name">Name of the thread.</param>
/// <param name="idleMs">Time after which a thread without work ends, in milliseconds.</param>
internal sealed class LaneWorker(Lane lane, string name, int idleMs = 10_000) : ILaneWorker
{
    private readonly object _gate = new();
    private readonly Queue<(Action Call, LaneCompletion<Nothing> Completion)> _calls = new();
    private bool _hasThread;

    /// <inheritdoc/>
    public LaneTask Run(Action call)
    {
        LaneCompletion<Nothing> completion = LaneCompletion<Nothing>.Rent();
        LaneTask task = new(completion.Task);
        lock (_gate)
        {
            _calls.Enqueue((call, completion));
            if (!_hasThread)
            {
                _hasThread = true;
                new Thread(RunCalls, maxStackSize: 256 << 10) { IsBackground = true, Name = name }.Start();
            }

            Monitor.Pulse(_gate);
        }

        return task;
    }

    private void RunCalls()
    {
        while (Take() is var (call, completion))
        {
            call();
            lane.PostUnlessStopped(() => completion.Complete(default));
        }
    }

    private (Action Call, LaneCompletion<Nothing> Completion)? Take()
    {
        lock (_gate)
        {
            bool isInTime = true;
            while (_calls.Count == 0)
            {
                if (!isInTime)
                {
                    _hasThread = false;
                    return null;
                }

                isInTime = Monitor.Wait(_gate, idleMs);
            }

            return _calls.Dequeue();
        }
    }
}
