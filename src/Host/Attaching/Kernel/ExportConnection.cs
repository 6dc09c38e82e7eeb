using System.Buffers.Binary;
using System.Net.Sockets;
using System.Text;

namespace TierSpaces.Host.Attaching.Kernel;

/// <summary>
/// A connection to an NBD export that has been negotiated (fixed newstyle, GO, simple replies) and on which nothing has been
/// asked yet: as the kernel wants it.
/// </summary>
internal sealed class ExportConnection : IDisposable
{
    private const ulong Greeting = 0x4e42444d41474943;
    private const ulong Option = 0x49484156454f5054;
    private const ulong OptionReply = 0x0003e889045565a9;
    private const uint Go = 7;
    private const uint Acknowledged = 1;
    private const uint Info = 3;
    private const uint ErrorBit = 0x8000_0000;
    private const ushort ExportInfo = 0;
    private const ushort FixedNewstyle = 1;
    private const ushort NoZeroes = 2;
    private const int ReplyMax = 64 << 10;
    private const int PatienceMilliseconds = 10_000;
    private readonly Socket _socket = new(AddressFamily.Unix, SocketType.Stream, ProtocolType.Unspecified);

    private ExportConnection()
    {
    }

    /// <summary>Size of the export in bytes.</summary>
    public long Length { get; private set; } = -1;

    /// <summary>Transmission flags, as the protocol numbers them.</summary>
    public ushort Flags { get; private set; }

    /// <summary>The socket's descriptor; valid until this is disposed.</summary>
    public int Descriptor => (int)_socket.SafeHandle.DangerousGetHandle();

    /// <summary>Connects and negotiates.</summary>
    /// <exception cref="AttachException">No server answers within 10 s, or the server does not have that export.</exception>
    public static ExportConnection Open(string path, string exportName)
    {
        ExportConnection connection = new ExportConnection();
        try
        {
            connection._socket.ReceiveTimeout = connection._socket.SendTimeout = PatienceMilliseconds;
            connection._socket.Connect(new UnixDomainSocketEndPoint(path));
            connection.Negotiate(exportName);

            // The kernel would keep to these times too.
            connection._socket.ReceiveTimeout = connection._socket.SendTimeout = 0;
            return connection;
        }
        catch (SocketException e)
        {
            connection.Dispose();
            throw new AttachException($"{path}: {e.Message}");
        }
        catch (AttachException e)
        {
            connection.Dispose();
            throw new AttachException($"{path}: {e.Message}");
        }
    }

    /// <summary>Closes it for us; for the kernel, if it took it, it stays open.</summary>
    public void Dispose() => _socket.Dispose();

    private void Negotiate(string exportName)
    {
        byte[] hello = Receive(18);
        ushort flags = BinaryPrimitives.ReadUInt16BigEndian(hello.AsSpan(16));
        if (BinaryPrimitives.ReadUInt64BigEndian(hello) != Greeting
            || BinaryPrimitives.ReadUInt64BigEndian(hello.AsSpan(8)) != Option || (flags & FixedNewstyle) == 0)
        {
            throw new AttachException("not an NBD server of fixed newstyle");
        }

        Send(RequestGo((uint)(flags & (FixedNewstyle | NoZeroes)), Encoding.UTF8.GetBytes(exportName)));
        while (!TakeReply())
        {
        }

        if (Length < 0)
        {
            throw new AttachException("the server does not say how large the export is");
        }
    }

    private static byte[] RequestGo(uint flags, byte[] name)
    {
        byte[] request = new byte[4 + 16 + 4 + name.Length + 2];
        BinaryPrimitives.WriteUInt32BigEndian(request, flags);
        BinaryPrimitives.WriteUInt64BigEndian(request.AsSpan(4), Option);
        BinaryPrimitives.WriteUInt32BigEndian(request.AsSpan(12), Go);
        BinaryPrimitives.WriteUInt32BigEndian(request.AsSpan(16), (uint)(4 + name.Length + 2));
        BinaryPrimitives.WriteUInt32BigEndian(request.AsSpan(20), (uint)name.Length);
        name.CopyTo(request, 24);
        return request;
    }

    /// <summary>True when it was the last one and transmission begins.</summary>
    private bool TakeReply()
    {
        byte[] header = Receive(20);
        uint type = BinaryPrimitives.ReadUInt32BigEndian(header.AsSpan(12));
        uint length = BinaryPrimitives.ReadUInt32BigEndian(header.AsSpan(16));
        if (BinaryPrimitives.ReadUInt64BigEndian(header) != OptionReply || length > ReplyMax)
        {
            throw new AttachException("the server's reply is not one of NBD");
        }

        byte[] data = Receive((int)length);
        if ((type & ErrorBit) != 0)
        {
            throw new AttachException($"the server refuses: {Encoding.UTF8.GetString(data)} (0x{type:x})");
        }

        if (type == Info && length >= 12 && BinaryPrimitives.ReadUInt16BigEndian(data) == ExportInfo)
        {
            Length = BinaryPrimitives.ReadInt64BigEndian(data.AsSpan(2));
            Flags = BinaryPrimitives.ReadUInt16BigEndian(data.AsSpan(10));
        }

        return type == Acknowledged;
    }

    private void Send(ReadOnlySpan<byte> bytes)
    {
        while (!bytes.IsEmpty)
        {
            bytes = bytes[_socket.Send(bytes)..];
        }
    }

    private byte[] Receive(int length)
    {
        byte[] bytes = new byte[length];
        for (int done = 0; done < length;)
        {
            int count = _socket.Receive(bytes.AsSpan(done));
            done += count > 0 ? count : throw new AttachException("the server ended the connection");
        }

        return bytes;
    }
}
