using TierSpaces.Engine.Lanes;
using TierSpaces.Engine.Primitives;

namespace TierSpaces.Engine.Exports.Nbd;

// Calls of one connection inside the store. Nothing here waits for one of them; they end in any order.
//
// Invariants
//  1. Whatever ends the connection, a call inside the store runs to its end; then its request is answered, and its slot and memory come back.
//  2. The request boundary: an exception before a store was given the request ends that request with an I/O error and this connection.
//     A broken invariant, or an exception that a store ends a call with, passes: it ends the process.

/// <summary>Requests of one connection as calls on its store, from their start to their answer.</summary>
/// <param name="lane">Lane of the connection.</param>
/// <param name="export">The export, which counts calls while it is suspended.</param>
/// <param name="store">The store of the export, behind a layer of limits if it does not take what the protocol allows.</param>
/// <param name="receiver">Bytes that have arrived: the request behind the one that starts.</param>
/// <param name="answers">Answers requests.</param>
/// <param name="replies">Sends answers.</param>
/// <param name="life">The connection.</param>
internal sealed class NbdCalls(
    ILane lane, NbdExport export, IBlockStore store, NbdReceiver receiver, NbdAnswers answers, NbdReplies replies, NbdLifetime life)
{
    /// <summary>Payload bytes of the calls inside the store.</summary>
    internal long RunningBytes { get; private set; }

    /// <summary>Gives a request to the store. A call that has ended already is answered.</summary>
    internal void Start(NbdRequest request)
    {
        RunningBytes += request.Buffer.Length;
        export.BeginCall();
        if (RequestTrace.IsOn && (export.Traces > 0 || RequestEvents.Log.IsEnabled()))
        {
            request.BeginTrace(lane.NowNs);
        }

        if (!TryExecute(request, out LaneTask<IoError>.Awaiter call, out RequestException? failure))
        {
            Finish(request, IoError.Io, failure);
            return;
        }

        if (!call.IsCompleted)
        {
            request.Await(this, call);
            return;
        }

        Finish(request, NbdRequest.ResultOf(call, out failure), failure);
        if (replies.IsFull)
        {
            replies.Flush();
        }
    }

    /// <summary>A call that took its time has ended. Completions that come together are answered together.</summary>
    internal void End(NbdRequest request, IoError error, RequestException? failure)
    {
        Finish(request, error, failure);
        if (replies.IsFull)
        {
            replies.Flush();
        }
        else
        {
            replies.FlushSoon();
        }
    }

    /// <summary>Gives the request to the store; false with what was thrown instead, which has changed nothing.</summary>
    private bool TryExecute(NbdRequest request, out LaneTask<IoError>.Awaiter call, out RequestException? failure)
    {
        try
        {
            failure = null;
            PrefetchNext();
            if (!request.IsTraced)
            {
                call = NbdStoreCalls.Execute(store, request).GetAwaiter();
                return true;
            }

            ulong before = RequestTrace.Enter(request.Traced);
            try
            {
                call = NbdStoreCalls.Execute(store, request).GetAwaiter();
            }
            finally
            {
                RequestTrace.Enter(before);
            }

            return true;
        }
        catch (Exception thrown) when (thrown is not InvariantException)
        {
            failure = thrown as RequestException ?? new RequestException(thrown);
            call = default;
            return false;
        }
    }

    /// <summary>Prefetches the data structures that the next request needs, while this one is carried out.</summary>
    private void PrefetchNext()
    {
        if (receiver.Available >= NbdRequestHeader.Size)
        {
            export.Store.Prefetch(NbdRequestHeader.OffsetIn(receiver.Peek(NbdRequestHeader.Size)));
        }
    }

    private void Finish(NbdRequest request, IoError error, RequestException? failure)
    {
        RunningBytes -= request.Buffer.Length;
        export.EndCall();
        if (request.IsTraced)
        {
            request.EndTrace(lane.NowNs, export);
        }

        if (failure is not null)
        {
            life.Fail(failure, $"{request.Command} of {request.Length} bytes at offset {request.Offset}");
        }

        if (request.Command == NbdCommand.Read)
        {
            request.Settle(lane.Buffers);
        }

        answers.Answer(request, NbdFaults.Of(error));
    }
}
