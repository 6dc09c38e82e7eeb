using TierSpaces.Engine.Primitives;

namespace TierSpaces.Engine.Exports.Nbd;

// The slot of one request from receipt to the end of its reply. Slots are shared by the connections of a server and used again; a suspended store
// call continues from the slot, so a request costs no allocation.
//
// Invariants
//  1. Begin and BeginPart set everything that the slot says of its request; nothing of the request before is left.
//  2. The slot gives its payload memory away once: TakeMemory empties it.
//  3. A slot waits for at most one store call; the call continues once.

/// <summary>The slot of one request.</summary>
internal sealed class NbdRequest
{
    private readonly Action _resume;
    private NbdRequestHeader _header;   // that of a part is its own
    private NbdPartKind _part;
    private NbdCalls? _caller;
    private LaneTask<IoError>.Awaiter _pending;   // valid between Await and Resume
    private long _startNs;   // of the call in the store, while it is traced

    internal NbdRequest() => _resume = Resume;

    internal NbdCommand Command => _header.Command;

    internal ulong Cookie => _header.Cookie;

    internal long Offset => (long)_header.Offset;

    internal long Length => _header.Length;

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

    /// <summary>Number of the request in a trace; 0: it is not traced.</summary>
    internal ulong Traced { get; private set; }

    /// <summary>Whether it is traced.</summary>
    internal bool IsTraced => Traced != 0;

    /// <summary>Time at which its header was first looked at, if it waited since then while requests were traced; else 0.</summary>
    internal long ArrivedNs { get; set; }

    internal WriteFlags WriteFlags =>
        (Has(NbdCommandFlags.Fua) ? WriteFlags.ForceUnitAccess : WriteFlags.None)
        | (Has(NbdCommandFlags.NoHole) ? WriteFlags.NoHole : WriteFlags.None);

    internal bool Has(NbdCommandFlags flag) => (_header.Flags & flag) != 0;

    /// <summary>Begins a whole request, with its payload memory or without any.</summary>
    internal void Begin(in NbdRequestHeader header, IoBuffer memory, bool isSmall) => Begin(header, NbdPartKind.None, memory, isSmall);

    /// <summary>Begins a part of a request, which has the memory of a part.</summary>
    internal void BeginPart(in NbdRequestHeader header, NbdPartKind part, IoBuffer memory) => Begin(header, part, memory, isSmall: false);

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

    /// <summary>The request is traced from now on, as its call in the store begins.</summary>
    internal void BeginTrace(long nowNs)
    {
        Traced = RequestTrace.NewNumber();
        _startNs = nowNs;
        RequestTrace.Add(Traced, TraceLayer.Queue, ArrivedNs == 0 ? nowNs : ArrivedNs, nowNs);
    }

    /// <summary>The call in the store has ended.</summary>
    internal void EndTrace(long nowNs, NbdExport export)
    {
        RequestTrace.Add(Traced, TraceLayer.Engine, ArrivedNs == 0 ? _startNs : ArrivedNs, nowNs, (byte)Command, Offset, Length, export);
        Traced = 0;
    }

    /// <summary>Continues in the caller when the store call has ended.</summary>
    internal void Await(NbdCalls caller, LaneTask<IoError>.Awaiter pending)
    {
        _caller = caller;
        _pending = pending;
        pending.UnsafeOnCompleted(_resume);
    }

    /// <summary>The result of a store call; a call that changed nothing before it failed gives an I/O error and what it threw.</summary>
    /// <exception cref="NbdStoreException">The store ended the call with another exception.</exception>
    internal static IoError ResultOf(LaneTask<IoError>.Awaiter call, out RequestException? failure)
    {
        try
        {
            failure = null;
            return call.GetResult();
        }
        catch (RequestException thrown)
        {
            failure = thrown;
            return IoError.Io;
        }
        catch (Exception thrown) when (RequestException.MayContain(thrown))
        {
            throw new NbdStoreException(thrown);
        }
    }

    private void Begin(in NbdRequestHeader header, NbdPartKind part, IoBuffer memory, bool isSmall)
    {
        _header = header;
        _part = part;
        Buffer = memory;
        ArrivedNs = 0;
        Traced = 0;
        IsSmall = isSmall;
        ReplyBytes = header.Command == NbdCommand.Read ? memory.Length : 0;
    }

    private void Resume()
    {
        NbdCalls caller = _caller!;
        LaneTask<IoError>.Awaiter pending = _pending;
        _caller = null;
        _pending = default;
        IoError error = ResultOf(pending, out RequestException? failure);
        caller.End(this, error, failure);
    }
}
