using TierSpaces.Engine.Lanes;
using TierSpaces.Engine.Primitives;

namespace TierSpaces.Engine.Exports.Nbd;

// Calls of one connection inside the store. Nothing here waits for one of them; they end in any order.
//
// Invariants
//  1. At any end of the connection, a call inside the store runs to its end; then its request is answered, and its slot and memory come back.
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
/// <param name="client">The connection as the number that flags carry.</param>
internal sealed class NbdCalls(
    ILane lane, NbdExport export, IBlockStore store, NbdReceiver receiver, NbdAnswers answers, NbdReplies replies, NbdLifetime life, WriteFlags client)
{
    /// <summary>Payload bytes of the calls inside the store.</summary>
    internal long RunningBytes { get; private set; }

    /// <summary>Gives a request to the store. A call that has ended already is answered.</summary>
    internal void Start(NbdRequest request)
    {
        RunningBytes += request.Buffer.Length;
        request.SetClient(client);
        export.BeginCall();
        PrefetchNext();
        if (!request.TryExecute(lane, export, store, out LaneTask<IoError>.Awaiter call, out RequestException? failure))
        {
            Finish(request, IoError.Io, failure);
            return;
        }

        if (!call.IsCompleted)
        {
            request.Await(this, call);
            return;
        }

        Finish(request, StoreCall.ResultOf(call, out failure), failure);
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
        request.EndTrace(lane, export);
        if (failure is not null)
        {
            life.Fail(failure, $"{request.Command} of {ByteText.Exact(request.Length)} at offset {ByteText.Offset(request.Offset)}");
        }

        if (request.Command == NbdCommand.Read)
        {
            request.Settle(lane.Buffers);
        }

        answers.Answer(request, NbdFaults.Of(error));
    }
}
