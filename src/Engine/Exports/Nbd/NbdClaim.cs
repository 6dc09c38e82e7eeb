using TierSpaces.Engine.Primitives;

namespace TierSpaces.Engine.Exports.Nbd;

// One connection as the budget of its lane knows it.
//
// Invariants
//  1. Requests counts the slots of the connection between receipt and the end of their reply.
//  2. A connection that holds or waits is active.

/// <summary>Share of one connection in the budget of its lane, the bytes it waits for, and the number of replies it owes.</summary>
internal sealed class NbdClaim(NbdSignal changed)
{
    private bool _isActive;

    /// <summary>Bytes held, without those of the reserve.</summary>
    internal long Held { get; private set; }

    /// <summary>Bytes of the reserve held.</summary>
    internal long SmallHeld { get; private set; }

    /// <summary>Bytes that the next request needs, while it waits.</summary>
    internal int Wanted { get; private set; }

    /// <summary>Whether it waits in the queue of the budget.</summary>
    internal bool IsQueued { get; private set; }

    /// <summary>Requests that were taken and whose reply has not ended.</summary>
    internal int Requests { get; private set; }

    /// <summary>Whether a request that was taken has not been answered.</summary>
    internal bool OwesReplies => Requests > 0;

    /// <summary>A request has a slot.</summary>
    internal void BeginRequest() => Requests++;

    /// <summary>A slot has come back.</summary>
    internal void EndRequest()
    {
        Invariant.That(Requests > 0, "A slot comes back once.");
        Requests--;
    }

    /// <summary>The next request needs this many bytes.</summary>
    internal void Want(int bytes) => Wanted = bytes;

    /// <summary>Holds this many bytes more.</summary>
    internal void Hold(int bytes) => Held += bytes;

    /// <summary>Holds this many bytes more of the reserve.</summary>
    internal void HoldSmall(int bytes) => SmallHeld += bytes;

    /// <summary>The connection waits in the queue.</summary>
    internal void BeginWaiting() => IsQueued = true;

    /// <summary>The connection has left the queue.</summary>
    internal void EndWaiting() => IsQueued = false;

    /// <summary>Makes the connection active; false when it is.</summary>
    internal bool TryBeginActivity()
    {
        bool begins = !_isActive;
        _isActive = true;
        return begins;
    }

    /// <summary>Ends the activity of a connection that neither holds nor waits; false when it holds, waits or was not active.</summary>
    internal bool TryEndActivity()
    {
        bool ends = _isActive && !IsQueued && Held == 0 && SmallHeld == 0;
        _isActive &= !ends;
        return ends;
    }

    /// <summary>Wakes the connection: it should try again.</summary>
    internal void Wake() => changed.Set();
}
