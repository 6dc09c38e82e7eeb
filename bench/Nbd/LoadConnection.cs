using System.Buffers.Binary;
using System.Diagnostics;
using System.Runtime.InteropServices;
using System.Text;

namespace TierSpaces.Bench.Nbd;

// One pipelined connection. Requests live in Depth slots, the slot number is the cookie. A receive takes all replies
// there are; their slots are used again at once and the new requests leave in one gathered send.

/// <summary>A connection that keeps a fixed number of requests in flight.</summary>
internal sealed unsafe class LoadConnection : IDisposable
{
    private const int RequestHeader = 28;
    private const int ReceiveBuffer = 1 << 20;
    private const uint SimpleReply = 0x67446698;
    private const uint WriteCommand = 1;
    private const uint ForceUnitAccess = 1 << 16;   // the flags precede the command
    private const byte FlushCommand = 3;

    private readonly LoadOptions _options;
    private readonly LoadRecord _record;
    private readonly byte* _received = (byte*)NativeMemory.AlignedAlloc(ReceiveBuffer, 4096);
    private readonly byte* _payload;
    private readonly byte* _headers;
    private readonly LibC.Vector* _vectors;
    private readonly long[] _startedAt;
    private readonly bool[] _isFlushing;   // the slot's write has ended, its flush has not
    private readonly long _stride;
    private ulong _random;
    private long _next;           // block of the next sequential request
    private int _available;       // bytes received and not parsed
    private int _skip;            // payload bytes of a reply still to come
    private int _vector;          // first vector not sent whole
    private int _vectorCount;
    private int _inFlight;
    private bool _isEnding;       // replies start no new requests

    internal LoadConnection(LoadOptions options, int index, LoadRecord record)
    {
        _options = options;
        _record = record;
        _startedAt = new long[options.Depth];
        _isFlushing = new bool[options.Depth];
        _stride = Math.Max(options.Stride, options.Block);
        _payload = (byte*)NativeMemory.AlignedAlloc((nuint)options.Block, 4096);
        _headers = (byte*)NativeMemory.AllocZeroed((nuint)(RequestHeader * options.Depth));
        _vectors = (LibC.Vector*)NativeMemory.AllocZeroed((nuint)(2 * options.Depth * sizeof(LibC.Vector)));
        _random = 0x9E3779B97F4A7C15 * (ulong)(index + 1 + ((long)options.Seed * options.Connections));
        new Random(index).NextBytes(new Span<byte>(_payload, options.Block));
        Descriptor = Open(options.Socket);
        long size = Negotiate();
        Blocks = (options.Length > 0 ? Math.Min(options.Length, size) : size) / _stride;
        if (Blocks == 0)
        {
            throw new ArgumentException($"The export is {size} bytes long: there is no room for a request of {options.Block}.");
        }

        _next = Blocks * index / options.Connections;
    }

    internal int Descriptor { get; }

    internal long Completed { get; private set; }

    /// <summary>Requests that cover the export once.</summary>
    internal long Blocks { get; }

    /// <summary>Whether the socket did not take all of the last send.</summary>
    internal bool HasUnsent => _vector < _vectorCount;

    /// <summary>Starts as many requests as the depth allows; none may be in flight.</summary>
    internal void Start()
    {
        _isEnding = false;
        long now = Stopwatch.GetTimestamp();
        for (int slot = 0; slot < _options.Depth; slot++)
        {
            Queue(slot, now);
        }

        Send();
    }

    /// <summary>Receives the replies that have arrived, or waits for one if asked to. Accounts for them and starts as many new requests.</summary>
    internal void Receive(bool wait)
    {
        nint count = LibC.Receive(Descriptor, _received + _available, (nuint)(ReceiveBuffer - _available), wait ? 0 : LibC.DontWait);
        if (count <= 0)
        {
            int error = Marshal.GetLastPInvokeError();
            if (count < 0 && error is LibC.TryAgain or LibC.Interrupted)
            {
                return;
            }

            throw new IOException(count == 0 ? "The server closed the connection." : $"recv: errno {error}.");
        }

        Parse((int)count + _available, Stopwatch.GetTimestamp());
        Send();
    }

    /// <summary>Sends what is queued, as far as the socket takes it.</summary>
    internal void Send()
    {
        while (HasUnsent)
        {
            LibC.MessageHeader message = new() { Vectors = _vectors + _vector, VectorCount = (nuint)(_vectorCount - _vector) };
            nint sent = LibC.SendMessage(Descriptor, &message, LibC.NoSignal | LibC.DontWait);
            if (sent < 0)
            {
                int error = Marshal.GetLastPInvokeError();
                if (error == LibC.TryAgain)
                {
                    return;
                }

                if (error != LibC.Interrupted)
                {
                    throw new IOException($"sendmsg: errno {error}.");
                }

                continue;
            }

            Advance((nuint)sent);
        }

        _vector = _vectorCount = 0;
    }

    /// <summary>Whether a reply is still to come.</summary>
    internal bool IsBusy => _inFlight > 0 || _skip > 0;

    /// <summary>Starts nothing more.</summary>
    internal void BeginEnd() => _isEnding = true;

    /// <summary>Starts a flush; nothing else may be in flight.</summary>
    internal void Flush()
    {
        _inFlight++;
        _startedAt[0] = Stopwatch.GetTimestamp();
        _isFlushing[0] = true;
        SendCommand(FlushCommand);
    }

    public void Dispose()
    {
        SendCommand(2);   // disconnect: the proper end
        LibC.Close(Descriptor);
        NativeMemory.AlignedFree(_received);
        NativeMemory.AlignedFree(_payload);
        NativeMemory.Free(_headers);
        NativeMemory.Free(_vectors);
    }

    /// <summary>A request without offset, length and cookie.</summary>
    private void SendCommand(byte command)
    {
        Span<byte> header = new(_headers, RequestHeader);
        header.Clear();
        BinaryPrimitives.WriteUInt32BigEndian(header, 0x25609513);
        header[7] = command;
        _vectors[0] = new LibC.Vector { Base = _headers, Length = RequestHeader };
        (_vector, _vectorCount) = (0, 1);
        Send();
    }

    private static int Open(string path)
    {
        int descriptor = LibC.Socket(1, 1 | 0x80000, 0);
        byte[] address = [1, 0, .. Encoding.UTF8.GetBytes(path), 0];
        fixed (byte* bytes = address)
        {
            return LibC.Connect(descriptor, bytes, (uint)address.Length) == 0
                ? descriptor
                : throw new IOException($"Cannot connect to '{path}': errno {Marshal.GetLastPInvokeError()}.");
        }
    }

    /// <summary>EXPORT_NAME without zeroes and simple replies: the shortest way in, the same work for every server.</summary>
    private long Negotiate()
    {
        ReceiveExactly(18);
        byte[] name = Encoding.UTF8.GetBytes(_options.Export);
        byte[] hello = [0, 0, 0, 3, .. "IHAVEOPT"u8, 0, 0, 0, 1, 0, 0, 0, 0, .. name];
        BinaryPrimitives.WriteInt32BigEndian(hello.AsSpan(16), name.Length);
        fixed (byte* bytes = hello)
        {
            _vectors[0] = new LibC.Vector { Base = bytes, Length = (nuint)hello.Length };
            _vectorCount = 1;
            Send();
        }

        ReceiveExactly(10);
        return BinaryPrimitives.ReadInt64BigEndian(new ReadOnlySpan<byte>(_received, 8));
    }

    private void ReceiveExactly(int length)
    {
        for (int done = 0; done < length;)
        {
            nint count = LibC.Receive(Descriptor, _received + done, (nuint)(length - done), 0);
            if (count <= 0)
            {
                throw new IOException($"The server refused export '{_options.Export}'.");
            }

            done += (int)count;
        }
    }

    private void Parse(int end, long now)
    {
        int at = 0;
        while (true)
        {
            int skipped = Math.Min(_skip, end - at);
            at += skipped;
            _skip -= skipped;
            if (_skip > 0 || end - at < 16)
            {
                break;
            }

            ReadOnlySpan<byte> header = new(_received + at, 16);
            if (BinaryPrimitives.ReadUInt32BigEndian(header) != SimpleReply || BinaryPrimitives.ReadUInt32BigEndian(header[4..]) != 0)
            {
                throw new IOException($"The server answered with error {BinaryPrimitives.ReadUInt32BigEndian(header[4..])}.");
            }

            int slot = BinaryPrimitives.ReadInt32BigEndian(header[12..]);
            at += 16;
            _skip = _options.Writes ? 0 : _options.Block;
            Ended(slot, now);
        }

        _available = end - at;
        new Span<byte>(_received + at, _available).CopyTo(new Span<byte>(_received, _available));
    }

    /// <summary>A request of a slot has ended: its flush follows, or it counts and the next one follows.</summary>
    private void Ended(int slot, long now)
    {
        bool isFlushDue = _options.Flushes || (_options.FlushEvery > 0 && (Completed + 1) % _options.FlushEvery == 0);
        if (isFlushDue && !_isFlushing[slot])
        {
            _isFlushing[slot] = true;
            QueueFlush(slot);
            return;
        }

        _isFlushing[slot] = false;
        _record.Add(now, now - _startedAt[slot]);
        Completed++;
        _inFlight--;
        if (!_isEnding)
        {
            Queue(slot, now);
        }
    }

    private void QueueFlush(int slot)
    {
        Span<byte> header = new(_headers + (slot * RequestHeader), RequestHeader);
        header.Clear();
        BinaryPrimitives.WriteUInt32BigEndian(header, 0x25609513);
        BinaryPrimitives.WriteUInt32BigEndian(header[4..], FlushCommand);
        BinaryPrimitives.WriteUInt64BigEndian(header[8..], (ulong)slot);
        Compact();
        _vectors[_vectorCount++] = new LibC.Vector { Base = _headers + (slot * RequestHeader), Length = RequestHeader };
    }

    private void Queue(int slot, long now)
    {
        _inFlight++;
        _startedAt[slot] = now;
        Span<byte> header = new(_headers + (slot * RequestHeader), RequestHeader);
        BinaryPrimitives.WriteUInt32BigEndian(header, 0x25609513);
        BinaryPrimitives.WriteUInt32BigEndian(header[4..], _options.Writes ? WriteCommand | (_options.Durable ? ForceUnitAccess : 0) : 0);
        BinaryPrimitives.WriteUInt64BigEndian(header[8..], (ulong)slot);
        BinaryPrimitives.WriteInt64BigEndian(header[16..], NextBlock() * _stride);
        BinaryPrimitives.WriteInt32BigEndian(header[24..], _options.Block);
        Compact();
        _vectors[_vectorCount++] = new LibC.Vector { Base = _headers + (slot * RequestHeader), Length = RequestHeader };
        if (_options.Writes)
        {
            _vectors[_vectorCount++] = new LibC.Vector { Base = _payload, Length = (nuint)_options.Block };
        }
    }

    /// <summary>Moves what an unfinished send left to the front: the vectors of all slots fit.</summary>
    private void Compact()
    {
        if (_vector > 0)
        {
            int left = _vectorCount - _vector;
            new Span<LibC.Vector>(_vectors + _vector, left).CopyTo(new Span<LibC.Vector>(_vectors, left));
            (_vector, _vectorCount) = (0, left);
        }
    }

    private long NextBlock()
    {
        if (!_options.Random)
        {
            _next = (_next + 1) % Blocks;
            return _next;
        }

        _random ^= _random << 13;
        _random ^= _random >> 7;
        _random ^= _random << 17;
        return (long)(((UInt128)_random * (ulong)Blocks) >> 64);
    }

    private void Advance(nuint sent)
    {
        while (sent > 0)
        {
            LibC.Vector* vector = _vectors + _vector;
            nuint part = Math.Min(sent, vector->Length);
            vector->Base = (byte*)vector->Base + part;
            vector->Length -= part;
            sent -= part;
            _vector += vector->Length == 0 ? 1 : 0;
        }
    }
}
