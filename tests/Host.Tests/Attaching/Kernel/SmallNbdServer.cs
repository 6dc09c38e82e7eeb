using System.Buffers.Binary;
using System.Net.Sockets;
using System.Text;

namespace TierSpaces.Host.Tests.Attaching.Kernel;

/// <summary>
/// An NBD server with one export, which answers every read with a byte of its own. Written against the protocol's document: the
/// client under test is not asked what it thinks the protocol is. Dies as a host does: every connection at once.
/// </summary>
internal sealed class SmallNbdServer : IDisposable
{
    private readonly Socket _listener = new(AddressFamily.Unix, SocketType.Stream, ProtocolType.Unspecified);
    private readonly List<Socket> _connections = [];
    private readonly string _path;

    public SmallNbdServer(string path, byte content = 0)
    {
        (_path, Content) = (path, content);
        File.Delete(path);
        _listener.Bind(new UnixDomainSocketEndPoint(path));
        _listener.Listen();
        new Thread(Accept) { IsBackground = true }.Start();
    }

    public const long Length = 3 << 20;

    public const ushort Flags = 0b1_0110_1101;

    public string ExportName { get; init; } = "an export, größer";

    public byte Content { get; }

    /// <summary>Bytes that are sent first instead of a greeting.</summary>
    public byte[]? Greeting { get; init; }

    public int Accepted { get; private set; }

    public void Dispose()
    {
        _listener.Dispose();
        File.Delete(_path);
        lock (_connections)
        {
            _connections.ForEach(connection => connection.Dispose());
        }
    }

    private void Accept()
    {
        try
        {
            while (true)
            {
                Socket connection = _listener.Accept();
                lock (_connections)
                {
                    _connections.Add(connection);
                    Accepted++;
                }

                new Thread(() => Serve(connection)) { IsBackground = true }.Start();
            }
        }
        catch (Exception e) when (e is SocketException or ObjectDisposedException)
        {
            // The server is dead.
        }
    }

    private void Serve(Socket connection)
    {
        try
        {
            using NetworkStream stream = new NetworkStream(connection, ownsSocket: true);
            if (Greeting is not null)
            {
                stream.Write(Greeting);
                connection.Shutdown(SocketShutdown.Send);
                stream.CopyTo(Stream.Null);
            }
            else if (Negotiate(stream))
            {
                Transmit(stream);
            }
        }
        catch (Exception e) when (e is IOException or ObjectDisposedException)
        {
            // One of the two has gone.
        }
    }

    private bool Negotiate(Stream stream)
    {
        stream.Write([.. "NBDMAGICIHAVEOPT"u8, 0, 3]);
        Assert.Equal([0, 0, 0, 3], Read(stream, 4));
        Assert.Equal("IHAVEOPT"u8.ToArray(), Read(stream, 8));
        Assert.Equal([0, 0, 0, 7], Read(stream, 4));
        byte[] data = Read(stream, BinaryPrimitives.ReadInt32BigEndian(Read(stream, 4)));
        string name = Encoding.UTF8.GetString(data.AsSpan(4, BinaryPrimitives.ReadInt32BigEndian(data)));
        if (name != ExportName)
        {
            Reply(stream, 0x8000_0006, "no such thing"u8);
            return false;
        }

        byte[] info = new byte[12];
        BinaryPrimitives.WriteInt64BigEndian(info.AsSpan(2), Length);
        BinaryPrimitives.WriteUInt16BigEndian(info.AsSpan(10), Flags);
        Reply(stream, 3, info);
        Reply(stream, 3, [0, 3, 0, 0, 16, 0, 0, 0, 16, 0, 2, 0, 0, 0]);
        Reply(stream, 1, []);
        return true;
    }

    private static void Reply(Stream stream, uint type, ReadOnlySpan<byte> data)
    {
        byte[] reply = new byte[20 + data.Length];
        BinaryPrimitives.WriteUInt64BigEndian(reply, 0x0003e889045565a9);
        BinaryPrimitives.WriteUInt32BigEndian(reply.AsSpan(8), 7);
        BinaryPrimitives.WriteUInt32BigEndian(reply.AsSpan(12), type);
        BinaryPrimitives.WriteInt32BigEndian(reply.AsSpan(16), data.Length);
        data.CopyTo(reply.AsSpan(20));
        stream.Write(reply);
    }

    private void Transmit(Stream stream)
    {
        while (true)
        {
            byte[] request = Read(stream, 28);
            Assert.Equal([0x25, 0x60, 0x95, 0x13, 0, 0, 0, 0], request[..8]);
            byte[] data = new byte[BinaryPrimitives.ReadInt32BigEndian(request.AsSpan(24))];
            data.AsSpan().Fill(Content);
            stream.Write([0x67, 0x44, 0x66, 0x98, 0, 0, 0, 0, .. request[8..16], .. data]);
        }
    }

    private static byte[] Read(Stream stream, int length)
    {
        byte[] bytes = new byte[length];
        stream.ReadExactly(bytes);
        return bytes;
    }
}
