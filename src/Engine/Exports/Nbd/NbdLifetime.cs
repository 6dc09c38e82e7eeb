using TierSpaces.Engine.Lanes;
using TierSpaces.Engine.Primitives;

namespace TierSpaces.Engine.Exports.Nbd;

// Whether one connection still takes requests, and whether it can still send.
//
// Invariants
//  1. A connection is open, then ended, then dead, and never returns to an earlier state. An ended connection takes no further request (but the rest of
//     a read in parts) and still sends replies; a dead one sends nothing.
//  2. An ended connection that is quiet is dead: its client may be silent, and only closing the socket ends the receive.
//  3. A client that has closed its end without a disconnect request is gone. Its requests that have not begun by then are not carried out:
//     another client may have read the blocks that they change. All requests before a disconnect request are carried out.

/// <summary>The state of one connection, and the signal that wakes what waits in it.</summary>
internal sealed class NbdLifetime(NbdServer server, ILaneSocket socket, Func<bool> isQuiet) : IStoreClient
{
    private bool _isGone;
    private bool _hasDisconnected;

    /// <summary>Whether the client is gone: asked where something has waited, so that the socket is looked at only then.</summary>
    public bool HasEnded => !_hasDisconnected && (_isGone || (_isGone = IsDead || socket.IsPeerGone));

    /// <summary>Set whenever a waiter of the connection has to check its condition again.</summary>
    internal NbdSignal Changed { get; } = new();

    /// <summary>Whether no more requests are taken.</summary>
    internal bool IsEnded { get; private set; }

    /// <summary>Whether nothing can be sent any more.</summary>
    internal bool IsDead { get; private set; }

    /// <summary>Wakes the waiters of this connection to check their condition again.</summary>
    internal void Wake() => Changed.Set();

    /// <summary>Takes no more requests.</summary>
    internal void End() => IsEnded = true;

    /// <summary>The client asks for the end, once all its requests are answered.</summary>
    internal void Disconnect()
    {
        _hasDisconnected = true;
        End();
    }

    /// <summary>The stream of the client has ended without a disconnect request.</summary>
    internal void NoteGone() => _isGone = true;

    /// <summary>Takes no more requests; the connection ends when those it took are answered.</summary>
    internal void Drain()
    {
        End();
        Wake();
        CloseWhenQuiet();
    }

    /// <summary>Ends the connection now; calls inside the store still run to their end.</summary>
    internal void Abort()
    {
        if (IsDead)
        {
            return;
        }

        IsDead = true;
        IsEnded = true;
        socket.Close();
        Wake();
    }

    /// <summary>No send is pending any more.</summary>
    internal void EndSending()
    {
        if (IsEnded)
        {
            Wake();
            CloseWhenQuiet();
        }
    }

    /// <summary>Reports an exception with its stack. It ends this connection, and nothing else.</summary>
    internal void Fail(Exception failure, string what)
    {
        server.Report(socket, $"{what} ended with an exception", failure);
        Drain();
    }

    /// <summary>Reports why the connection cannot go on, and ends it now.</summary>
    internal void Break(string reason)
    {
        server.Report(socket, reason);
        Abort();
    }

    private void CloseWhenQuiet()
    {
        if (IsEnded && isQuiet())
        {
            Abort();
        }
    }
}
