using System.Net;
using System.Net.Sockets;
using System.Text;
using TierSpaces.Engine.Lanes.Native;

namespace TierSpaces.Engine.Lanes.Sockets;

/// <summary>Listening sockets on a lane, by raw nonblocking calls.</summary>
internal sealed unsafe class LaneNetwork(Lane lane) : ILaneNetwork
{
    private const int Backlog = 128;

    public ILaneListener ListenUnix(string path, Action<ILaneSocket> accepted, Action<string>? rejected = null)
    {
        int length = Encoding.UTF8.GetByteCount(path);
        if (length is 0 or > SocketAddresses.MaxUnixPath)
        {
            throw new IOException(
                $"The socket path '{path}' is {length} bytes long; the system allows 1 to {SocketAddresses.MaxUnixPath}. Use a shorter folder.");
        }

        RemoveStaleSocket(path);
        int descriptor = NewSocket(Libc.FamilyUnix, $"the socket '{path}'");
        _ = Libc.ChangeMode(descriptor, Libc.OwnerOnly);   // before bind, the new name takes this mode: never open to others
        BindAndListen(descriptor, SocketAddresses.ForUnix(path), $"the socket '{path}'");
        return Start(descriptor, $"unix:{path}", path, accepted, rejected);
    }

    public ILaneListener ListenTcp(IPEndPoint endpoint, Action<ILaneSocket> accepted, Action<string>? rejected = null)
    {
        bool six = endpoint.AddressFamily == AddressFamily.InterNetworkV6;
        int descriptor = NewSocket(six ? Libc.FamilyInternet6 : Libc.FamilyInternet, $"tcp:{endpoint}");
        SetFlag(descriptor, Libc.OptionSocketLevel, Libc.OptionReuseAddress);
        BindAndListen(descriptor, SocketAddresses.ForInternet(endpoint), $"tcp:{endpoint}");
        byte* bound = stackalloc byte[SocketAddresses.MaxLength];
        uint length = SocketAddresses.MaxLength;
        _ = Libc.SocketName(descriptor, bound, &length);
        IPEndPoint actual = SocketAddresses.ToEndpoint(new ReadOnlySpan<byte>(bound, SocketAddresses.MaxLength)) ?? endpoint;
        return Start(descriptor, $"tcp:{actual}", null, accepted, rejected);
    }

    public ILaneMessages OpenMessages(int descriptor, Action arrived)
    {
        if (lane.LockMemory() is not 0 and var errno)
        {
            throw new IOException($"The memory of the lane cannot be locked: {Errno.Describe(errno)}. Raise the limit of locked memory (ulimit -l).");
        }

        int copy = Libc.CountOrError(Libc.FileControl(descriptor, Libc.DuplicateCloseOnExec, 0));
        return copy >= 0 ? new LaneMessages(lane, copy, arrived) : throw new IOException($"Descriptor {descriptor} cannot be copied: {Errno.Describe(-copy)}.");
    }

    internal static void SetFlag(int descriptor, int level, int option) => SetOption(descriptor, level, option, 1);

    internal static void SetOption(int descriptor, int level, int option, int value) =>
        _ = Libc.SetSocketOption(descriptor, level, option, &value, sizeof(int));

    private LaneListener Start(int descriptor, string address, string? path, Action<ILaneSocket> accepted, Action<string>? rejected)
    {
        LaneListener listener = new(lane, descriptor, address, path, accepted, rejected);
        lane.StartPolling(listener);
        return listener;
    }

    private static int NewSocket(int family, string what)
    {
        int type = Libc.SocketStream | Libc.SocketNonblocking | Libc.SocketCloseOnExec;
        int descriptor = Libc.Socket(family, type, 0);
        return descriptor >= 0 ? descriptor : throw new IOException($"Cannot open {what}: {Errno.Describe(Libc.LastError())}.");
    }

    private static void BindAndListen(int descriptor, byte[] address, string what)
    {
        fixed (byte* bytes = address)
        {
            if (Libc.Bind(descriptor, bytes, (uint)address.Length) == 0 && Libc.Listen(descriptor, Backlog) == 0)
            {
                return;
            }
        }

        int errno = Libc.LastError();
        Libc.Close(descriptor);
        string advice = errno switch
        {
            Errno.EADDRINUSE => "another process listens there; stop it or choose another address",
            Errno.EACCES or Errno.EPERM => "you may not write there; choose another folder or address",
            Errno.ENOENT => "its folder does not exist; create it first",
            _ => "choose another address",
        };
        throw new IOException($"Cannot listen on {what}: {Errno.Describe(errno)}: {advice}.");
    }

    /// <summary>Removes the socket file of a listener that is gone; refuses one that answers, and anything that is no socket.</summary>
    private static void RemoveStaleSocket(string path)
    {
        if (Libc.StatusOfPath(path, follow: false, out FileStatus status) != 0)
        {
            return;
        }

        if (!status.IsSocket)
        {
            throw new IOException($"Cannot listen on the socket '{path}': a file that is no socket has that name. Remove it or choose another path.");
        }

        if (Answers(path))
        {
            throw new IOException($"Cannot listen on the socket '{path}': another process listens there. Stop it or choose another path.");
        }

        _ = Libc.UnlinkPath(path);
    }

    private static bool Answers(string path)
    {
        int descriptor = NewSocket(Libc.FamilyUnix, $"the socket '{path}'");
        byte[] address = SocketAddresses.ForUnix(path);
        fixed (byte* bytes = address)
        {
            int result = Libc.CountOrError(Libc.Connect(descriptor, bytes, (uint)address.Length));
            Libc.Close(descriptor);
            return result is not (-Errno.ECONNREFUSED or -Errno.ENOENT);   // a full backlog (EAGAIN) is alive, too
        }
    }
}
