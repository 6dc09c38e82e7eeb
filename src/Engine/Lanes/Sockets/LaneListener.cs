using TierSpaces.Engine.Lanes.Native;
using TierSpaces.Engine.Primitives;

namespace TierSpaces.Engine.Lanes.Sockets;

/// <summary>
/// A listening socket: accepts whatever waits, each time the lane sees arrivals. A connection that would eat the descriptors that the engine
/// needs itself is closed at once, see <see cref="DescriptorReserve"/>.
/// </summary>
internal sealed class LaneListener(
    Lane lane, int descriptor, string address, string? path, Action<ILaneSocket> accepted, Action<string>? rejected) : PollTarget(descriptor), ILaneListener
{
    private const long RetryNs = 100_000_000;

    /// <summary>
    /// Room for whole large replies, as far as the system allows it (net.core.wmem_max): else server and client take turns at each
    /// 200 KiB of one, and the disk waits for both.
    /// </summary>
    private const int SendBufferBytes = 2 << 20;

    private bool _closed;
    private bool _retrying;
    private bool _isWatched = true;
    private int _spare = DescriptorReserve.OpenSpare();   // closed for a moment to take, and refuse, a connection for which there is no descriptor

    public string Address { get; } = address;

    public void Close()
    {
        if (_closed)
        {
            return;
        }

        _closed = true;
        if (path is not null)
        {
            _ = Libc.UnlinkPath(path);
        }

        _ = Libc.Shutdown(Descriptor, Libc.ShutdownBoth);
        lane.StopPolling(this);
    }

    internal override void OnReadable()
    {
        while (!_closed)
        {
            int result = AcceptOne(out LanePeer peer);
            if (result >= 0 && DescriptorReserve.IsReserved(result))
            {
                Libc.Close(result);
                rejected?.Invoke(peer.ToString());
            }
            else if (result >= 0)
            {
                accepted(new LaneSocket(lane, result, peer));
            }
            else if (result is -Errno.EMFILE or -Errno.ENFILE && RefuseOne())
            {
                rejected?.Invoke(peer.ToString());
            }
            else if (result is -Errno.EMFILE or -Errno.ENFILE or -Errno.ENOBUFS or -Errno.ENOMEM)
            {
                RetryLater().Forget();   // the arrival was announced and will not be again
                return;
            }
            else if (result is -Errno.EAGAIN or -Errno.EINVAL)
            {
                return;                    // none left, or shut down; other errors concern one connection that died waiting
            }
        }
    }

    internal override void OnWritable()
    {
    }

    internal override void OnPollingFailed(int errno)
    {
        _isWatched = false;
        RetryLater().Forget();
    }

    internal override void OnPollingStopped()
    {
        Libc.Close(Descriptor);
        Libc.Close(_spare);
    }

    /// <summary>Takes the oldest waiting connection with the spare descriptor and closes it: its client need not wait for what will not come.</summary>
    private bool RefuseOne()
    {
        if (_spare >= 0)
        {
            Libc.Close(_spare);
        }

        int result = AcceptOne(out _);
        if (result >= 0)
        {
            Libc.Close(result);
        }

        _spare = DescriptorReserve.OpenSpare();
        return result >= 0;
    }

    private async LaneTask RetryLater()
    {
        if (_retrying)
        {
            return;
        }

        _retrying = true;
        await lane.Delay(RetryNs);
        _retrying = false;
        if (!_isWatched && !_closed)
        {
            _isWatched = true;
            lane.StartPolling(this);
        }

        OnReadable();
    }

    private unsafe int AcceptOne(out LanePeer peer)
    {
        byte* from = stackalloc byte[SocketAddresses.MaxLength];
        uint length = SocketAddresses.MaxLength;
        int result = Libc.CountOrError(
            Libc.Accept(Descriptor, from, &length, Libc.SocketNonblocking | Libc.SocketCloseOnExec));
        peer = default;
        if (result < 0)
        {
            return result;
        }

        if (path is not null)
        {
            peer = DescribeUnixPeer(result);
            LaneNetwork.SetOption(result, Libc.OptionSocketLevel, Libc.OptionSendBuffer, SendBufferBytes);
            return result;
        }

        peer = new LanePeer($"tcp:{SocketAddresses.ToEndpoint(new ReadOnlySpan<byte>(from, SocketAddresses.MaxLength))}", 0);
        LaneNetwork.SetFlag(result, Libc.OptionTcpLevel, Libc.OptionTcpNoDelay);
        LaneNetwork.SetFlag(result, Libc.OptionSocketLevel, Libc.OptionKeepAlive);
        return result;
    }

    private static unsafe LanePeer DescribeUnixPeer(int socket)
    {
        PeerCredentials peer;
        uint length = (uint)sizeof(PeerCredentials);
        return Libc.GetSocketOption(socket, Libc.OptionSocketLevel, Libc.OptionPeerCredentials, &peer, &length) == 0
            ? new LanePeer($"unix:process {peer.ProcessId}, user {peer.UserId}", peer.ProcessId)
            : new LanePeer("unix:unknown", 0);
    }
}
