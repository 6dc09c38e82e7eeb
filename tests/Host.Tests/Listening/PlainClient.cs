using System.Buffers.Binary;
using System.Net;
using System.Net.Sockets;

namespace TierSpaces.Host.Tests.Listening;

/// <summary>The handshake of an NBD client over TCP, without TLS.</summary>
internal sealed class PlainClient : IDisposable
{
    private readonly TcpClient _client = new();
    private readonly NetworkStream _stream;

    /// <summary>Connects, takes the greeting and sends flags.</summary>
    public PlainClient(int port, uint flags = 3)
    {
        _client.ReceiveTimeout = 20_000;
        _client.Connect(IPAddress.Loopback, port);
        _stream = _client.GetStream();
        Assert.Equal("NBDMAGICIHAVEOPT\0\u0003", System.Text.Encoding.ASCII.GetString(Receive(18)));
        Send(flags);
    }

    /// <summary>Sends an option, and returns the type of its first reply.</summary>
    public uint Option(uint option, params byte[] data)
    {
        SendOption(option, data);
        return NextReply();
    }

    /// <summary>Returns the type of the next reply to an option.</summary>
    public uint NextReply()
    {
        byte[] head = Receive(20);
        Receive((int)BinaryPrimitives.ReadUInt32BigEndian(head.AsSpan(16)));
        return BinaryPrimitives.ReadUInt32BigEndian(head.AsSpan(12));
    }

    /// <summary>Sends an option that is not answered, in one write: the server may close the connection after its first byte.</summary>
    public void SendOption(uint option, params byte[] data)
    {
        byte[] bytes = new byte[16 + data.Length];
        "IHAVEOPT"u8.CopyTo(bytes);
        BinaryPrimitives.WriteUInt32BigEndian(bytes.AsSpan(8), option);
        BinaryPrimitives.WriteInt32BigEndian(bytes.AsSpan(12), data.Length);
        data.CopyTo(bytes, 16);
        _stream.Write(bytes);
    }

    /// <summary>Whether the server has closed the connection, which has nothing more to read.</summary>
    public bool IsClosed()
    {
        try
        {
            return _stream.ReadByte() < 0;
        }
        catch (IOException e) when (e.InnerException is SocketException { SocketErrorCode: SocketError.ConnectionReset })
        {
            return true;
        }
    }

    public void Dispose() => _client.Dispose();

    private void Send(uint number)
    {
        byte[] bytes = new byte[sizeof(uint)];
        BinaryPrimitives.WriteUInt32BigEndian(bytes, number);
        _stream.Write(bytes);
    }

    private byte[] Receive(int length)
    {
        byte[] bytes = new byte[length];
        _stream.ReadExactly(bytes);
        return bytes;
    }
}
