using System.Net;
using System.Net.Http.Headers;
using System.Net.Sockets;
using System.Text.Json;
using System.Text.Json.Serialization.Metadata;

namespace TierSpaces.Contracts;

/// <summary>
/// Talks to the host of one home over its Unix socket: HTTP, JSON, one POST per verb. If no host answers, it starts one and goes
/// on. Invariants: (1) a verb that changes state is sent at most once to a host that accepted the connection, unless twice is as good
/// as once, and never to start a host again that a user has stopped meanwhile; (2) there is no time limit: a verb takes as long as it
/// takes, and is given up by its token; (3) each request has a connection of its own: one that was kept open may outlive its host, and a
/// change sent over it would look like a lost answer.
/// </summary>
public sealed class ManagementClient : IDisposable
{
    private readonly HostPaths _paths;
    private readonly HostLauncher? _launcher;
    private readonly HttpClient _http;

    /// <summary>Makes a client; nothing is connected yet.</summary>
    /// <param name="paths">Home of the host; null takes the environment's.</param>
    /// <param name="launcher">Starts a missing host; null: a missing host is not started.</param>
    public ManagementClient(HostPaths? paths = null, HostLauncher? launcher = null)
    {
        _paths = paths ?? HostPaths.FromEnvironment();
        _launcher = launcher;
        SocketsHttpHandler handler = new SocketsHttpHandler
        {
            ConnectCallback = ConnectAsync,
            UseProxy = false,
            UseCookies = false,
            PooledConnectionLifetime = TimeSpan.Zero,   // invariant 3
        };
        _http = new HttpClient(handler) { BaseAddress = new Uri("http://host/"), Timeout = Timeout.InfiniteTimeSpan };
        _http.DefaultRequestHeaders.Add(ContractsVersion.Header, ContractsVersion.Text);
    }

    /// <summary>Home of the host it talks to.</summary>
    public HostPaths Paths => _paths;

    /// <summary>Runs a verb and returns its objects, of all pages.</summary>
    /// <exception cref="StorageException">The first of its errors; objects that succeeded are lost to the caller.</exception>
    public async Task<TInfo[]> InvokeAsync<TInfo>(StorageRequest<TInfo> request, CancellationToken cancellation = default)
        where TInfo : class
    {
        List<TInfo> objects = new List<TInfo>();
        for (StorageRequest<TInfo>? next = request; next is not null;)
        {
            VerbReply<TInfo> reply = await SendAsync(next, cancellation).ConfigureAwait(false);
            objects.AddRange(reply.Errors is [var first, ..] ? throw new StorageException(first) : reply.Objects);
            next = reply.Next(next);
        }

        return [.. objects];
    }

    /// <summary>Runs a verb and returns objects, errors and warnings together: all, or a page (<see cref="VerbReply{TInfo}.Next"/>).</summary>
    /// <exception cref="StorageException">The host could not be reached.</exception>
    public async Task<VerbReply<TInfo>> SendAsync<TInfo>(
        StorageRequest<TInfo> request, CancellationToken cancellation = default)
        where TInfo : class
    {
        VerbDescription verb = VerbDescription.Of(request.GetType());
        byte[] body = JsonSerializer.SerializeToUtf8Bytes(request, ContractsJson.Default.GetTypeInfo(request.GetType())!);
        byte[] answer = await SendAsync(verb.Name, body, cancellation).ConfigureAwait(false);
        JsonTypeInfo<VerbReply<TInfo>> type = (JsonTypeInfo<VerbReply<TInfo>>)ContractsJson.Default.GetTypeInfo(typeof(VerbReply<TInfo>))!;
        return JsonSerializer.Deserialize(answer, type) ?? new VerbReply<TInfo>();
    }

    /// <summary>Runs a verb given and answered as JSON: what the command line does.</summary>
    /// <param name="verb">Verb and noun.</param>
    /// <param name="body">The request as UTF-8 JSON.</param>
    /// <param name="cancellation">Gives up waiting for the answer.</param>
    /// <returns>A <see cref="VerbReply{TInfo}"/> as UTF-8 JSON.</returns>
    /// <exception cref="StorageException">The host could not be reached, or refused the caller.</exception>
    public async Task<byte[]> SendAsync(string verb, byte[] body, CancellationToken cancellation = default)
    {
        _paths.CheckSocketPath(_paths.Socket);
        VerbDescription? description = VerbDescription.Find(verb);
        return description?.RequestType == typeof(StopTierSpacesHostRequest)
            ? await StopAsync(verb, body, cancellation).ConfigureAwait(false)
            : await AskAsync(verb, description?.Verb.IsSentOnce ?? true, body, cancellation).ConfigureAwait(false);
    }

    /// <inheritdoc/>
    public void Dispose() => _http.Dispose();

    private async Task<byte[]> StopAsync(string verb, byte[] body, CancellationToken cancellation)
    {
        TierSpacesHostInfo[] running = await InvokeAsync(new GetTierSpacesHostRequest(), cancellation).ConfigureAwait(false);
        byte[] answer = await AskAsync(verb, true, body, cancellation).ConfigureAwait(false);
        VerbReply<TierSpacesHostInfo>? reply = JsonSerializer.Deserialize(answer, ContractsJson.Default.VerbReplyTierSpacesHostInfo);
        if (reply is { Errors.Length: 0 })   // else it goes on
        {
            await HostEnd.WaitAsync(running[0].ProcessId, cancellation).ConfigureAwait(false);
        }

        return answer;
    }

    private async Task<byte[]> AskAsync(string verb, bool isSentOnce, byte[] body, CancellationToken cancellation)
    {
        bool launched = false;
        while (true)
        {
            try
            {
                return await PostAsync(verb, body, cancellation).ConfigureAwait(false);
            }
            catch (HttpRequestException e) when (IsNobodyThere(e) && _launcher is not null && !launched)
            {
                launched = true;
                await _launcher(_paths, cancellation).ConfigureAwait(false);
            }
            catch (HttpRequestException e) when (IsAnswerLost(e) && !isSentOnce && _launcher is not null && !launched && !_paths.WasStopped)
            {
                launched = true;
                await _launcher(_paths, cancellation).ConfigureAwait(false);
            }
            catch (HttpRequestException e)
            {
                throw Explain(e, verb);
            }
        }
    }

    private async Task<byte[]> PostAsync(string verb, byte[] body, CancellationToken cancellation)
    {
        using ByteArrayContent content = new ByteArrayContent(body)
        {
            Headers = { ContentType = new MediaTypeHeaderValue("application/json") },
        };
        using HttpResponseMessage response = await _http.PostAsync($"v1/{verb}", content, cancellation).ConfigureAwait(false);
        if (response.StatusCode == HttpStatusCode.Forbidden)
        {
            throw new StorageException(
                StorageErrors.AccessDenied, $"The host at {_paths.Socket} belongs to another user.",
                "Run as that user or as root.");
        }

        if (response.StatusCode == HttpStatusCode.UpgradeRequired)
        {
            throw OtherVersion(response);
        }

        return await response.Content.ReadAsByteArrayAsync(cancellation).ConfigureAwait(false);
    }

    private async ValueTask<Stream> ConnectAsync(SocketsHttpConnectionContext context, CancellationToken cancellation)
    {
        Socket socket = new Socket(AddressFamily.Unix, SocketType.Stream, ProtocolType.Unspecified);
        try
        {
            await socket.ConnectAsync(new UnixDomainSocketEndPoint(_paths.Socket), cancellation).ConfigureAwait(false);
            return new NetworkStream(socket, ownsSocket: true);
        }
        catch
        {
            socket.Dispose();
            throw;
        }
    }

    /// <summary>Nothing was sent, and a host that is started now may do better or say why not.</summary>
    private static bool IsNobodyThere(HttpRequestException e) =>
        IsConnectFailure(e) && SocketErrorOf(e) != SocketError.AccessDenied;

    private static bool IsAnswerLost(HttpRequestException e) => !IsConnectFailure(e);

    private static bool IsConnectFailure(HttpRequestException e) => e.HttpRequestError == HttpRequestError.ConnectionError;

    private static SocketError? SocketErrorOf(HttpRequestException e) => (e.InnerException as SocketException)?.SocketErrorCode;

    private StorageException OtherVersion(HttpResponseMessage response)
    {
        string host = response.Headers.TryGetValues(ContractsVersion.Header, out IEnumerable<string>? versions) ? string.Join(", ", versions) : "unknown";
        return new StorageException(
            StorageErrors.HostVersion,
            $"The host of {_paths.Home} is version {host}, what calls it is version {ContractsVersion.Text}; "
                + "the first two numbers must be the same.",
            "Stop the host with Stop-TierSpacesHost -KeepAttached ('tierspaces stop -KeepAttached'): the next command starts one of its own version, "
                + "and what is connected stays connected.",
            _paths.Home);
    }

    private string WhyUnreachable(HttpRequestException e) => SocketErrorOf(e) switch
    {
        SocketError.AddressNotAvailable => $"No host runs in {_paths.Home}: there is no socket {_paths.Socket}.",
        SocketError.ConnectionRefused => $"No host runs in {_paths.Home}: no process listens on {_paths.Socket}.",
        _ => $"{_paths.Socket}: {(e.InnerException ?? e).Message}.",
    };

    private StorageException Explain(HttpRequestException e, string verb)
    {
        if (SocketErrorOf(e) == SocketError.AccessDenied)
        {
            return new StorageException(
                StorageErrors.AccessDenied, $"The socket {_paths.Socket} may not be opened.", "Run as its owner or as root.",
                inner: e);
        }

        return IsConnectFailure(e)
            ? new StorageException(StorageErrors.HostUnreachable, WhyUnreachable(e), "'tierspaces start' starts one.", inner: e)
            : _paths.WasStopped ? new StorageException(
                StorageErrors.AnswerLost, $"The host of {_paths.Home} was stopped while {verb} ran. The verb may or may not have been carried out.",
                "Start the host with 'tierspaces start', look at the objects, then try again.", inner: e)
            : new StorageException(
                StorageErrors.AnswerLost, $"{verb} may or may not have been carried out.", "Look at the objects, then try again.",
                inner: e);
    }
}
