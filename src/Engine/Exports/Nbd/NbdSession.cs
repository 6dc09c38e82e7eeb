using TierSpaces.Engine.Lanes;
using TierSpaces.Engine.Primitives;

namespace TierSpaces.Engine.Exports.Nbd;

/// <summary>One connection from its acceptance to the return of everything it held: negotiation, then transmission.</summary>
internal sealed class NbdSession(NbdServer server, ILaneSocket socket)
{
    private readonly long _acceptedNs = server.Lane.NowNs;
    private NbdTransmission? _transmission;   // set from the end of the handshake on
    private bool _isAborted;
    private long _lastProgress = -1;
    private long _lastProgressNs;
    private long _partsBegun;                 // of the budget, when this was last looked at
    private long _endingSinceNs = -1;         // −1 until no more requests are taken

    /// <summary>Whether the client has not chosen an export yet, and may.</summary>
    internal bool IsInHandshake => _transmission is null && !_isAborted;

    /// <summary>Whether the client has chosen an export and may ask for blocks.</summary>
    internal bool IsTransmitting => _transmission is { IsEnded: false };

    /// <summary>The client.</summary>
    internal LanePeer Peer => socket.Peer;

    internal bool Serves(NbdExport export) => _transmission?.Export == export;

    internal async LaneTask Run()
    {
        using NbdReceiver receiver = new(socket, server.Lane.Buffers);
        NbdTerms? terms = await Negotiate(receiver);
        if (terms is not null && server.IsServing(terms.Export))
        {
            _lastProgressNs = server.Lane.NowNs;
            _transmission = new NbdTransmission(server, socket, receiver, terms);
            await _transmission.Run();
        }

        socket.Close();
        await server.Lane.Yield();   // the call that ended the session may still be on the stack
    }

    /// <summary>Ends the connection: at once in the handshake, else after the requests that were taken.</summary>
    internal void Drain()
    {
        if (_transmission is { } transmission)
        {
            transmission.Drain();
        }
        else
        {
            Abort();
        }
    }

    internal void Abort()
    {
        _isAborted = true;
        if (_transmission is { } transmission)
        {
            transmission.Abort();
        }
        else
        {
            socket.Close();
        }
    }

    /// <summary>Called about every half second: enforces the limits of time.</summary>
    internal void Watch(long nowNs)
    {
        NbdLimits limits = server.Limits;
        if (_transmission is not { } transmission)
        {
            if (nowNs - _acceptedNs > limits.HandshakeTimeoutNs)
            {
                server.Report(socket, "no export was chosen in time");
                Abort();
            }

            return;
        }

        transmission.Watch(nowNs);
        bool isContended = server.Budget.IsContendedBeside(transmission.Claim) || server.Budget.PartsBegun != _partsBegun;
        _partsBegun = server.Budget.PartsBegun;
        if (transmission.Progress != _lastProgress || !transmission.HoldsForClient || !isContended)
        {
            _lastProgress = transmission.Progress;
            _lastProgressNs = nowNs;
        }

        _endingSinceNs = !transmission.IsEnded ? -1 : _endingSinceNs < 0 ? nowNs : _endingSinceNs;
        if (nowNs - _lastProgressNs > limits.StallTimeoutNs)
        {
            server.Report(socket, "it holds buffers that others wait for, and has taken or sent less than 64 KiB in the time allowed");
            Abort();
        }
        else if (_endingSinceNs >= 0 && nowNs - _endingSinceNs > limits.DrainTimeoutNs)
        {
            Abort();
        }
    }

    private async LaneTask<NbdTerms?> Negotiate(NbdReceiver receiver)
    {
        using NbdOptionReplies replies = new(socket, server.Lane.Buffers);
        try
        {
            return await new NbdNegotiation(server, socket, receiver, replies).Run();
        }
        catch (Exception failure) when (RequestException.MayContain(failure))
        {
            server.Report(socket, "its negotiation ended with an exception", failure);
            return null;
        }
    }
}
