using TierSpaces.Engine.Primitives;

namespace TierSpaces.Engine.Tiering;

// Whether a tiered store serves, shared by its parts.
//
// Invariants
//  1. The fault of the store itself and its reason are set once. Every waiter of both signals then wakes and looks at the fault again.
//  2. A store that is being closed stays so.

/// <summary>State of a tiered store: serving, closing or failed; and what its parts wait for.</summary>
internal sealed class TieredStatus(TierSet tiers)
{
    private IoError _fault;
    private string _faultReason = "";

    /// <summary>Error because of which the store refuses requests: its own fault, else that of a space; <see cref="IoError.None"/> while it serves.</summary>
    internal IoError Fault => _fault != IoError.None ? _fault : tiers.Fault;

    /// <summary>Reason of the fault, in words.</summary>
    internal string FaultReason => _fault != IoError.None ? _faultReason : tiers.FaultReason;

    /// <summary>Whether the store is being closed: no background work begins.</summary>
    internal bool IsClosing { get; private set; }

    /// <summary>Whether background work ends: the store is being closed or has failed.</summary>
    internal bool IsStopping => IsClosing || Fault != IoError.None;

    /// <summary>Notifies waiters that a slice has got a place, has lost it or has moved.</summary>
    internal LaneSignal PlaceChanged { get; } = new();

    /// <summary>Notifies waiters that slots may be free, or that none will be.</summary>
    internal LaneSignal SlotsFreed { get; } = new();

    internal void BeginClosing()
    {
        IsClosing = true;
        WakeAll();
    }

    /// <summary>Fails the store and returns the error. A later fault does not replace the first.</summary>
    internal IoError Fail(IoError error, string reason)
    {
        if (_fault == IoError.None)
        {
            _fault = error;
            _faultReason = reason;
            WakeAll();
        }

        return error;
    }

    private void WakeAll()
    {
        PlaceChanged.NotifyAll();
        SlotsFreed.NotifyAll();
    }
}
