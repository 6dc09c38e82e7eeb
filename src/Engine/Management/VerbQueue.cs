using TierSpaces.Engine.Lanes;
using TierSpaces.Engine.Primitives;

namespace TierSpaces.Engine.Management;

// A verb has up to two stages: one on the lane, which reads or changes the state, and one outside, which computes the reply from what the first returned.
//
// Invariants
//  1. At most one verb that changes something runs at a time; the others wait in the order in which they came.
//  2. The stage on the lane of a verb that reads takes one snapshot, in one piece once the parts of other lanes are there: it sees no change half done, except
//     one that waits for I/O. It takes time in proportion to the objects, never to rows or slabs.
//  3. The stage outside uses nothing of the lane but what it was given, and decides nothing: what a later verb changes is checked on the lane again.
//  4. A verb that changes something waits for pools that are being opened as long as PoolOpenings says; background loops, and the stop, wait for their end.
//  5. Once stopped, background loops begin nothing more.

/// <summary>Runs the stages of verbs: on the lane, where those that change something run one after another, and outside.</summary>
internal sealed class VerbQueue(ILane lane, PoolOpenings openings)
{
    private readonly LaneMutex _mutex = new();

    /// <summary>Whether a verb that changes something runs now.</summary>
    internal bool IsTaken => _mutex.IsHeld;

    /// <summary>Whether the host stops.</summary>
    internal bool IsStopped { get; private set; }

    /// <summary>Ends the background loops: each ends when its wait is over.</summary>
    internal void Stop() => IsStopped = true;

    /// <summary>Reads small records on the lane that are the reply.</summary>
    internal Task<T> Look<T>(Func<T> look) => lane.InvokeAsync(() => LaneTask.FromResult(look()));

    /// <summary>Reads small records on the lane that are the reply; some are asked of other lanes.</summary>
    internal Task<T> Look<T>(Func<LaneTask<T>> look) => lane.InvokeAsync(look);

    /// <summary>Runs a verb that reads: takes a snapshot on the lane and computes the reply outside.</summary>
    internal Task<TReply> Look<T, TReply>(Func<T> snapshot, Func<T, TReply> reply) => lane.InvokeAsync(() => LaneTask.FromResult(snapshot()), reply);

    /// <summary>Runs a verb that reads: takes a snapshot with parts of other lanes and computes the reply outside.</summary>
    internal Task<TReply> Look<T, TReply>(Func<LaneTask<T>> snapshot, Func<T, TReply> reply) => lane.InvokeAsync(snapshot, reply);

    /// <summary>Runs a verb that changes something, after those that came before it.</summary>
    internal Task<T> Change<T>(Func<LaneTask<T>> verb) => lane.InvokeAsync(() => EnqueueOnceOpen(verb));

    /// <summary>Runs a verb that changes something, after those that came before it, and computes the reply outside.</summary>
    internal Task<TReply> Change<T, TReply>(Func<LaneTask<T>> verb, Func<T, TReply> reply) => lane.InvokeAsync(() => EnqueueOnceOpen(verb), reply);

    /// <summary>Changes something of what is open, after the verbs that came before it; pools that are being opened are not waited for.</summary>
    internal Task<T> ChangeOpen<T>(Func<LaneTask<T>> verb) => lane.InvokeAsync(() => Enqueue(verb));

    /// <summary>Makes a plan: takes a snapshot after the verbs that came before it, and computes the plan outside.</summary>
    internal Task<TPlan> Plan<T, TPlan>(Func<T> snapshot, Func<T, TPlan> plan) => Change(() => LaneTask.FromResult(snapshot()), plan);

    /// <summary>Makes a plan: takes a snapshot with parts of other lanes after the verbs that came before it, and computes the plan outside.</summary>
    internal Task<TPlan> Plan<T, TPlan>(Func<LaneTask<T>> snapshot, Func<T, TPlan> plan) => Change(snapshot, plan);

    /// <summary>Runs the checks of a verb after the verbs that came before it.</summary>
    internal Task<bool> Check(Action check) => Change(() =>
    {
        check();
        return LaneTask.FromResult(true);
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

    private async LaneTask<T> EnqueueOnceOpen<T>(Func<LaneTask<T>> verb)
    {
        await openings.Wait();
        return await Enqueue(verb);
    }
}
