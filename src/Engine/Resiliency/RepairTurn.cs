using TierSpaces.Engine.Primitives;

namespace TierSpaces.Engine.Resiliency;

/// <summary>One repair or move runs at a time; a further one waits for it.</summary>
internal sealed class RepairTurn
{
    private readonly LaneSignal _ended = new();

    /// <summary>Whether one runs.</summary>
    internal bool IsTaken { get; private set; }

    /// <summary>Waits for the turn; false, and there is nothing to end, if nothing may begin any more.</summary>
    internal async LaneTask<bool> Begin(Func<bool> isStopping)
    {
        while (IsTaken)
        {
            await _ended.Wait();
        }

        IsTaken = !isStopping();
        return IsTaken;
    }

    internal void End()
    {
        IsTaken = false;
        _ended.NotifyAll();
    }
}
