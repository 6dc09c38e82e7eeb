using TierSpaces.Engine.Lanes;
using TierSpaces.Engine.Primitives;

namespace TierSpaces.Engine.Exports.Nbd;

// Replies of one connection on their way to the client. Two batches change places: one is being sent, the other collects what completes meanwhile;
// each leaves in one gathered send.
//
// Invariants
//  1. A slot is in at most one batch, and a batch has room for one reply of every slot.
//  2. Header bytes and payloads of a batch stay where they are until its send has ended; then its slots are released.
//  3. At most one send is pending.

/// <summary>Collects the replies of one connection and sends them together.</summary>
internal sealed class NbdReplies : IDisposable
{
    /// <summary>
    /// A batch that accounts for this many bytes of payload, read or written, leaves at once. Otherwise a client with its whole queue depth in
    /// one batch would wait for all of it, and then the server for the client.
    /// </summary>
    private const int FullBatch = 48 << 10;

    private readonly ILane _lane;
    private readonly ILaneSocket _socket;
    private readonly NbdPayloads _payloads;
    private readonly NbdLifetime _life;
    private readonly bool _structured;
    private NbdReplyBatch _collecting;
    private NbdReplyBatch _sending;
    private bool _isSending;
    private bool _flushDue;   // a flush waits for its turn on the lane

    internal NbdReplies(ILane lane, ILaneSocket socket, int slots, bool structured, NbdPayloads payloads, NbdLifetime life)
    {
        _lane = lane;
        _socket = socket;
        _structured = structured;
        _payloads = payloads;
        _life = life;
        _collecting = new NbdReplyBatch(lane.Buffers.Rent(slots * NbdReplyWriter.LargestHeader), slots);
        _sending = new NbdReplyBatch(lane.Buffers.Rent(slots * NbdReplyWriter.LargestHeader), slots);
    }

    /// <summary>Whether nothing waits, nothing is being sent and no flush is due.</summary>
    internal bool IsEmpty => !_isSending && _collecting.Count == 0 && !_flushDue;

    /// <summary>Whether enough has come together to be sent now.</summary>
    internal bool IsFull => _collecting.Payload >= FullBatch;

    /// <summary>Replies sent since the start.</summary>
    internal long Sent { get; private set; }

    /// <summary>Adds the reply to a request.</summary>
    internal void Add(NbdRequest request, NbdFault fault)
    {
        _collecting.Add(request);
        NbdReplyWriter.Write(_collecting, request, fault, _structured);
    }

    /// <summary>Sends what has come together, unless a send is pending: then its end does.</summary>
    internal void Flush()
    {
        if (!_isSending && _collecting.Count > 0)
        {
            _isSending = true;
            SendAll().Forget();
        }
    }

    /// <summary>Sends when the lane has done what it has at hand: completions that come together are answered together.</summary>
    internal void FlushSoon()
    {
        if (!_flushDue)
        {
            _flushDue = true;
            FlushAfterTurn().Forget();
        }
    }

    public void Dispose()
    {
        _lane.Buffers.Return(_collecting.Headers);
        _lane.Buffers.Return(_sending.Headers);
    }

    private async LaneTask FlushAfterTurn()
    {
        await _lane.Yield();
        _flushDue = false;
        Flush();
        _life.EndSending();
    }

    private async LaneTask SendAll()
    {
        do
        {
            (_sending, _collecting) = (_collecting, _sending);
            IoError error = await _socket.Send(_sending.Pieces);
            Sent += _sending.Count;
            End(_sending.Requests, error);
            _sending.Clear();
        }
        while (_collecting.Count > 0);
        _isSending = false;
        _life.EndSending();
    }

    /// <summary>The replies to these requests are sent, or never will be.</summary>
    private void End(ReadOnlySpan<NbdRequest> requests, IoError error)
    {
        foreach (NbdRequest request in requests)
        {
            _payloads.Release(request);
        }

        if (error != IoError.None)
        {
            _life.Abort();
        }

        _life.Wake();
    }
}
