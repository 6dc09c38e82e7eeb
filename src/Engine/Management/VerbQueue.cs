using TierSpaces.Engine.Lanes;
using TierSpaces.Engine.Primitives;

namespace TierSpaces.Engine.Management;

// Invariants
//  1. At most one verb that changes something runs at a time; the others wait in the order in which they came.
//  2. A verb that reads runs in one piece on the lane: it sees no change half done, except one that waits for I/O.
//  3. Once stopped, background loops begin nothing more.

/// <summary>Runs verbs on the lane, those that change something one after another.</summary>
internal sealed class VerbQueue(ILane lane)
{
    private readonly LaneMutex _mutex = new();

    /// <summary>Whether a verb that changes something runs now.</summary>
    internal bool IsTaken => _mutex.IsHeld;

    /// <summary>Whether the host stops.</summary>
    internal bool IsStopped { get; private set; }

    /// <summary>Ends the background loops: each ends when its wait is over.</summary>
    internal void Stop() => IsStopped = true;

    /// <summary>Runs a verb that reads.</summary>
    internal Task<T> Look<T>(Func<T> look) => lane.InvokeAsync(() => LaneTask.FromResult(look()));

    /// <summary>Runs a verb that changes something, after those that came before it.</summary>
    internal Task<T> Change<T>(Func<LaneTask<T>> verb) => lane.InvokeAsync(() => Enqueue(verb));

    /// <summary>Makes a plan after the verbs that came before it.</summary>
    internal Task<T> Plan<T>(Func<T> plan) => Change(() => LaneTask.FromResult(plan()));

    /// <summary>Runs the checks of a verb after the verbs that came before it.</summary>
    internal Task<bool> Check(Action check) => Plan(() =>
    {
        check();
        return true;
    });

    /// <summary>Runs a verb after those that came before it, for callers on the lane.</summary>
    internal async LaneTask<T> Enqueue<T>(Func<LaneTask<T>> verb)
    {
        await _mutex.Lock();
        try
        {
            return await verb();
        }
        finally
        {
            _mutex.Unlock();
        }
    }
}
