using System.Buffers.Binary;
using System.Net;
using System.Net.Sockets;
using System.Text;
using TierSpaces.Engine.Lanes.Native;

namespace TierSpaces.Engine.Lanes.Sockets;

/// <summary>Socket addresses as the kernel wants them, and as people read them.</summary>
internal static class SocketAddresses
{
    /// <summary>Longest path of a Unix socket, in bytes of UTF-8.</summary>
    internal const int MaxUnixPath = 107;

    /// <summary>Room for any address used here.</summary>
    internal const int MaxLength = 128;

    internal static byte[] ForUnix(string path)
    {
        byte[] address = new byte[2 + Encoding.UTF8.GetByteCount(path) + 1];
        BitConverter.TryWriteBytes(address, (ushort)Libc.FamilyUnix);
        Encoding.UTF8.GetBytes(path, address.AsSpan(2));
        return address;
    }

    internal static byte[] ForInternet(IPEndPoint endpoint)
    {
        bool six = endpoint.AddressFamily == AddressFamily.InterNetworkV6;
        byte[] address = new byte[six ? 28 : 16];
        BitConverter.TryWriteBytes(address, (ushort)(six ? Libc.FamilyInternet6 : Libc.FamilyInternet));
        BinaryPrimitives.WriteUInt16BigEndian(address.AsSpan(2), (ushort)endpoint.Port);
        endpoint.Address.TryWriteBytes(address.AsSpan(six ? 8 : 4), out _);
        if (six)
        {
            BitConverter.TryWriteBytes(address.AsSpan(24), (uint)endpoint.Address.ScopeId);
        }

        return address;
    }

    /// <summary>The TCP endpoint in a kernel address, or null when it holds another kind.</summary>
    internal static IPEndPoint? ToEndpoint(ReadOnlySpan<byte> address)
    {
        int port = BinaryPrimitives.ReadUInt16BigEndian(address[2..]);
        return BitConverter.ToUInt16(address) switch
        {
            Libc.FamilyInternet => new IPEndPoint(new IPAddress(address.Slice(4, 4)), port),
            Libc.FamilyInternet6 => new IPEndPoint(new IPAddress(address.Slice(8, 16)), port),
            _ => null,
        };
    }
}
