using System.Buffers.Binary;
using System.Net;
using TierSpaces.Engine.Exports.Fuse;
using TierSpaces.Engine.Lanes;
using TierSpaces.Engine.Primitives;

namespace TierSpaces.Engine.Tests.Exports.Fuse;

/// <summary>The kernel's side of a FUSE connection: requests that wait, and the answers to them. Where it only counts it allocates nothing.</summary>
internal sealed class TestKernel : ILaneNetwork, ILaneMessages
{
    private const int Again = -11;
    private const int NoDevice = -19;

    private readonly Queue<byte[]> _waiting = new();
    private Action _arrived = static () => { };

    /// <summary>Answers, head and data together, unless they are only counted.</summary>
    internal List<byte[]> Answers { get; } = [];

    internal bool OnlyCounts { get; set; }

    internal int Answered { get; private set; }

    /// <summary>Result of every write of an answer instead; 0: it is taken.</summary>
    internal int Refuses { get; set; }

    internal bool IsAborted { get; set; }

    internal bool IsClosed { get; private set; }

    internal int Waiting => _waiting.Count;

    public ILaneListener ListenUnix(string path, Action<ILaneSocket> accepted, Action<string>? rejected = null) => throw new NotSupportedException();

    public ILaneListener ListenTcp(IPEndPoint endpoint, Action<ILaneSocket> accepted, Action<string>? rejected = null) => throw new NotSupportedException();

    public ILaneMessages OpenMessages(int descriptor, Action arrived)
    {
        (_arrived, IsClosed) = (arrived, false);
        return this;
    }

    public int Read(IoBuffer head, IoBuffer body)
    {
        if (IsAborted || !_waiting.TryDequeue(out byte[]? request))
        {
            return IsAborted ? NoDevice : Again;
        }

        int first = Math.Min(head.Length, request.Length);
        request.AsSpan(0, first).CopyTo(head.Span);
        request.AsSpan(first).CopyTo(body.Span);
        return request.Length;
    }

    public int Write(IoBuffer head, IoBuffer body)
    {
        if (Refuses != 0)
        {
            return Refuses;
        }

        Answered++;
        if (!OnlyCounts)
        {
            Assert.Equal(head.Length + body.Length, BinaryPrimitives.ReadInt32LittleEndian(head.Span));
            Answers.Add([.. head.Span, .. body.Span]);
        }

        return head.Length + body.Length;
    }

    public void Close() => IsClosed = true;

    internal void Ask(params byte[][] requests)
    {
        foreach (byte[] request in requests)
        {
            _waiting.Enqueue(request);
        }

        _arrived();
    }

    internal void Tell() => _arrived();

    internal static byte[] Request(FuseOperation operation, ulong unique, ReadOnlySpan<byte> body, ulong node = 2)
    {
        byte[] request = new byte[40 + body.Length];
        BinaryPrimitives.WriteInt32LittleEndian(request, request.Length);
        BinaryPrimitives.WriteUInt32LittleEndian(request.AsSpan(4), (uint)operation);
        BinaryPrimitives.WriteUInt64LittleEndian(request.AsSpan(8), unique);
        BinaryPrimitives.WriteUInt64LittleEndian(request.AsSpan(16), node);
        body.CopyTo(request.AsSpan(40));
        return request;
    }

    internal static byte[] Read(ulong unique, long offset, int length) => Request(FuseOperation.Read, unique, Range(offset, length));

    internal static byte[] Write(ulong unique, long offset, byte[] data) => Request(FuseOperation.Write, unique, [.. Range(offset, data.Length), .. data]);

    internal static byte[] Sync(ulong unique) => Request(FuseOperation.Sync, unique, new byte[16]);

    internal static byte[] Allocate(ulong unique, long offset, long length, uint mode)
    {
        byte[] body = new byte[32];
        BinaryPrimitives.WriteInt64LittleEndian(body.AsSpan(8), offset);
        BinaryPrimitives.WriteInt64LittleEndian(body.AsSpan(16), length);
        BinaryPrimitives.WriteUInt32LittleEndian(body.AsSpan(24), mode);
        return Request(FuseOperation.Allocate, unique, body);
    }

    internal static byte[] Init(ulong flags)
    {
        byte[] body = new byte[64];
        BinaryPrimitives.WriteUInt32LittleEndian(body, 7);
        BinaryPrimitives.WriteUInt32LittleEndian(body.AsSpan(4), 44);
        BinaryPrimitives.WriteUInt32LittleEndian(body.AsSpan(12), (uint)flags);
        BinaryPrimitives.WriteUInt32LittleEndian(body.AsSpan(16), (uint)(flags >> 32));
        return Request(FuseOperation.Init, 1, body, 0);
    }

    /// <summary>Identity, error number and data of an answer.</summary>
    internal static (ulong Unique, int Errno, byte[] Data) Decode(byte[] answer) => (
        BinaryPrimitives.ReadUInt64LittleEndian(answer.AsSpan(8)), -BinaryPrimitives.ReadInt32LittleEndian(answer.AsSpan(4)), answer[16..]);

    private static byte[] Range(long offset, int length)
    {
        byte[] body = new byte[40];
        BinaryPrimitives.WriteInt64LittleEndian(body.AsSpan(8), offset);
        BinaryPrimitives.WriteInt32LittleEndian(body.AsSpan(16), length);
        return body;
    }
}
