using TierSpaces.Engine.Primitives;

namespace TierSpaces.Engine.Exports.Nbd;

// Invariants
//  1. The pieces are the bytes of the replies in the order in which they were added: headers from one buffer, payloads between them.
//  2. Headers that follow each other are one piece, so there are at most two pieces a reply.

/// <summary>Replies that leave in one gathered send, and the requests that they answer.</summary>
internal sealed class NbdReplyBatch(IoBuffer headers, int slots)
{
    private readonly NbdRequest[] _requests = new NbdRequest[slots];
    private readonly IoBuffer[] _pieces = new IoBuffer[2 * slots];
    private int _pieceCount;
    private int _headerBytes;
    private bool _endsWithHeader;

    internal IoBuffer Headers { get; } = headers;

    internal int Count { get; private set; }

    /// <summary>Bytes that its requests have read and written.</summary>
    internal long Payload { get; private set; }

    internal ReadOnlySpan<NbdRequest> Requests => _requests.AsSpan(0, Count);

    internal ReadOnlyMemory<IoBuffer> Pieces => _pieces.AsMemory(0, _pieceCount);

    internal void Add(NbdRequest request)
    {
        _requests[Count++] = request;
        Payload += request.Command is NbdCommand.Read or NbdCommand.Write ? request.Length : 0;
    }

    /// <summary>Adds header bytes, which the caller fills in.</summary>
    internal Span<byte> AddHeader(int length)
    {
        int start = _headerBytes;
        _headerBytes += length;
        if (_endsWithHeader)
        {
            start -= _pieces[_pieceCount - 1].Length;
            _pieceCount--;
        }

        _pieces[_pieceCount++] = Headers.Slice(start, _headerBytes - start);
        _endsWithHeader = true;
        return Headers.Slice(_headerBytes - length, length).Span;
    }

    /// <summary>Adds payload where it is; it stays there until the batch is sent.</summary>
    internal void AddPayload(IoBuffer payload)
    {
        _pieces[_pieceCount++] = payload;
        _endsWithHeader = false;
    }

    internal void Clear()
    {
        Count = _pieceCount = _headerBytes = 0;
        Payload = 0;
        _endsWithHeader = false;
    }
}
