using TierSpaces.Engine.Primitives;

namespace TierSpaces.Engine.Resiliency;

/// <summary>Keeps writes of the owner of a ring and steps of copying apart: one holds the turn at a time.</summary>
internal sealed class RingTurn
{
    private readonly LaneSignal _ended = new();
    private bool _isTaken;

    internal LaneTask<Nothing> TakeTurn()
    {
        bool waits = _isTaken;
        _isTaken = true;
        return waits ? AwaitTurn() : LaneTask.FromResult(default(Nothing));
    }

    internal void EndTurn()
    {
        _isTaken = false;
        _ended.NotifyAll();
    }

    private async LaneTask<Nothing> AwaitTurn()
    {
        while (_isTaken)
        {
            await _ended.Wait();
        }

        _isTaken = true;
        return default;
    }
}
