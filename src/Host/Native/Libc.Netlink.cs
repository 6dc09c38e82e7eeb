using System.Runtime.InteropServices;
using Microsoft.Win32.SafeHandles;

namespace TierSpaces.Host.Native;

/// <summary>What a netlink socket needs; .NET's own sockets do not know the family.</summary>
internal static partial class Libc
{
    /// <summary>Address family of netlink.</summary>
    public const int FamilyNetlink = 16;

    /// <summary>Netlink protocol of the generic families.</summary>
    public const int NetlinkGeneric = 16;

    /// <summary>Raw socket, not for child processes.</summary>
    public const int SocketRawCloseOnExec = 3 | 0x80000;

    /// <summary>Option level of sockets in general.</summary>
    public const int LevelSocket = 1;

    /// <summary>Option: how long a receive waits, a <see cref="TimeValue"/>.</summary>
    public const int ReceiveTimeout = 20;

    /// <summary>Option level of netlink.</summary>
    public const int LevelNetlink = 270;

    /// <summary>Option: join a multicast group, a uint.</summary>
    public const int AddMembership = 1;

    /// <summary>No such file, or no such netlink family.</summary>
    public const int ENOENT = 2;

    /// <summary>Nothing arrived in time.</summary>
    public const int EAGAIN = 11;

    /// <summary>A socket as a bare descriptor.</summary>
    [LibraryImport("libc", EntryPoint = "socket", SetLastError = true)]
    public static partial int Socket(int family, int type, int protocol);

    /// <summary>Gives a socket its address.</summary>
    [LibraryImport("libc", EntryPoint = "bind", SetLastError = true)]
    public static partial int Bind(SafeFileHandle socket, in NetlinkAddress address, int length);

    /// <summary>Sends one message.</summary>
    [LibraryImport("libc", EntryPoint = "send", SetLastError = true)]
    public static partial nint Send(SafeFileHandle socket, ReadOnlySpan<byte> message, nint length, int flags);

    /// <summary>Receives one message.</summary>
    [LibraryImport("libc", EntryPoint = "recv", SetLastError = true)]
    public static partial nint Receive(SafeFileHandle socket, Span<byte> buffer, nint length, int flags);

    /// <summary>Sets an option that is a number.</summary>
    [LibraryImport("libc", EntryPoint = "setsockopt", SetLastError = true)]
    public static partial int SetOption(SafeFileHandle socket, int level, int name, in uint value, int length);

    /// <summary>Sets an option that is a time.</summary>
    [LibraryImport("libc", EntryPoint = "setsockopt", SetLastError = true)]
    public static partial int SetOption(SafeFileHandle socket, int level, int name, in TimeValue value, int length);

    /// <summary>struct sockaddr_nl: process 0 lets the kernel choose.</summary>
    [StructLayout(LayoutKind.Sequential)]
    public struct NetlinkAddress
    {
        /// <summary>Always <see cref="FamilyNetlink"/>.</summary>
        public ushort Family;

        /// <summary>Unused.</summary>
        public ushort Padding;

        /// <summary>Number of the socket.</summary>
        public uint Port;

        /// <summary>Multicast groups of the first 32, as bits.</summary>
        public uint Groups;
    }

    /// <summary>struct timeval.</summary>
    [StructLayout(LayoutKind.Sequential)]
    public struct TimeValue
    {
        /// <summary>Whole seconds.</summary>
        public nint Seconds;

        /// <summary>Microseconds, below a million.</summary>
        public nint Microseconds;
    }
}
