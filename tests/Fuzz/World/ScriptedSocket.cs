using System.Buffers.Binary;
using System.Numerics;
using TierSpaces.Engine.Lanes;
using TierSpaces.Engine.Primitives;

namespace TierSpaces.Fuzz;

/// <summary>A client that sends its bytes and hangs up, whatever it is answered.</summary>
/// <param name="bytes">Bytes that it sends.</param>
/// <param name="mode">Bits 0 and 1: bytes per segment (all, 1, 7, 100).</param>
internal sealed class ScriptedSocket(byte[] bytes, byte mode) : ILaneSocket
{
    private readonly int _segment = (mode & 3) switch { 1 => 1, 2 => 7, 3 => 100, _ => int.MaxValue };
    private int _played;
    private int _sends;
    private uint _kinds;

    public LanePeer Peer => new("fuzz", 0);

    public long BytesSent { get; private set; }

    /// <summary>Whether the server has closed it.</summary>
    public bool IsClosed { get; private set; }

    /// <summary>Kinds of answers that there were, and roughly their numbers.</summary>
    public string Answers => $"{(char)('a' + BitOperations.Log2((uint)_sends + 1))} {Letters.Of(_kinds)}";

    public LaneTask<int> Receive(IoBuffer target)
    {
        int count = IsClosed ? 0 : Math.Min(Math.Min(target.Length, bytes.Length - _played), _segment);
        bytes.AsSpan(_played, count).CopyTo(target.Span);
        _played += count;
        return LaneTask.FromResult(count);
    }

    public LaneTask<IoError> Send(ReadOnlyMemory<IoBuffer> pieces)
    {
        _sends++;
        foreach (IoBuffer piece in pieces.Span)
        {
            uint word = piece.Length >= 8 ? BinaryPrimitives.ReadUInt32BigEndian(piece.Span[4..]) : 0;
            _kinds |= 1u << (int)(word % 31);
            BytesSent += piece.Length;
        }

        return LaneTask.FromResult(IsClosed ? IoError.ShutDown : IoError.None);
    }

    public void Close() => IsClosed = true;
}
