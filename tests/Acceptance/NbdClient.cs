using System.Buffers.Binary;
using System.Net.Sockets;

namespace TierSpaces.Acceptance;

/// <summary>The least of an NBD client: several requests under way at once on one Unix socket, answers in any order.</summary>
internal sealed class NbdClient : IDisposable
{
    internal const ushort Read = 0;
    internal const ushort Write = 1;
    internal const ushort Flush = 3;
    internal const ushort Trim = 4;
    internal const ushort WriteZeroes = 6;
    internal const ushort ForceUnitAccess = 1;

    private const ulong OptionMagic = 0x49484156454F5054;
    private const uint RequestMagic = 0x25609513;
    private const uint ReplyMagic = 0x67446698;
    private const uint GoOption = 7;
    private const uint AckReply = 1;
    private const int GreetingBytes = 18;
    private const int OptionReplyBytes = 20;
    private const int RequestBytes = 28;
    private const int ReplyBytes = 16;

    private readonly Socket _socket = new(AddressFamily.Unix, SocketType.Stream, ProtocolType.Unspecified);
    private readonly byte[] _head = new byte[RequestBytes];

    /// <summary>Connects to an address like <c>nbd+unix:///name?socket=/path</c>.</summary>
    internal NbdClient(string uri)
    {
        Uri address = new(uri);
        string path = Uri.UnescapeDataString(address.Query["?socket=".Length..]);
        try
        {
            _socket.Connect(new UnixDomainSocketEndPoint(path));
            Negotiate(Uri.UnescapeDataString(address.AbsolutePath.TrimStart('/')));
        }
        catch
        {
            _socket.Dispose();
            throw;
        }
    }

    public void Dispose() => _socket.Dispose();

    /// <summary>Sends a request; its answer carries the same number.</summary>
    internal void Send(ulong number, ushort type, ushort flags, long offset, int length, ReadOnlySpan<byte> data = default)
    {
        BinaryPrimitives.WriteUInt32BigEndian(_head, RequestMagic);
        BinaryPrimitives.WriteUInt16BigEndian(_head.AsSpan(4), flags);
        BinaryPrimitives.WriteUInt16BigEndian(_head.AsSpan(6), type);
        BinaryPrimitives.WriteUInt64BigEndian(_head.AsSpan(8), number);
        BinaryPrimitives.WriteUInt64BigEndian(_head.AsSpan(16), (ulong)offset);
        BinaryPrimitives.WriteUInt32BigEndian(_head.AsSpan(24), (uint)length);
        SendAll(_head);
        SendAll(data);
    }

    /// <summary>Takes the next answer; the data of a read is taken next by <see cref="Receive"/>.</summary>
    internal (ulong Number, uint Error) NextAnswer()
    {
        Span<byte> reply = stackalloc byte[ReplyBytes];
        Receive(reply);
        Assert.Equal(ReplyMagic, BinaryPrimitives.ReadUInt32BigEndian(reply));
        return (BinaryPrimitives.ReadUInt64BigEndian(reply[8..]), BinaryPrimitives.ReadUInt32BigEndian(reply[4..]));
    }

    /// <summary>Fills a buffer.</summary>
    /// <exception cref="SocketException">The host is gone.</exception>
    internal void Receive(Span<byte> target)
    {
        while (!target.IsEmpty)
        {
            int count = _socket.Receive(target);
            target = count > 0 ? target[count..] : throw new SocketException((int)SocketError.ConnectionReset);
        }
    }

    private void Negotiate(string export)
    {
        Span<byte> answer = stackalloc byte[OptionReplyBytes];
        Receive(answer[..GreetingBytes]);
        int nameBytes = System.Text.Encoding.UTF8.GetByteCount(export);
        byte[] go = new byte[4 + 16 + 4 + nameBytes + 2];
        BinaryPrimitives.WriteUInt32BigEndian(go, 3);   // fixed newstyle, no zeroes
        BinaryPrimitives.WriteUInt64BigEndian(go.AsSpan(4), OptionMagic);
        BinaryPrimitives.WriteUInt32BigEndian(go.AsSpan(12), GoOption);
        BinaryPrimitives.WriteUInt32BigEndian(go.AsSpan(16), (uint)(4 + nameBytes + 2));
        BinaryPrimitives.WriteUInt32BigEndian(go.AsSpan(20), (uint)nameBytes);
        System.Text.Encoding.UTF8.GetBytes(export, go.AsSpan(24));
        SendAll(go);
        uint type;
        do
        {
            Receive(answer);
            type = BinaryPrimitives.ReadUInt32BigEndian(answer[12..]);
            Assert.True(type <= int.MaxValue, $"The export {export} is refused: {type:x}.");
            Receive(new byte[BinaryPrimitives.ReadUInt32BigEndian(answer[16..])]);
        }
        while (type != AckReply);
    }

    private void SendAll(ReadOnlySpan<byte> data)
    {
        while (!data.IsEmpty)
        {
            data = data[_socket.Send(data)..];
        }
    }
}
