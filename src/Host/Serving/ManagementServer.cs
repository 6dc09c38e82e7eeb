using System.Net.Sockets;
using System.Runtime.InteropServices;
using Microsoft.AspNetCore.Connections;
using Microsoft.AspNetCore.Connections.Features;
using Microsoft.AspNetCore.Hosting.Server;
using Microsoft.AspNetCore.Http;
using Microsoft.AspNetCore.Http.Features;
using Microsoft.AspNetCore.Server.Kestrel.Core;
using Microsoft.AspNetCore.Server.Kestrel.Transport.Sockets;
using Microsoft.Extensions.Logging.Abstractions;
using Microsoft.Extensions.Options;
using TierSpaces.Contracts;
using TierSpaces.Engine.Lanes.Native;
using TierSpaces.Host.Metrics;
using TierSpaces.Host.Verbs;

namespace TierSpaces.Host.Serving;

/// <summary>
/// HTTP on the management socket: <c>POST /v1/VERB</c> with a request record as JSON, <c>GET /metrics</c> for Prometheus. Kestrel
/// alone, without a web application around it: three paths need no routing, and a host is up in a fifth of the time. Invariant: a
/// peer that is neither our user nor root gets 403 and nothing else; one of another version gets 426 before anything is done.
/// </summary>
internal sealed class ManagementServer : IHttpApplication<DefaultHttpContext>, IAsyncDisposable
{
    private const long BodyBytesMax = 1 << 20;
    private readonly HostServices _services;
    private readonly VerbDispatcher _dispatcher;
    private readonly KestrelServer _server;

    /// <summary>Prepares a server; <see cref="StartAsync"/> binds it.</summary>
    public ManagementServer(HostServices services, VerbDispatcher dispatcher)
    {
        _services = services;
        _dispatcher = dispatcher;
        KestrelServerOptions options = new KestrelServerOptions { AddServerHeader = false };
        options.Limits.MaxRequestBodySize = BodyBytesMax;
        options.ListenUnixSocket(services.Paths.Socket, listen => listen.Use(RememberPeer));
        _server = new KestrelServer(
            Options.Create(options),
            new SocketTransportFactory(Options.Create(new SocketTransportOptions()), NullLoggerFactory.Instance),
            NullLoggerFactory.Instance);
    }

    /// <summary>Binds the socket and serves from now on.</summary>
    public Task StartAsync(CancellationToken cancellation) => _server.StartAsync(this, cancellation);

    /// <summary>Stops accepting, and waits for requests under way until the token gives up.</summary>
    public Task StopAsync(CancellationToken cancellation) => _server.StopAsync(cancellation);

    /// <inheritdoc/>
    public ValueTask DisposeAsync()
    {
        _server.Dispose();
        return ValueTask.CompletedTask;
    }

    /// <inheritdoc/>
    public DefaultHttpContext CreateContext(IFeatureCollection contextFeatures) => new(contextFeatures);

    /// <inheritdoc/>
    public void DisposeContext(DefaultHttpContext context, Exception? exception)
    {
    }

    /// <inheritdoc/>
    public Task ProcessRequestAsync(DefaultHttpContext context)
    {
        PeerFeature? peer = context.Features.Get<PeerFeature>();
        string path = context.Request.Path.Value ?? "";
        if (peer is null || !peer.Credentials.IsRootOrOwnUser)
        {
            return RefuseAsync(context, StatusCodes.Status403Forbidden);
        }

        context.Response.Headers[ContractsVersion.Header] = ContractsVersion.Text;
        return (context.Request.Method, path) switch
        {
            ("POST", _) when path.StartsWith("/v1/", StringComparison.Ordinal) => RunVerbAsync(context, path["/v1/".Length..]),
            ("GET", "/metrics") => WriteMetricsAsync(context),
            _ => RefuseAsync(context, StatusCodes.Status404NotFound),
        };
    }

    private static ConnectionDelegate RememberPeer(ConnectionDelegate next) => connection =>
    {
        if (connection.Features.Get<IConnectionSocketFeature>() is { Socket: var socket })
        {
            connection.Features.Set(new PeerFeature(PeerOf(socket)));
        }

        return next(connection);
    };

    private static PeerCredentials PeerOf(Socket socket)
    {
        PeerCredentials peer = default;
        socket.GetRawSocketOption(Libc.OptionSocketLevel, Libc.OptionPeerCredentials, MemoryMarshal.AsBytes(new Span<PeerCredentials>(ref peer)));
        return peer;
    }

    private async Task RunVerbAsync(HttpContext context, string verb)
    {
        if (!ContractsVersion.Admits(context.Request.Headers[ContractsVersion.Header].ToString(), verb))
        {
            await RefuseAsync(context, StatusCodes.Status426UpgradeRequired).ConfigureAwait(false);
            return;
        }

        MemoryStream body = new MemoryStream();
        await context.Request.Body.CopyToAsync(body, context.RequestAborted).ConfigureAwait(false);
        ReplyWriter reply = await _dispatcher.RunAsync(verb, body.ToArray(), context.RequestAborted).ConfigureAwait(false);
        context.Response.ContentType = "application/json";
        await reply(new ReplyOutput(context.Response.Body, length => context.Response.ContentLength = length), context.RequestAborted).ConfigureAwait(false);
    }

    private async Task WriteMetricsAsync(HttpContext context)
    {
        context.Response.ContentType = "text/plain; version=0.0.4";
        await WriteAsync(context, await PrometheusPage.MakeAsync(_services).ConfigureAwait(false)).ConfigureAwait(false);
    }

    private static async Task WriteAsync(HttpContext context, byte[] body)
    {
        context.Response.ContentLength = body.Length;
        await context.Response.Body.WriteAsync(body, context.RequestAborted).ConfigureAwait(false);
    }

    private static Task RefuseAsync(HttpContext context, int status)
    {
        context.Response.StatusCode = status;
        context.Response.ContentLength = 0;
        return Task.CompletedTask;
    }

    private sealed record PeerFeature(PeerCredentials Credentials);
}
