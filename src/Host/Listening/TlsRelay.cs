using System.Collections.Concurrent;
using System.Net;
using System.Net.Security;
using System.Net.Sockets;
using System.Security.Authentication;
using TierSpaces.Contracts;

namespace TierSpaces.Host.Listening;

// A TCP address in front of the Unix socket of one virtual disk, for clients with TLS.
//
// Ciphers run here, on threads of .NET: lanes never see TLS. A client is greeted in the clear until it asks for TLS (StartTls). Then the relay
// connects to the socket of the disk, and passes on bytes in both directions. So limits, order and fairness are those of the socket.
//
// Invariants
//  1. No byte of the export reaches a client before TLS is there and, where the folder has authorities, the client has shown a certificate of one.
//  2. At most ConnectionsMax clients are there, those that negotiate included; the next one is closed at once. One that has not come through TLS in time is
//     closed.
//  3. While the disk is not served, its clients are closed, and none is greeted.
//  4. The end of one connection ends no other.

/// <summary>Listens at a TCP address for clients of one virtual disk, with TLS.</summary>
internal sealed class TlsRelay : IAsyncDisposable
{
    private const int ConnectionsMax = 64;
    private const int Backlog = 128;
    private const int CopyBytes = 256 << 10;
    private static readonly TimeSpan s_negotiationMax = TimeSpan.FromSeconds(30);
    private static readonly TimeSpan s_retry = TimeSpan.FromMilliseconds(100);

    private readonly CancellationTokenSource _stopped = new();
    private readonly Socket _listener;
    private readonly string _certificates;
    private readonly string _export;
    private readonly Task _accepting;
    private readonly ConcurrentDictionary<string, bool> _served = [];   // clients that have come through TLS, by address
    private int _connections;

    private TlsRelay(Socket listener, string certificates, string export)
    {
        (_listener, _certificates, _export) = (listener, certificates, export);
        _accepting = Task.Run(AcceptAsync);
    }

    /// <summary>Listens for clients.</summary>
    /// <param name="endpoint">Address and port.</param>
    /// <param name="certificates">Folder of the certificates.</param>
    /// <param name="export">Path of the Unix socket of the virtual disk.</param>
    /// <exception cref="StorageException">The address is taken or not of this machine.</exception>
    public static TlsRelay Start(IPEndPoint endpoint, string certificates, string export) => new(Bind(endpoint), certificates, export);

    /// <summary>Addresses of the clients that have come through TLS.</summary>
    public ICollection<string> Clients => _served.Keys;

    /// <summary>Refuses an address that cannot be listened at now.</summary>
    /// <exception cref="StorageException">It is taken or not of this machine.</exception>
    public static void RequireFree(IPEndPoint endpoint) => Bind(endpoint).Dispose();

    /// <summary>Listens no longer, and closes all connections.</summary>
    public async ValueTask DisposeAsync()
    {
        await _stopped.CancelAsync().ConfigureAwait(false);
        _listener.Dispose();
        await _accepting.ConfigureAwait(false);
    }

    private static Socket Bind(IPEndPoint endpoint)
    {
        Socket socket = new(endpoint.AddressFamily, SocketType.Stream, ProtocolType.Tcp);
        try
        {
            if (endpoint.AddressFamily == AddressFamily.InterNetworkV6)
            {
                socket.DualMode = false;
            }

            socket.Bind(endpoint);
            socket.Listen(Backlog);
            return socket;
        }
        catch (SocketException e)
        {
            socket.Dispose();
            throw new StorageException(
                StorageErrors.SocketTaken, $"-ListenAddress {endpoint}: {e.Message}.", "Choose another address or port, or end what listens there.",
                endpoint.ToString());
        }
    }

    private async Task AcceptAsync()
    {
        while (!_stopped.IsCancellationRequested)
        {
            try
            {
                Socket client = await _listener.AcceptAsync(_stopped.Token).ConfigureAwait(false);
                if (Interlocked.Increment(ref _connections) <= ConnectionsMax && File.Exists(_export))
                {
                    _ = Task.Run(() => ServeAsync(client));
                }
                else
                {
                    End(client);
                }
            }
            catch (Exception e) when (e is OperationCanceledException or ObjectDisposedException)
            {
                return;
            }
            catch (SocketException e)
            {
                HostLog.Write($"{_listener.LocalEndPoint}: a client was not accepted: {e.Message}");
                await Task.Delay(s_retry).ConfigureAwait(false);
            }
        }
    }

    private void End(Socket client)
    {
        client.Dispose();
        Interlocked.Decrement(ref _connections);
    }

    private async Task ServeAsync(Socket client)
    {
        string peer = $"{client.RemoteEndPoint}";
        try
        {
            client.NoDelay = true;
            client.SetSocketOption(SocketOptionLevel.Socket, SocketOptionName.KeepAlive, true);
            await using NetworkStream plain = new(client);
            await ServeAsync(plain, peer).ConfigureAwait(false);
        }
        catch (Exception e) when (e is AuthenticationException or StorageException)
        {
            HostLog.Write($"NBD client {peer}: TLS failed, the connection is closed: {(e.InnerException ?? e).Message}");
        }
        catch (Exception e) when (e is IOException or SocketException or OperationCanceledException or ObjectDisposedException)
        {
            // the client or the virtual disk has gone
        }
        catch (Exception e)
        {
            HostLog.Write($"NBD client {peer}: the connection is closed: {e}");
        }
        finally
        {
            _served.TryRemove(peer, out _);
            End(client);
        }
    }

    private async Task ServeAsync(NetworkStream plain, string peer)
    {
        using CancellationTokenSource patience = CancellationTokenSource.CreateLinkedTokenSource(_stopped.Token);
        patience.CancelAfter(s_negotiationMax);
        if (await StartTls.AwaitAsync(plain, patience.Token).ConfigureAwait(false) is not { } flags)
        {
            return;
        }

        await using SslStream tls = new(plain, leaveInnerStreamOpen: true);
        await tls.AuthenticateAsServerAsync(TlsCertificates.Read(_certificates), patience.Token).ConfigureAwait(false);
        using Socket socket = new(AddressFamily.Unix, SocketType.Stream, ProtocolType.Unspecified);
        await socket.ConnectAsync(new UnixDomainSocketEndPoint(_export), patience.Token).ConfigureAwait(false);
        await using NetworkStream export = new(socket);
        await StartTls.EnterAsync(export, flags, patience.Token).ConfigureAwait(false);
        _served[peer] = true;
        await PassOnAsync(tls, export, socket).ConfigureAwait(false);
    }

    /// <summary>
    /// Passes on what both sides send, until one of them has ended. The export answers what it has taken of a client that ended; TLS says to a client that the
    /// export has ended.
    /// </summary>
    private async Task PassOnAsync(SslStream client, NetworkStream export, Socket exportSocket)
    {
        using CancellationTokenSource ended = CancellationTokenSource.CreateLinkedTokenSource(_stopped.Token);
        Task requests = client.CopyToAsync(export, CopyBytes, ended.Token);
        Task replies = export.CopyToAsync(client, CopyBytes, ended.Token);
        try
        {
            if (await Task.WhenAny(requests, replies).ConfigureAwait(false) == requests)
            {
                await requests.ConfigureAwait(false);
                exportSocket.Shutdown(SocketShutdown.Send);
            }

            await replies.ConfigureAwait(false);
            await client.ShutdownAsync().ConfigureAwait(false);
        }
        finally
        {
            await ended.CancelAsync().ConfigureAwait(false);
            await Task.WhenAll(requests, replies).ContinueWith(static both => _ = both.Exception, TaskScheduler.Default).ConfigureAwait(false);
        }
    }
}
