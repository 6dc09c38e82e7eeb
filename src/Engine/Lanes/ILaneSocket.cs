using TierSpaces.Engine.Primitives;

namespace TierSpaces.Engine.Lanes;

/// <summary>The other end of a connection.</summary>
/// <param name="Name">Its name, for messages: <c>unix:process 123, user 0</c> or <c>tcp:127.0.0.1:40000</c>; null while nothing is known of it.</param>
/// <param name="Process">Number of the process that connected, on this machine; 0 where that is not known.</param>
public readonly record struct LanePeer(string? Name, int Process)
{
    /// <inheritdoc/>
    public override string ToString() => Name ?? "unknown";
}

/// <summary>A connected stream socket served by a lane. At most one receive and one send are pending at a time.</summary>
public interface ILaneSocket
{
    /// <summary>The other end.</summary>
    LanePeer Peer { get; }

    /// <summary>Bytes that the other end, or the system for it, has taken so far.</summary>
    long BytesSent { get; }

    /// <summary>
    /// Receives at least one byte into <paramref name="target"/> as soon as any are there. The result is the number of
    /// bytes, 0 at the end of the stream, or a negative <see cref="IoError"/>.
    /// </summary>
    LaneTask<int> Receive(IoBuffer target);

    /// <summary>Sends all the pieces in order, gathered into as few system calls as possible.</summary>
    LaneTask<IoError> Send(ReadOnlyMemory<IoBuffer> pieces);

    /// <summary>
    /// Whether the other end sends nothing any more, because it is gone or has closed its side, also while bytes that it has sent are not received yet.
    /// False where that cannot be known.
    /// </summary>
    bool IsPeerGone => false;

    /// <summary>Shuts the connection down and closes it; pending calls complete with <see cref="IoError.ShutDown"/> or 0.</summary>
    void Close();
}

/// <summary>A listening socket served by a lane.</summary>
public interface ILaneListener
{
    /// <summary>Address in URI form: <c>unix:/path</c> or <c>tcp:127.0.0.1:10809</c>.</summary>
    string Address { get; }

    /// <summary>Stops listening; connections already accepted stay.</summary>
    void Close();
}

/// <summary>
/// A descriptor that gives and takes whole messages, as the kernel's FUSE does. No call waits. The lane's memory is locked from its opening on: the
/// kernel never has to fetch a page of it.
/// </summary>
public interface ILaneMessages
{
    /// <summary>
    /// Reads one message, its first bytes into <paramref name="head"/> and what follows into <paramref name="body"/>. The result is the number of bytes, or a
    /// negative errno; after EAGAIN (no message is there) the next arrival is announced.
    /// </summary>
    int Read(IoBuffer head, IoBuffer body);

    /// <summary>Writes one message of two parts, the second of which may have no bytes. The result is the number of bytes, or a negative errno.</summary>
    int Write(IoBuffer head, IoBuffer body);

    /// <summary>Closes the descriptor; no arrival is announced any more.</summary>
    void Close();
}

/// <summary>Opens sockets on a lane.</summary>
public interface ILaneNetwork
{
    /// <summary>
    /// Listens on a Unix socket path (mode 0600; a stale socket file of a dead listener is replaced, a live one refused) and calls
    /// <paramref name="accepted"/> on the lane for each connection. A connection that would eat the reserve of descriptors is closed at once,
    /// and <paramref name="rejected"/> gets its peer.
    /// </summary>
    /// <exception cref="IOException">The path is taken, too long or not writable; the message says which and what to do.</exception>
    ILaneListener ListenUnix(string path, Action<ILaneSocket> accepted, Action<string>? rejected = null);

    /// <summary>Listens on a TCP endpoint, otherwise like <see cref="ListenUnix"/>.</summary>
    /// <exception cref="IOException">The address is taken or not local.</exception>
    ILaneListener ListenTcp(System.Net.IPEndPoint endpoint, Action<ILaneSocket> accepted, Action<string>? rejected = null);

    /// <summary>
    /// Serves a copy of a descriptor of messages that does not block. <paramref name="arrived"/> is called on the lane when a message, or an error, may
    /// be there.
    /// </summary>
    /// <exception cref="IOException">The memory of the lane cannot be locked, or there is no descriptor left.</exception>
    ILaneMessages OpenMessages(int descriptor, Action arrived);
}
