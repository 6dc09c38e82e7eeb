using TierSpaces.Engine.Primitives;

namespace TierSpaces.Engine.Exports.Nbd;

/// <summary>
/// Signals that something may have changed: waiters check their condition again. Waiters run inline in <see cref="Set"/>; allocates only
/// while the greatest number of waiters so far is still growing.
/// </summary>
internal sealed class NbdSignal
{
    private readonly Queue<LaneCompletion<Nothing>> _waiting = new();

    /// <summary>Number of times that the signal was set. If it is unchanged, no set was missed.</summary>
    internal long Count { get; private set; }

    internal LaneTask<Nothing> Next()
    {
        LaneCompletion<Nothing> gate = LaneCompletion<Nothing>.Rent();
        _waiting.Enqueue(gate);
        return gate.Task;
    }

    internal void Set()
    {
        Count++;
        for (int count = _waiting.Count; count > 0 && _waiting.TryDequeue(out LaneCompletion<Nothing>? gate); count--)
        {
            gate.Complete(default);
        }
    }
}
