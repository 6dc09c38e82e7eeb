using TierSpaces.Engine.Lanes;
using TierSpaces.Engine.Primitives;

namespace TierSpaces.Engine.Exports.Nbd;

/// <summary>
/// The byte stream from a client: one large buffer that is filled with whatever has arrived and parsed in place.
///
/// Invariants
///  1. Bytes [_start, _end) of the buffer have arrived and are not consumed.
///  2. At most one receive is pending, and none while the buffer is moved or exchanged.
/// </summary>
internal sealed class NbdReceiver(ILaneSocket socket, BufferPool buffers) : IDisposable
{
    private const int HandshakeBuffer = 16 << 10;   // an option of the greatest length with its header
    private const int TransmissionBuffer = 256 << 10;
    private const int LeastRoom = 64 << 10;         // less than that behind the data: move it to the front first

    /// <summary>Largest write that is assembled in the receive buffer; larger ones are received in place.</summary>
    internal const int LargestAssembled = 64 << 10;

    /// <summary>Most bytes to receive at once in a run of large writes: few, since they have to be copied.</summary>
    internal const int ShortFill = 16 << 10;

    private IoBuffer _buffer = buffers.Rent(HandshakeBuffer);
    private int _start;
    private int _end;

    /// <summary>Bytes received since the start.</summary>
    internal long BytesReceived { get; private set; }

    internal int Available => _end - _start;

    internal ReadOnlySpan<byte> Peek(int length) => _buffer.Slice(_start, length).Span;

    internal void Consume(int length) => _start += length;

    /// <summary>Exchanges the small buffer of the handshake for the large one.</summary>
    internal void Grow()
    {
        IoBuffer large = buffers.Rent(TransmissionBuffer);
        int kept = Available;
        Peek(kept).CopyTo(large.Span);
        buffers.Return(_buffer);
        (_buffer, _start, _end) = (large, 0, kept);
    }

    /// <summary>Receives something more behind what is there, at most <paramref name="most"/> bytes; false at the end of the stream.</summary>
    internal async LaneTask<bool> Fill(int most = int.MaxValue)
    {
        MakeRoom();
        int room = Math.Min(_buffer.Length - _end, most);
        int received = await socket.Receive(_buffer.Slice(_end, room));
        if (received <= 0)
        {
            return false;
        }

        BytesReceived += received;
        _end += received;
        return true;
    }

    /// <summary>Waits until <paramref name="length"/> bytes (no more than the buffer holds) can be peeked at.</summary>
    internal async LaneTask<bool> Await(int length)
    {
        while (Available < length)
        {
            if (!await Fill())
            {
                return false;
            }
        }

        return true;
    }

    /// <summary>Fills <paramref name="target"/> with what has arrived, the rest is received straight into it.</summary>
    internal async LaneTask<bool> ReceiveInto(IoBuffer target)
    {
        int done = Math.Min(Available, target.Length);
        Peek(done).CopyTo(target.Span);
        Consume(done);
        while (done < target.Length)
        {
            int received = await socket.Receive(target.Slice(done, target.Length - done));
            if (received <= 0)
            {
                return false;
            }

            BytesReceived += received;
            done += received;
        }

        return true;
    }

    /// <summary>Throws <paramref name="length"/> bytes of the stream away.</summary>
    internal async LaneTask<bool> Skip(long length)
    {
        for (; ; )
        {
            int step = (int)Math.Min(Available, length);
            Consume(step);
            length -= step;
            if (length == 0)
            {
                return true;
            }

            if (!await Fill())
            {
                return false;
            }
        }
    }

    public void Dispose() => buffers.Return(_buffer);

    private void MakeRoom()
    {
        int kept = Available;
        if (kept == 0)
        {
            _start = _end = 0;
        }
        else if (_buffer.Length - _end < Math.Min(LeastRoom, _start))
        {
            Peek(kept).CopyTo(_buffer.Span);
            (_start, _end) = (0, kept);
        }
    }
}
