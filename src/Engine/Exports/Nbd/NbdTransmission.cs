using TierSpaces.Engine.Lanes;
using TierSpaces.Engine.Primitives;

namespace TierSpaces.Engine.Exports.Nbd;

// The request phase of one connection, made of parts: NbdIntake (the receive loop) takes requests through NbdArrivals (which is next) and NbdIncoming
// (its payload); NbdCalls gives them to the store; NbdAnswers and NbdReplies answer. NbdPayloads and NbdParts hold slots and memory, NbdLifetime the
// state of the connection. Requests complete in any order; nothing here waits for one of them.
//
// Invariants
//  1. The export knows the connection from its first request until everything it held has come back.
//  2. An exception of the receive loop ends this connection, and nothing else; one that a store ends a call with passes.

/// <summary>The request phase of one connection.</summary>
internal sealed class NbdTransmission : IExportClient
{
    private const int ProgressShift = 16;

    private readonly NbdServer _server;
    private readonly ILaneSocket _socket;
    private readonly NbdReceiver _receiver;
    private readonly NbdLifetime _life;
    private readonly NbdParts _parts;
    private readonly NbdPayloads _payloads;
    private readonly NbdReplies _replies;
    private readonly NbdCalls _calls;
    private readonly NbdIncoming _incoming;
    private readonly NbdIntake _intake;
    private readonly WriteFlags _client;

    internal NbdTransmission(NbdServer server, ILaneSocket socket, NbdReceiver receiver, NbdTerms terms)
    {
        Export = terms.Export;
        _server = server;
        _socket = socket;
        _receiver = receiver;
        _life = new NbdLifetime(server, socket, IsQuiet);
        Claim = new NbdClaim(_life.Changed);
        _parts = new NbdParts(server.Budget, Claim);
        _payloads = new NbdPayloads(server, Export, Claim, _parts, _life);
        _replies = new NbdReplies(server.Lane, socket, server.Limits.MaxRequests, terms.StructuredReplies, _payloads, _life);
        IBlockStore store = Takes(Export.Store.Geometry, terms.Geometry.SmallestRequest)
            ? Export.Store : new BlockLimits(server.Lane.Buffers, Export.Store, terms.Geometry.SmallestRequest);
        NbdAnswers answers = new(terms, _parts, _payloads, _replies, _life);
        _client = StoreClients.Add(_life);
        _calls = new NbdCalls(server.Lane, Export, store, receiver, answers, _replies, _life, _client);
        NbdTurn turn = new();
        _incoming = new NbdIncoming(server.Lane, Export, receiver, _payloads, _calls, answers, turn, _life);
        NbdArrivals arrivals = new(server.Lane, terms, receiver, Claim, _parts, _payloads, _replies, _incoming, _life);
        _intake = new NbdIntake(server.Lane, receiver, arrivals, _incoming, _parts, _replies, turn, _life);
    }

    internal NbdExport Export { get; }

    /// <summary>Share of this connection in the budget.</summary>
    internal NbdClaim Claim { get; }

    /// <summary>Grows with every reply that is sent, and with every 64 KiB that are received or sent.</summary>
    internal long Progress => _replies.Sent + (_receiver.BytesReceived >> ProgressShift) + (_socket.BytesSent >> ProgressShift);

    /// <summary>Whether no more requests are taken.</summary>
    internal bool IsEnded => _life.IsEnded;

    /// <summary>Whether it holds payload memory that only the client can make it give back.</summary>
    internal bool HoldsForClient => _payloads.Bytes > _calls.RunningBytes;

    /// <summary>Whether all that was taken is answered.</summary>
    private bool IsDrained => !Claim.OwesReplies && _replies.IsEmpty;

    /// <summary>Serves until the connection ends and everything it held has come back.</summary>
    internal async LaneTask Run()
    {
        _receiver.Grow();
        Export.Attach(this);
        await TakeAll();
        EndRequests();
        _replies.Flush();
        while (!IsDrained)
        {
            await _life.Changed.Next();
        }

        await _server.Lane.Yield();   // the caller that woke this is still on the stack, and may use memory that is returned now
        Export.Detach(this);
        StoreClients.Remove(_client);
        _replies.Dispose();
    }

    /// <summary>Called about every half second: a request that has waited long enough for memory is served in parts.</summary>
    internal void Watch(long nowNs)
    {
        if (_parts.LookIfDue(nowNs))
        {
            Wake();
        }
    }

    /// <summary>Wakes the waiters of this connection to check their condition again.</summary>
    public void Wake() => _life.Wake();

    /// <summary>Takes no more requests; the connection ends when those it took are answered.</summary>
    internal void Drain() => _life.Drain();

    /// <summary>Ends the connection now; calls inside the store still run to their end.</summary>
    internal void Abort() => _life.Abort();

    /// <summary>Whether a store takes every request that the protocol allows as it is: a virtual disk does.</summary>
    private static bool Takes(in StoreGeometry geometry, int unit) => geometry.SmallestRequest == unit && geometry.MaxTransfer >= NbdLimits.MaxPayload;

    private async LaneTask TakeAll()
    {
        try
        {
            await _intake.Run();
        }
        catch (Exception failure) when (RequestException.MayContain(failure) && failure is not NbdStoreException)
        {
            _life.Fail(failure, "its next request");
            _incoming.Drop();
        }
    }

    private void EndRequests()
    {
        _life.End();
        _parts.Cancel();
        _server.Budget.Leave(Claim);
    }

    /// <summary>Whether nothing is under way but the receipt of a payload.</summary>
    private bool IsQuiet() => Claim.Requests == (_incoming.IsEmpty ? 0 : 1) && _replies.IsEmpty && !_parts.OwesRead;
}
