using TierSpaces.Engine.Lanes;
using TierSpaces.Engine.Primitives;

namespace TierSpaces.Engine.Exports.Nbd;

// The next request of a connection: from the bytes that have arrived, or the next part of a request in parts.
//
// Invariants
//  1. A request is taken as a whole: its header leaves the receive buffer when it has a slot and memory, or is in parts.
//  2. A write that fits the receive buffer has arrived with its payload before it gets memory.
//  3. A client that does not keep to the protocol is not understood any more: its connection ends, and nothing of the request is done.

/// <summary>Takes the next request of one connection.</summary>
internal sealed class NbdArrivals(
    ILane lane, NbdTerms terms, NbdReceiver receiver, NbdClaim claim, NbdParts parts, NbdPayloads payloads, NbdReplies replies, NbdIncoming incoming,
    NbdLifetime life)
{
    private bool _afterLargeWrite;
    private long _arrivedNs;   // since when the next request waits, while requests are traced; 0: it does not

    /// <summary>Whether there is something to take: a header has arrived, or a request is in parts.</summary>
    internal bool Any => parts.IsActive || receiver.Available >= NbdRequestHeader.Size;

    /// <summary>Most bytes to receive at once.</summary>
    internal int FillMax => _afterLargeWrite ? NbdReceiver.ShortFill : int.MaxValue;

    /// <summary>Takes the next request, or returns the reason to wait.</summary>
    internal NbdPause Take() => parts.IsActive ? TakePart() : Take(NbdRequestHeader.Decode(receiver.Peek(NbdRequestHeader.Size)));

    private NbdPause Take(in NbdRequestHeader header)
    {
        bool hasPayload = header.Command == NbdCommand.Write;
        if (header.Magic != NbdMagic.Request || (hasPayload && header.Length > NbdLimits.MaxPayload))
        {
            return Break(header);
        }

        if (header.Command == NbdCommand.Disconnect)
        {
            life.Disconnect();
            return NbdPause.AtEnd;
        }

        if (RequestTrace.IsOn && _arrivedNs == 0)
        {
            _arrivedNs = lane.NowNs;
        }

        NbdFault fault = terms.Check(header);
        if (hasPayload && fault == NbdFault.None && header.Length <= NbdReceiver.LargestAssembled
            && receiver.Available - NbdRequestHeader.Size < header.Length)
        {
            _afterLargeWrite = false;
            return NbdPause.ForData;
        }

        NbdRequest? request = payloads.TryRent(header, fault == NbdFault.None ? MemoryOf(header) : 0);
        if (request is null)
        {
            parts.NoteWaiting(claim.IsQueued, lane.NowNs);
            return TryBeginParts(header) ? NbdPause.None : NbdPause.ForRoom;
        }

        parts.NoteWaiting(false, 0);
        request.NoteArrival(_arrivedNs);
        _arrivedNs = 0;
        receiver.Consume(NbdRequestHeader.Size);
        _afterLargeWrite = hasPayload && header.Length > NbdReceiver.LargestAssembled;
        return fault != NbdFault.None ? incoming.Reject(request, fault) : incoming.Take(request);
    }

    /// <summary>Takes the next part of the request in parts.</summary>
    private NbdPause TakePart()
    {
        if (parts.IsOut || terms.Export.IsSuspended)
        {
            return NbdPause.ForRoom;
        }

        if (parts.Fault == NbdFault.None)
        {
            return incoming.Take(payloads.RentPart());
        }

        NbdRequest rejected = payloads.RentEmpty(parts.Rest);
        parts.End();
        return incoming.Reject(rejected, parts.Fault);
    }

    private bool TryBeginParts(in NbdRequestHeader header)
    {
        bool fits = header.Command == NbdCommand.Write || (header.Command == NbdCommand.Read
            && (terms.StructuredReplies ? (header.Flags & NbdCommandFlags.DontFragment) == 0 : !claim.OwesReplies && replies.IsEmpty));
        if (!fits || !payloads.HasSlot || !parts.TryBegin(header))
        {
            return false;
        }

        receiver.Consume(NbdRequestHeader.Size);
        return true;
    }

    private NbdPause Break(in NbdRequestHeader header)
    {
        life.Break(header.Magic != NbdMagic.Request
            ? $"a request begins with 0x{header.Magic:x8}, not with the protocol's mark"
            : $"a write of {ByteText.Exact(header.Length)} exceeds the maximum of {ByteText.Exact(NbdLimits.MaxPayload)}");
        return NbdPause.AtEnd;
    }

    private static int MemoryOf(in NbdRequestHeader header) => header.Command switch
    {
        NbdCommand.Read or NbdCommand.Write => (int)header.Length,
        NbdCommand.BlockStatus => NbdStoreCalls.StatusBytes,
        _ => 0,
    };
}
