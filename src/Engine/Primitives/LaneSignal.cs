namespace TierSpaces.Engine.Primitives;

/// <summary>A condition that several operations of one lane wait for: wait, look again, wait again.</summary>
public sealed class LaneSignal
{
    private List<LaneCompletion<Nothing>> _waiting = [];
    private List<LaneCompletion<Nothing>>? _spare;   // empty; null while those of the last call are still being let go

    /// <summary>Completes at the next <see cref="NotifyAll"/>.</summary>
    public LaneTask<Nothing> Wait()
    {
        LaneCompletion<Nothing> gate = LaneCompletion<Nothing>.Rent();
        LaneTask<Nothing> task = gate.Task;
        _waiting.Add(gate);
        return task;
    }

    /// <summary>Lets everyone who waits now go on; those who wait again meanwhile wait for the next call.</summary>
    public void NotifyAll()
    {
        if (_waiting.Count == 0)
        {
            return;
        }

        List<LaneCompletion<Nothing>> released = _waiting;
        _waiting = _spare ?? [];
        _spare = null;
        foreach (LaneCompletion<Nothing> gate in released)
        {
            gate.Complete(default);
        }

        released.Clear();
        _spare = released;
    }
}
