namespace TierSpaces.Engine.Primitives;

// Mutual exclusion among the tasks of one lane.
//
// Invariants
//  1. At most one task holds it.
//  2. A task that finds it free takes it without waiting; the others wait in the order in which LaneSignal resumes them.

/// <summary>Lets one task of a lane at a time into a section that awaits. Only tasks of that lane may use it; it is not reentrant.</summary>
internal sealed class LaneMutex
{
    private readonly LaneSignal _released = new();

    /// <summary>Whether a task holds it.</summary>
    internal bool IsHeld { get; private set; }

    /// <summary>Completes when the caller holds it.</summary>
    internal LaneTask<Nothing> Lock()
    {
        bool waits = IsHeld;
        IsHeld = true;
        return waits ? Await() : LaneTask.FromResult(default(Nothing));
    }

    /// <summary>Takes it unless <paramref name="isStopping"/> answers true once it is free. Returns whether the caller holds it.</summary>
    internal async LaneTask<bool> LockUnless(Func<bool> isStopping)
    {
        await Lock();
        if (isStopping())
        {
            Unlock();
            return false;
        }

        return true;
    }

    internal void Unlock()
    {
        IsHeld = false;
        _released.NotifyAll();
    }

    private async LaneTask<Nothing> Await()
    {
        while (IsHeld)
        {
            await _released.Wait();
        }

        IsHeld = true;
        return default;
    }
}
