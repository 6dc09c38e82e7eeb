using TierSpaces.Engine.Primitives;

namespace TierSpaces.Engine.Lanes;

/// <summary>
/// Work of <see cref="ILane.OffloadBlocking"/>: system calls on names and files that are not open yet, on a thread of the lane. It is a file of its own to
/// <see cref="FileWorkers"/>, so it waits for no other, unless it shares the queue of an open file.
/// </summary>
/// <param name="work">The calls. It throws nothing.</param>
/// <param name="file">The open file that the calls are on; null: none.</param>
internal sealed class BlockingCall(Action work, LaneFile? file = null) : LaneFile(-1, -1, file?.Waiting), ICompletionTarget
{
    private readonly LaneCompletion<Nothing> _completion = LaneCompletion<Nothing>.Rent();

    /// <summary>Submits the call; completes on the lane.</summary>
    internal LaneTask Start(FileWorkers workers)
    {
        LaneTask task = new(_completion.Task);
        workers.Submit(new FileOperation(FileOpcode.Call, this, 0, 0, 0, 0), this);
        return task;
    }

    /// <summary>Makes the calls, on a thread.</summary>
    internal int Run()
    {
        work();
        return 0;
    }

    /// <inheritdoc/>
    public void OnCompletion(int result, bool more) => _completion.Complete(default);
}
