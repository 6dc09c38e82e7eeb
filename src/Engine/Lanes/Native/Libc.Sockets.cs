using System.Runtime.InteropServices;

namespace TierSpaces.Engine.Lanes.Native;

internal static unsafe partial class Libc
{
    [DllImport(Library, EntryPoint = "socket")]
    internal static extern int Socket(int family, int type, int protocol);

    [DllImport(Library, EntryPoint = "bind")]
    internal static extern int Bind(int descriptor, byte* address, uint length);

    [DllImport(Library, EntryPoint = "listen")]
    internal static extern int Listen(int descriptor, int backlog);

    [DllImport(Library, EntryPoint = "connect")]
    internal static extern int Connect(int descriptor, byte* address, uint length);

    [DllImport(Library, EntryPoint = "accept4")]
    internal static extern int Accept(int descriptor, byte* address, uint* length, int flags);

    [DllImport(Library, EntryPoint = "getsockname")]
    internal static extern int SocketName(int descriptor, byte* address, uint* length);

    [DllImport(Library, EntryPoint = "getsockopt")]
    internal static extern int GetSocketOption(int descriptor, int level, int name, void* value, uint* length);

    [DllImport(Library, EntryPoint = "setsockopt")]
    internal static extern int SetSocketOption(int descriptor, int level, int name, void* value, uint length);

    [DllImport(Library, EntryPoint = "shutdown")]
    internal static extern int Shutdown(int descriptor, int how);

    [DllImport(Library, EntryPoint = "recv")]
    internal static extern nint Receive(int descriptor, void* buffer, nuint length, int flags);

    [DllImport(Library, EntryPoint = "sendmsg")]
    internal static extern nint SendMessage(int descriptor, MessageHeader* message, int flags);

    [DllImport(Library, EntryPoint = "epoll_create1")]
    internal static extern int EpollCreate(int flags);

    [DllImport(Library, EntryPoint = "epoll_ctl")]
    internal static extern int EpollControl(int epoll, int operation, int descriptor, void* readiness);

    [DllImport(Library, EntryPoint = "epoll_wait")]
    internal static extern int EpollWait(int epoll, void* readiness, int max, int timeoutMs);

    [DllImport(Library, EntryPoint = "poll")]
    internal static extern int Poll(PolledDescriptor* polled, nuint count, int timeoutMs);

    [DllImport(Library, EntryPoint = "getrlimit")]
    private static extern int GetResourceLimit(int resource, ulong* limits);

    /// <summary>Descriptors that this process may have open now (RLIMIT_NOFILE, the soft limit); it may be changed from outside at any time.</summary>
    internal static long DescriptorLimit()
    {
        ulong* limits = stackalloc ulong[2];
        return GetResourceLimit(ResourceDescriptors, limits) == 0 && limits[0] <= int.MaxValue ? (long)limits[0] : int.MaxValue;
    }

    internal const int ResourceDescriptors = 7;
    internal const int FamilyUnix = 1;
    internal const int FamilyInternet = 2;
    internal const int FamilyInternet6 = 10;
    internal const int SocketStream = 1;
    internal const int SocketNonblocking = 0x800;
    internal const int SocketCloseOnExec = 0x80000;
    internal const int OptionSocketLevel = 1;
    internal const int OptionReuseAddress = 2;
    internal const int OptionSendBuffer = 7;
    internal const int OptionKeepAlive = 9;
    internal const int OptionPeerCredentials = 17;
    internal const int OptionTcpLevel = 6;
    internal const int OptionTcpNoDelay = 1;
    internal const int ShutdownBoth = 2;
    internal const int MessageNoSignal = 0x4000;
    internal const int MessageDontWait = 0x40;

    internal const uint PollIn = 1;
    internal const uint PollOut = 4;
    internal const uint PollError = 8;
    internal const uint PollHangUp = 0x10;
    internal const uint PollPeerHangUp = 0x2000;
    internal const uint EpollEdge = 1u << 31;
    internal const int EpollAdd = 1;
    internal const int EpollDelete = 2;
    internal const int EpollModify = 3;
    internal const int EpollCloseOnExec = 0x80000;
    internal const int EpollWait2Call = 441;             // epoll_pwait2: not in every C library
}
