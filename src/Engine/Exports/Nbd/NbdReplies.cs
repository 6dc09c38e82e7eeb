using System.Buffers.Binary;
using TierSpaces.Engine.Lanes;
using TierSpaces.Engine.Primitives;

namespace TierSpaces.Engine.Exports.Nbd;

/// <summary>
/// Replies on their way to a client. Two batches change places: one is being sent, the other collects what completes
/// meanwhile; each leaves in one gathered send.
///
/// Invariants
///  1. A batch has room for one reply of every slot, and a slot is in at most one batch.
///  2. Header bytes and payloads of a batch stay where they are until its send has ended; then its slots are released.
///  3. At most one send is pending.
/// </summary>
internal sealed class NbdReplies : IDisposable
{
    /// <summary>
    /// A batch that accounts for this many bytes of payload, read or written, leaves at once. Otherwise a client with its whole queue depth in
    /// one batch would wait for all of it, and then the server for the client.
    /// </summary>
    private const int FullBatch = 48 << 10;

    private const int SimpleHeader = 16;
    private const int ChunkHeader = 20;
    private const int LargestHeader = ChunkHeader + 6 + NbdFaults.MaxMessage;

    private readonly ILaneSocket _socket;
    private readonly NbdTransmission _owner;
    private readonly bool _structured;
    private Batch _collecting;
    private Batch _sending;
    private bool _isSending;

    internal NbdReplies(NbdTransmission owner, ILaneSocket socket, BufferPool buffers, int slots, bool structured)
    {
        _owner = owner;
        _socket = socket;
        _structured = structured;
        Buffers = buffers;
        _collecting = new Batch(buffers.Rent(slots * LargestHeader), slots);
        _sending = new Batch(buffers.Rent(slots * LargestHeader), slots);
    }

    private BufferPool Buffers { get; }

    /// <summary>Whether nothing waits and nothing is being sent.</summary>
    internal bool IsEmpty => !_isSending && _collecting.Count == 0;

    /// <summary>Whether enough has come together to be sent now.</summary>
    internal bool IsFull => _collecting.Payload >= FullBatch;

    /// <summary>Replies sent since the start.</summary>
    internal long Sent { get; private set; }

    /// <summary>Adds the reply to a request.</summary>
    internal void Add(NbdRequest request, NbdFault fault)
    {
        _collecting.Add(request);
        bool hasData = request.Command is NbdCommand.Read or NbdCommand.BlockStatus;
        if (!_structured || (!hasData && fault == NbdFault.None))
        {
            AddSimple(request, fault);
        }
        else if (fault != NbdFault.None)
        {
            AddError(request, fault);
        }
        else if (request.ReplyBytes == 0)
        {
            StartChunk(request, NbdChunk.None, ChunkHeader, 0);
        }
        else if (request.Command == NbdCommand.Read)
        {
            Span<byte> chunk = StartChunk(request, NbdChunk.OffsetData, ChunkHeader + 8, 8 + request.ReplyBytes);
            BinaryPrimitives.WriteUInt64BigEndian(chunk[ChunkHeader..], request.Header.Offset);
            _collecting.AddPayload(request.Buffer.Slice(0, request.ReplyBytes));
        }
        else
        {
            StartChunk(request, NbdChunk.BlockStatus, ChunkHeader, request.ReplyBytes);
            _collecting.AddPayload(request.Buffer.Slice(0, request.ReplyBytes));
        }
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

    public void Dispose()
    {
        Buffers.Return(_collecting.Headers);
        Buffers.Return(_sending.Headers);
    }

    private async LaneTask SendAll()
    {
        do
        {
            (_sending, _collecting) = (_collecting, _sending);
            IoError error = await _socket.Send(_sending.Pieces);
            Sent += _sending.Count;
            _owner.EndReplies(_sending.Requests, error);
            _sending.Clear();
        }
        while (_collecting.Count > 0);
        _isSending = false;
        _owner.EndSending();
    }

    private void AddSimple(NbdRequest request, NbdFault fault)
    {
        if (request is { IsPart: true, IsFirstPart: false, Command: NbdCommand.Read })
        {
            _collecting.AddPayload(request.Buffer.Slice(0, request.ReplyBytes));   // behind what was sent of it
            return;
        }

        Span<byte> header = _collecting.AddHeader(SimpleHeader);
        BinaryPrimitives.WriteUInt32BigEndian(header, NbdMagic.SimpleReply);
        BinaryPrimitives.WriteUInt32BigEndian(header[4..], (uint)NbdFaults.Errno(fault));
        BitConverter.TryWriteBytes(header[8..], request.Header.Cookie);
        if (fault == NbdFault.None && request.ReplyBytes > 0)
        {
            _collecting.AddPayload(request.Buffer.Slice(0, request.ReplyBytes));
        }
    }

    private void AddError(NbdRequest request, NbdFault fault)
    {
        ReadOnlySpan<byte> message = NbdFaults.Message(fault);
        int payload = 6 + message.Length;
        Span<byte> chunk = StartChunk(request, NbdChunk.Error, ChunkHeader + payload, payload)[ChunkHeader..];
        BinaryPrimitives.WriteUInt32BigEndian(chunk, (uint)NbdFaults.Errno(fault));
        BinaryPrimitives.WriteUInt16BigEndian(chunk[4..], (ushort)message.Length);
        message.CopyTo(chunk[6..]);
    }

    /// <summary>A reply is a single chunk, and the last one of its request unless that is in parts.</summary>
    private Span<byte> StartChunk(NbdRequest request, NbdChunk type, int headerBytes, int payload)
    {
        const ushort done = 1;
        Span<byte> header = _collecting.AddHeader(headerBytes);
        BinaryPrimitives.WriteUInt32BigEndian(header, NbdMagic.StructuredReply);
        BinaryPrimitives.WriteUInt16BigEndian(header[4..], request is { IsPart: true, IsLastPart: false } ? (ushort)0 : done);
        BinaryPrimitives.WriteUInt16BigEndian(header[6..], (ushort)type);
        BitConverter.TryWriteBytes(header[8..], request.Header.Cookie);
        BinaryPrimitives.WriteUInt32BigEndian(header[16..], (uint)payload);
        return header;
    }

    /// <summary>Headers packed into one buffer, payloads between them; neighbouring headers are one piece.</summary>
    private sealed class Batch(IoBuffer headers, int slots)
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
}
