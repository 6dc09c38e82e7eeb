using TierSpaces.Engine.Primitives;

namespace TierSpaces.Engine.Exports.Nbd;

// The slot of one request from receipt to the end of its reply. Slots are shared by the connections of a server and used again.
//
// Invariants
//  1. Begin and BeginPart set everything that the slot says of its request; nothing of the request before is left.
//  2. The slot gives its payload memory away once: TakeMemory empties it.

/// <summary>The slot of one request.</summary>
internal sealed class NbdRequest : StoreCall
{
    private NbdRequestHeader _header;   // that of a part is its own
    private NbdPartKind _part;
    private NbdCalls? _caller;   // while the store has it
    private WriteFlags _client;

    internal override NbdCommand Command => _header.Command;

    internal ulong Cookie => _header.Cookie;

    internal override long Offset => (long)_header.Offset;

    internal override long Length => _header.Length;

    /// <summary>Payload memory; length 0 when the request has none.</summary>
    internal IoBuffer Buffer { get; private set; }

    /// <summary>Whether the budget gave the memory from its reserve.</summary>
    internal bool IsSmall { get; private set; }

    /// <summary>Bytes of <see cref="Buffer"/> that a successful reply carries.</summary>
    internal int ReplyBytes { get; private set; }

    /// <summary>Payload of a successful reply.</summary>
    internal IoBuffer ReplyPayload => Buffer.Slice(0, ReplyBytes);

    /// <summary>Whether it is a part of a request.</summary>
    internal bool IsPart => _part != NbdPartKind.None;

    /// <summary>Whether it is the first part of a request.</summary>
    internal bool IsFirstPart => (_part & NbdPartKind.First) != 0;

    /// <summary>Whether it is the last part of a request.</summary>
    internal bool IsLastPart => (_part & NbdPartKind.Last) != 0;

    /// <summary>States found by a status query.</summary>
    internal List<StoreExtent> Extents { get; } = [];

    /// <summary>Flags for the store, with the number of the client.</summary>
    internal WriteFlags WriteFlags => _client
        | (Has(NbdCommandFlags.Fua) ? WriteFlags.ForceUnitAccess : WriteFlags.None)
        | (Has(NbdCommandFlags.NoHole) ? WriteFlags.NoHole : WriteFlags.None);

    internal bool Has(NbdCommandFlags flag) => (_header.Flags & flag) != 0;

    /// <summary>Begins a whole request, with its payload memory or without any.</summary>
    internal void Begin(in NbdRequestHeader header, IoBuffer memory, bool isSmall) => Begin(header, NbdPartKind.None, memory, isSmall);

    /// <summary>Begins a part of a request, which has the memory of a part.</summary>
    internal void BeginPart(in NbdRequestHeader header, NbdPartKind part, IoBuffer memory) => Begin(header, part, memory, isSmall: false);

    /// <summary>Sets the client, as the number that flags carry.</summary>
    internal void SetClient(WriteFlags client) => _client = client;

    /// <summary>Makes a part that failed the last one of its request.</summary>
    internal void EndParts() => _part |= NbdPartKind.Last;

    /// <summary>Takes the data of a read over from where its store has left it.</summary>
    internal void Settle(BufferPool buffers) => Buffer = buffers.Settle(Buffer);

    /// <summary>A successful reply carries the first bytes of the buffer.</summary>
    internal void ReplyWith(int bytes) => ReplyBytes = bytes;

    /// <summary>Returns the payload memory, which the slot has no longer.</summary>
    internal IoBuffer TakeMemory()
    {
        IoBuffer memory = Buffer;
        Buffer = default;
        return memory;
    }

    /// <summary>Continues in the caller when the store call has ended.</summary>
    internal void Await(NbdCalls caller, LaneTask<IoError>.Awaiter pending)
    {
        _caller = caller;
        Await(pending);
    }

    /// <inheritdoc/>
    private protected override LaneTask<IoError> Execute(IBlockStore store) => NbdStoreCalls.Execute(store, this);

    /// <inheritdoc/>
    private protected override void End(IoError error, RequestException? failure)
    {
        NbdCalls caller = _caller!;
        _caller = null;
        caller.End(this, error, failure);
    }

    private void Begin(in NbdRequestHeader header, NbdPartKind part, IoBuffer memory, bool isSmall)
    {
        BeginCall();
        _header = header;
        _part = part;
        Buffer = memory;
        IsSmall = isSmall;
        ReplyBytes = header.Command == NbdCommand.Read ? memory.Length : 0;
    }
}
