using TierSpaces.Engine.Lanes;
using TierSpaces.Engine.Primitives;

namespace TierSpaces.Engine.Exports.Nbd;

// The request whose payload is being received, at most one of a connection.
//
// Invariants
//  1. A request's payload is complete before the store sees it.
//  2. A request that the connection ends without is released: its slot and memory come back.
//  3. A refused write is answered after its payload: clients expect no reply to what they are still sending.

/// <summary>Receives the payload of a request, then starts it.</summary>
internal sealed class NbdIncoming(
    ILane lane, NbdExport export, NbdReceiver receiver, NbdPayloads payloads, NbdCalls calls, NbdAnswers answers, NbdTurn turn, NbdLifetime life)
{
    private NbdRequest? _request;
    private NbdFault _fault;   // what it will be answered with instead of being done

    /// <summary>Whether no request is between its header and its start.</summary>
    internal bool IsEmpty => _request is null;

    /// <summary>Starts a request whose payload has arrived, or asks for the rest of it.</summary>
    internal NbdPause Take(NbdRequest request)
    {
        _request = request;
        int length = (int)request.Length;
        if (request.Command == NbdCommand.Write)
        {
            if (receiver.Available < length)
            {
                return NbdPause.ForPayload;
            }

            receiver.Peek(length).CopyTo(request.Buffer.Span);
            receiver.Consume(length);
        }

        Start(request);
        return NbdPause.None;
    }

    /// <summary>Answers a request with an error, a write after its payload.</summary>
    internal NbdPause Reject(NbdRequest request, NbdFault fault)
    {
        if (request.Command != NbdCommand.Write)
        {
            answers.Answer(request, fault);
            return NbdPause.None;
        }

        _request = request;
        _fault = fault;
        return NbdPause.ForDiscard;
    }

    /// <summary>Receives the rest of the payload and starts the request; false when the connection ends before.</summary>
    internal async LaneTask<bool> Receive()
    {
        NbdRequest request = _request!;
        bool isWhole = await receiver.ReceiveInto(request.Buffer);
        bool hasWaited = false;
        while (isWhole && export.IsSuspended && !life.IsDead)
        {
            await life.Changed.Next();
            await lane.Yield();
            hasWaited = true;
        }

        if (!isWhole || life.IsDead || (hasWaited && life.HasEnded))
        {
            Drop();
            return false;
        }

        Start(request);
        return true;
    }

    /// <summary>Throws the payload of a refused write away and answers it; false when the connection ends before.</summary>
    internal async LaneTask<bool> Discard()
    {
        NbdRequest request = _request!;
        bool isWhole = await receiver.Skip(request.Length);
        if (!isWhole)
        {
            Drop();
            return false;
        }

        _request = null;
        answers.Answer(request, _fault);
        return true;
    }

    /// <summary>Releases a request whose payload will not arrive.</summary>
    internal void Drop()
    {
        if (_request is { } request)
        {
            _request = null;
            payloads.Release(request);
        }
    }

    private void Start(NbdRequest request)
    {
        _request = null;
        turn.Note(request.Buffer.Length);
        calls.Start(request);
    }
}
