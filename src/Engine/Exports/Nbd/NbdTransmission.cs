using TierSpaces.Engine.Lanes;
using TierSpaces.Engine.Primitives;

namespace TierSpaces.Engine.Exports.Nbd;

/// <summary>
/// The request phase of one connection: takes every request that has arrived, hands it to the store, gathers replies.
/// Requests complete in any order; nothing here waits for one of them.
///
/// Invariants
///  1. _slots counts the requests between receipt and the end of their reply, _bytes their payload memory. Both are
///     bounded before memory is taken; a full connection stops reading, which the client's socket feels.
///  2. A request's payload is complete before the store sees it.
///  3. Whatever ends the connection, a call inside the store runs to its end, and its slot and memory come back.
///  4. After the last request (disconnect, end of stream, drain) no further one is taken; replies still go out.
///  5. The request boundary: an exception before a store was given the request ends that request with an I/O error and this connection.
///     A broken invariant, or an exception that a store ends a call with, passes: it ends the process.
/// </summary>
internal sealed class NbdTransmission
{
    private const int RequestsPerTurn = 128;      // then the lane's other connections have theirs
    private const int BytesPerTurn = 2 << 20;
    private const int ProgressShift = 16;

    private readonly NbdTerms _terms;
    private readonly IBlockStore _store;   // the store of the export, behind a layer of limits if it does not take what the protocol allows
    private readonly NbdServer _server;
    private readonly ILaneSocket _socket;
    private readonly NbdReceiver _receiver;
    private readonly NbdReplies _replies;
    private readonly NbdParts _parts;
    private readonly NbdSignal _changed = new();
    private NbdRequest? _incoming;   // its payload is being received
    private NbdFault _fault;       // what it will be answered with instead of being done
    private int _slots;
    private long _bytes;
    private long _runningBytes;      // of them those of calls inside the store
    private int _turnRequests;
    private int _turnBytes;
    private bool _flushDue;          // a flush waits for its turn on the lane
    private bool _afterLargeWrite;
    private bool _ended;             // invariant 4
    private bool _dead;              // nothing can be sent any more

    internal NbdTransmission(NbdServer server, ILaneSocket socket, NbdReceiver receiver, NbdTerms terms)
    {
        _server = server;
        _socket = socket;
        _receiver = receiver;
        _terms = terms;
        _parts = new NbdParts(server.Budget, this);
        _store = Takes(terms.Export.Store.Geometry, terms.Geometry.BlockSize)
            ? terms.Export.Store : new BlockLimits(server.Lane.Buffers, terms.Export.Store, terms.Geometry.BlockSize);
        _replies = new NbdReplies(this, socket, server.Lane.Buffers, server.Limits.MaxRequests, terms.StructuredReplies);
    }

    /// <summary>Whether a store takes every request that the protocol allows as it is: a virtual disk does.</summary>
    private static bool Takes(in StoreGeometry geometry, int unit) => geometry.BlockSize == unit && geometry.MaxTransfer >= NbdLimits.MaxPayload;

    private enum Pause
    {
        None,
        ForData,
        ForPayload,
        ForDiscard,
        ForRoom,
        ForTurn,
        AtEnd,
    }

    internal NbdExport Export => _terms.Export;

    /// <summary>What this connection has of the budget.</summary>
    internal NbdClaim Claim { get; } = new();

    /// <summary>Called about every half second: a request that has waited long enough for memory is served in parts.</summary>
    internal void Watch(long nowNs)
    {
        if (_parts.LookIfDue(nowNs))
        {
            Wake();
        }
    }

    /// <summary>Grows with every reply that is sent, and with every 64 KiB that are received or sent.</summary>
    internal long Progress => _replies.Sent + (_receiver.BytesReceived >> ProgressShift) + (_socket.BytesSent >> ProgressShift);

    /// <summary>Whether no more requests are taken.</summary>
    internal bool IsEnded => _ended;

    /// <summary>Whether it holds payload memory that only the client can make it give back.</summary>
    internal bool HoldsForClient => _bytes > _runningBytes;

    /// <summary>Whether a request that was taken has not been answered.</summary>
    internal bool OwesReplies => _slots > 0;

    private ILane Lane => _server.Lane;

    /// <summary>Whether a read in parts has to be carried to its end although no request is taken any more.</summary>
    private bool OwesRead => _parts.OwesRead && !_dead;

    /// <summary>Whether all that was taken is answered.</summary>
    private bool IsDrained => _slots == 0 && _replies.IsEmpty && !_flushDue;

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
            await _changed.Next();
        }

        await Lane.Yield();   // the caller that woke this is still on the stack, and may use memory that is returned now
        Export.Detach(this);
        _replies.Dispose();
    }

    private async LaneTask TakeAll()
    {
        try
        {
            while (await Continue(TakeRequests()))
            {
            }
        }
        catch (Exception failure) when (RequestException.MayContain(failure) && failure is not NbdStoreException)
        {
            EndWith(failure, "its next request");
            if (_incoming is { } request)
            {
                _incoming = null;
                Release(request);
            }
        }
    }

    /// <summary>This connection ends, and nothing else: the exception is reported with its stack.</summary>
    private void EndWith(Exception failure, string what)
    {
        _server.Report(_socket, $"{what} ended with an exception", failure);
        Drain();
    }

    /// <summary>Wakes the waiters of this connection to check their condition again.</summary>
    internal void Wake() => _changed.Set();

    /// <summary>Takes no more requests; the connection ends when those it took are answered.</summary>
    internal void Drain()
    {
        _ended = true;
        Wake();
        CloseWhenQuiet();
    }

    /// <summary>Ends the connection now; what is inside the store still runs to its end.</summary>
    internal void Abort()
    {
        if (_dead)
        {
            return;
        }

        _dead = true;
        _ended = true;
        _socket.Close();
        Wake();
    }

    /// <summary>A store call of this connection has ended.</summary>
    internal void EndCall(NbdRequest request, IoError error, RequestException? failure)
    {
        FinishCall(request, error, failure);
        if (_replies.IsFull)
        {
            _replies.Flush();
        }
        else if (!_flushDue)
        {
            _flushDue = true;
            FlushAfterTurn().Forget();   // completions that came together are answered together
        }
    }

    /// <summary>The replies to these requests are sent, or never will be.</summary>
    internal void EndReplies(ReadOnlySpan<NbdRequest> requests, IoError error)
    {
        foreach (NbdRequest request in requests)
        {
            Release(request);
        }

        if (error != IoError.None)
        {
            Abort();
        }

        Wake();
    }

    /// <summary>No send is pending any more.</summary>
    internal void EndSending()
    {
        if (_ended)
        {
            Wake();
            CloseWhenQuiet();
        }
    }

    private async LaneTask FlushAfterTurn()
    {
        await Lane.Yield();
        _flushDue = false;
        _replies.Flush();
        EndSending();
    }

    /// <summary>Takes what has arrived until something is missing.</summary>
    private Pause TakeRequests()
    {
        for (; ; )
        {
            if (_ended && !OwesRead)
            {
                return Pause.AtEnd;
            }

            if (!_parts.IsActive && _receiver.Available < NbdRequestHeader.Size)
            {
                return Pause.ForData;
            }

            if (_turnRequests >= RequestsPerTurn || _turnBytes >= BytesPerTurn)
            {
                return Pause.ForTurn;
            }

            Pause pause = _parts.IsActive ? TakePart() : Take(NbdRequestHeader.Decode(_receiver.Peek(NbdRequestHeader.Size)));
            if (pause != Pause.None)
            {
                return pause;
            }
        }
    }

    /// <summary>Does what a pause asks for; false when the last request has been taken.</summary>
    private async LaneTask<bool> Continue(Pause pause)
    {
        long changes = _changed.Count;
        _replies.Flush();
        switch (pause)
        {
            case Pause.ForData:
                return await _receiver.Fill(_afterLargeWrite ? NbdReceiver.ShortFill : int.MaxValue);
            case Pause.ForPayload:
                return await ReceivePayload();
            case Pause.ForDiscard:
                return await DiscardPayload();
            case Pause.ForRoom:
                if (changes == _changed.Count)   // else the flush gave room
                {
                    await _changed.Next();
                }

                await Lane.Yield();   // let all that gives room happen first
                return true;
            case Pause.ForTurn:
                _turnRequests = _turnBytes = 0;
                await Lane.Yield();
                return true;
            default:
                return false;
        }
    }

    private Pause Take(in NbdRequestHeader header)
    {
        if (header.Magic != NbdMagic.Request || (header.Command == NbdCommand.Write && header.Length > NbdLimits.MaxPayload))
        {
            return Refuse(header);
        }

        if (header.Command == NbdCommand.Disconnect)
        {
            _ended = true;
            return Pause.AtEnd;
        }

        NbdFault fault = _terms.Check(header);
        bool hasPayload = header.Command == NbdCommand.Write;
        if (hasPayload && fault == NbdFault.None && header.Length <= NbdReceiver.LargestAssembled
            && _receiver.Available - NbdRequestHeader.Size < header.Length)
        {
            _afterLargeWrite = false;
            return Pause.ForData;
        }

        int charge = fault == NbdFault.None ? ChargeOf(header) : 0;
        if (!TryAdmit(charge, out bool isSmall))
        {
            _parts.NoteWaiting(Claim.IsQueued, Lane.NowNs);
            return TryBeginParts(header) ? Pause.None : Pause.ForRoom;
        }

        _parts.NoteWaiting(false, 0);
        _receiver.Consume(NbdRequestHeader.Size);
        _afterLargeWrite = hasPayload && header.Length > NbdReceiver.LargestAssembled;
        NbdRequest request = _incoming = Rent(header, charge, isSmall);
        if (fault != NbdFault.None)
        {
            return Reject(request, fault);
        }

        return hasPayload ? TakePayload(request) : Start(request);
    }

    private bool TryBeginParts(in NbdRequestHeader header)
    {
        bool fits = header.Command == NbdCommand.Write
            || (header.Command == NbdCommand.Read && (_terms.StructuredReplies ? (header.Flags & NbdCommandFlags.DontFragment) == 0 : IsDrained));
        if (!fits || _slots >= _server.Limits.MaxRequests || !_parts.TryBegin(header))
        {
            return false;
        }

        _receiver.Consume(NbdRequestHeader.Size);
        return true;
    }

    /// <summary>Takes the next part of the request in parts.</summary>
    private Pause TakePart()
    {
        if (_parts.IsOut || Export.IsSuspended)
        {
            return Pause.ForRoom;
        }

        if (_parts.Fault != NbdFault.None)
        {
            NbdRequest rejected = _incoming = Rent(_parts.Rest, charge: 0, isSmall: false);
            _parts.End();
            return Reject(rejected, _parts.Fault);
        }

        NbdRequest part = _incoming = Rent(_parts.Rest, charge: 0, isSmall: false);
        _parts.Next(part);
        part.Buffer = Lane.Buffers.Rent((int)part.Length).AllowKeeping();
        part.Charge = (int)part.Length;
        part.ReplyBytes = part.Command == NbdCommand.Read ? part.Charge : 0;
        _bytes += part.Charge;
        return part.Command == NbdCommand.Write ? TakePayload(part) : Start(part);
    }

    /// <summary>Whether a part that has ended ends its request. An error that cannot be told any more ends the connection.</summary>
    private bool EndsRequest(NbdRequest part, NbdFault fault)
    {
        bool isUntold = part.Command == NbdCommand.Read && fault != NbdFault.None && !_terms.StructuredReplies && !part.IsFirstPart;
        if (isUntold && !_dead)
        {
            _server.Report(_socket, $"a read of {_parts.WholeLength} bytes has failed behind the header of its reply");
            Abort();
        }

        return _parts.NoteEnd(part, fault);
    }

    /// <summary>A refused write is answered after its payload: clients expect no reply to what they are still sending.</summary>
    private Pause Reject(NbdRequest request, NbdFault fault)
    {
        if (request.Command != NbdCommand.Write)
        {
            _incoming = null;
            Answer(request, fault);
            return Pause.None;
        }

        _fault = fault;
        return Pause.ForDiscard;
    }

    private async LaneTask<bool> DiscardPayload()
    {
        NbdRequest request = _incoming!;
        bool isWhole = await _receiver.Skip(request.Length);
        _incoming = null;
        if (isWhole)
        {
            Answer(request, _fault);
        }
        else
        {
            Release(request);
        }

        return isWhole;
    }

    private Pause TakePayload(NbdRequest request)
    {
        int length = (int)request.Length;
        if (_receiver.Available < length)
        {
            return Pause.ForPayload;
        }

        _receiver.Peek(length).CopyTo(request.Buffer.Span);
        _receiver.Consume(length);
        return Start(request);
    }

    private async LaneTask<bool> ReceivePayload()
    {
        NbdRequest request = _incoming!;
        bool isWhole = await _receiver.ReceiveInto(request.Buffer);
        while (isWhole && Export.IsSuspended && !_dead)
        {
            await _changed.Next();
            await Lane.Yield();
        }

        if (!isWhole || _dead)
        {
            _incoming = null;
            Release(request);
            return false;
        }

        Start(request);
        return true;
    }

    private Pause Start(NbdRequest request)
    {
        _incoming = null;
        _turnRequests++;
        _turnBytes += request.Charge;
        _runningBytes += request.Charge;
        Export.BeginCall();
        if (!TryExecute(request, out LaneTask<IoError>.Awaiter call, out RequestException? failure))
        {
            FinishCall(request, IoError.Io, failure);
            return Pause.None;
        }

        if (!call.IsCompleted)
        {
            request.Await(this, call);
            return Pause.None;
        }

        FinishCall(request, NbdRequest.ResultOf(call, out failure), failure);
        if (_replies.IsFull)
        {
            _replies.Flush();
        }

        return Pause.None;
    }

    /// <summary>Gives the request to the store; false with what was thrown instead, which has changed nothing.</summary>
    private bool TryExecute(NbdRequest request, out LaneTask<IoError>.Awaiter call, out RequestException? failure)
    {
        try
        {
            failure = null;
            PrefetchNext();
            call = NbdStoreCalls.Execute(_store, request).GetAwaiter();
            return true;
        }
        catch (Exception thrown) when (thrown is not InvariantException)
        {
            failure = thrown as RequestException ?? new RequestException(thrown);
            call = default;
            return false;
        }
    }

    /// <summary>What the request behind this one needs from memory comes while this one is done.</summary>
    private void PrefetchNext()
    {
        if (_receiver.Available >= NbdRequestHeader.Size)
        {
            Export.Store.Prefetch(NbdRequestHeader.OffsetIn(_receiver.Peek(NbdRequestHeader.Size)));
        }
    }

    private void FinishCall(NbdRequest request, IoError error, RequestException? failure)
    {
        _runningBytes -= request.Charge;
        Export.EndCall();
        if (failure is not null)
        {
            EndWith(failure, $"{request.Command} of {request.Length} bytes at offset {request.Offset}");
        }

        if (request.Command == NbdCommand.Read)
        {
            request.Buffer = Lane.Buffers.Settle(request.Buffer);
        }

        Answer(request, NbdFaults.Of(error));
    }

    private void Answer(NbdRequest request, NbdFault fault)
    {
        bool isEnd = !request.IsPart || EndsRequest(request, fault);
        if (isEnd)
        {
            Export.Counters.Count(request.Command, request.IsPart ? _parts.WholeLength : request.Length, fault == NbdFault.None);
        }

        if (request.Command == NbdCommand.Write)
        {
            ReturnMemory(request);
        }

        if (_dead || (!isEnd && request.Command == NbdCommand.Write))
        {
            Release(request);
            Wake();
        }
        else
        {
            _replies.Add(request, fault);
        }
    }

    /// <summary>A client that does not keep to the protocol is not understood any more: this connection ends.</summary>
    private Pause Refuse(in NbdRequestHeader header)
    {
        _server.Report(
            _socket,
            header.Magic != NbdMagic.Request
                ? $"a request begins with 0x{header.Magic:x8}, not with the protocol's mark"
                : $"a write of {header.Length} bytes exceeds the maximum of {NbdLimits.MaxPayload}");
        Abort();
        return Pause.AtEnd;
    }

    private static int ChargeOf(in NbdRequestHeader header) => header.Command switch
    {
        NbdCommand.Read or NbdCommand.Write => (int)header.Length,
        NbdCommand.BlockStatus => NbdStoreCalls.StatusBytes,
        _ => 0,
    };

    private bool TryAdmit(int charge, out bool isSmall)
    {
        isSmall = false;
        if (Export.IsSuspended)
        {
            _server.Budget.Leave(this);   // no other connection queues behind one that is suspended
            return false;
        }

        return _slots < _server.Limits.MaxRequests
            && _bytes + charge <= _server.Limits.MaxConnectionBytes
            && (charge == 0 || _server.Budget.TryTake(this, charge, out isSmall));
    }

    private NbdRequest Rent(in NbdRequestHeader header, int charge, bool isSmall)
    {
        NbdRequest request = _server.RentRequest();
        request.Header = header;
        request.Charge = charge;
        request.IsSmall = isSmall;
        request.Part = NbdPartKind.None;
        request.Buffer = charge > 0 ? RentBuffer(charge, isSmall) : default;
        request.ReplyBytes = header.Command == NbdCommand.Read ? charge : 0;
        _slots++;
        _bytes += charge;
        return request;
    }

    private IoBuffer RentBuffer(int length, bool isSmall)
    {
        try
        {
            return Lane.Buffers.Rent(length).AllowKeeping();
        }
        catch
        {
            _server.Budget.Release(this, length, isSmall);
            throw;
        }
    }

    private void Release(NbdRequest request)
    {
        ReturnMemory(request);
        _server.ReturnRequest(request);
        _slots--;
    }

    private void ReturnMemory(NbdRequest request)
    {
        if (request.Charge > 0)
        {
            Lane.Buffers.Return(request.Buffer);
            _bytes -= request.Charge;
            request.Buffer = default;
            int charge = request.Charge;
            request.Charge = 0;
            if (request.IsPart)
            {
                _parts.Return();
                Wake();
            }
            else
            {
                _server.Budget.Release(this, charge, request.IsSmall);
            }
        }
    }

    private void EndRequests()
    {
        _ended = true;
        _parts.Abandon();
        _server.Budget.Leave(this);
    }

    /// <summary>When the server ends the connection, its client may be silent: closing ends the receive.</summary>
    private void CloseWhenQuiet()
    {
        bool isQuiet = _slots == (_incoming is null ? 0 : 1) && _replies.IsEmpty && !_flushDue && !OwesRead;
        if (_ended && isQuiet)
        {
            Abort();
        }
    }
}
