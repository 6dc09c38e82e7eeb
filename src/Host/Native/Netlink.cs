using System.Runtime.InteropServices;
using TierSpaces.Engine.Lanes.Native;

namespace TierSpaces.Host.Native;

/// <summary>Calls on a netlink socket; .NET's own sockets do not know the family. Each returns a count or a negative errno.</summary>
internal static unsafe class Netlink
{
    private const int Family = 16;
    private const int GenericFamilies = 16;
    private const int SocketRaw = 3;
    private const int OptionReceiveTimeout = 20;
    private const int OptionLevel = 270;
    private const int OptionAddMembership = 1;

    /// <summary>Opens and binds a socket of the generic families; the kernel chooses its number.</summary>
    public static int Open()
    {
        int socket = Libc.CountOrError(Libc.Socket(Family, SocketRaw | Libc.SocketCloseOnExec, GenericFamilies));
        Address address = new() { Family = Family };
        if (socket >= 0 && Libc.CountOrError(Libc.Bind(socket, (byte*)&address, (uint)sizeof(Address))) is < 0 and var error)
        {
            _ = Libc.Close(socket);
            return error;
        }

        return socket;
    }

    /// <summary>Joins a multicast group.</summary>
    public static int Join(int socket, uint group) =>
        Libc.CountOrError(Libc.SetSocketOption(socket, OptionLevel, OptionAddMembership, &group, sizeof(uint)));

    /// <summary>Sets how long a receive waits.</summary>
    public static int SetPatience(int socket, TimeSpan patience)
    {
        TimeValue time = new() { Seconds = (nint)patience.TotalSeconds, Microseconds = (patience.Milliseconds * 1000) + patience.Microseconds };
        return Libc.CountOrError(Libc.SetSocketOption(socket, Libc.OptionSocketLevel, OptionReceiveTimeout, &time, (uint)sizeof(TimeValue)));
    }

    /// <summary>Sends one message.</summary>
    public static int Send(int socket, ReadOnlySpan<byte> message)
    {
        fixed (byte* bytes = message)
        {
            return Libc.CountOrError(Send(socket, bytes, (nuint)message.Length, 0));
        }
    }

    /// <summary>Receives one message.</summary>
    public static int Receive(int socket, Span<byte> buffer)
    {
        fixed (byte* bytes = buffer)
        {
            return Libc.CountOrError(Libc.Receive(socket, bytes, (nuint)buffer.Length, 0));
        }
    }

    [DllImport("libc", EntryPoint = "send")]
    private static extern nint Send(int socket, void* message, nuint length, int flags);

    /// <summary>struct sockaddr_nl.</summary>
    [StructLayout(LayoutKind.Sequential)]
    private struct Address
    {
        public ushort Family;
        public ushort Padding;
        public uint Port;
        public uint Groups;
    }

    /// <summary>struct timeval.</summary>
    [StructLayout(LayoutKind.Sequential)]
    private struct TimeValue
    {
        public nint Seconds;
        public nint Microseconds;
    }
}
