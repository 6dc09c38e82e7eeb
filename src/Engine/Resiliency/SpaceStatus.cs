using TierSpaces.Engine.Primitives;

namespace TierSpaces.Engine.Resiliency;

// Whether a space serves, shared by its parts.
//
// Invariants
//  1. Fault and its reason are set once. Every request that arrives later gets the fault, and every waiter of Changed wakes.
//  2. A space is opened, then served, then closed; it does not go back.

/// <summary>State of a space: opening, serving, closing or failed.</summary>
internal sealed class SpaceStatus
{
    /// <summary>Error because of which the space refuses requests; <see cref="IoError.None"/> while it serves.</summary>
    internal IoError Fault { get; private set; }

    /// <summary>Reason of the fault, in words.</summary>
    internal string FaultReason { get; private set; } = "";

    /// <summary>Whether recovery has not ended yet.</summary>
    internal bool IsOpening { get; private set; } = true;

    /// <summary>Whether the space is being closed: no background work begins.</summary>
    internal bool IsClosing { get; private set; }

    /// <summary>Whether background work ends: the space is being closed or has failed.</summary>
    internal bool IsStopping => IsClosing || Fault != IoError.None;

    /// <summary>Notifies waiters of a region, a stale mark, a row or a fault that one of them has changed.</summary>
    internal LaneSignal Changed { get; } = new();

    internal void EndOpening() => IsOpening = false;

    internal void BeginClosing() => IsClosing = true;

    /// <summary>Fails the space and returns the error. A later fault does not replace the first.</summary>
    internal IoError Fail(IoError error, string reason)
    {
        if (Fault == IoError.None)
        {
            Fault = error;
            FaultReason = reason;
            Changed.NotifyAll();
        }

        return error;
    }
}
