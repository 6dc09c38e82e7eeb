using System.Net;
using System.Net.Sockets;
using System.Text;
using TierSpaces.Contracts;
using Xunit;

namespace TierSpaces.Host.Tests.Serving;

/// <summary>A host and a caller of different versions.</summary>
public sealed class VersionTests
{
    private const string Other = "99.3.0";

    [Fact]
    public async Task A_caller_of_another_version_is_refused_before_anything_is_done()
    {
        using Scratch scratch = new Scratch();
        scratch.Run("start");
        string image = Path.Combine(scratch.Root, "never.img");

        (HttpStatusCode Status, string HostVersion) answer = await Post(scratch, Other, "New-PhysicalDisk", $$"""{"Path":["{{image}}"],"Size":67108864}""");

        Assert.Equal(HttpStatusCode.UpgradeRequired, answer.Status);
        Assert.Equal(ContractsVersion.Text, answer.HostVersion);
        Assert.False(File.Exists(image));
    }

    [Theory]
    [InlineData(Other, "Get-TierSpacesHost", HttpStatusCode.OK)]
    [InlineData(Other, "Stop-TierSpacesHost", HttpStatusCode.OK)]
    [InlineData(Other, "Get-PhysicalDisk", HttpStatusCode.UpgradeRequired)]
    [InlineData(Other, "Get-SomethingLater", HttpStatusCode.UpgradeRequired)]
    [InlineData("nonsense", "Get-PhysicalDisk", HttpStatusCode.UpgradeRequired)]
    [InlineData("", "Get-PhysicalDisk", HttpStatusCode.OK)]
    public async Task Another_version_may_look_at_the_host_and_stop_it(string version, string verb, HttpStatusCode status)
    {
        using Scratch scratch = new Scratch();
        scratch.Run("start");

        Assert.Equal(status, (await Post(scratch, version, verb, "{}")).Status);
    }

    [Fact]
    public async Task The_third_number_does_not_count()
    {
        using Scratch scratch = new Scratch();
        scratch.Run("start");
        string patched = string.Join('.', [.. ContractsVersion.Text.Split('.')[..2], "77"]);

        Assert.Equal(HttpStatusCode.OK, (await Post(scratch, patched, "Get-PhysicalDisk", "{}")).Status);
    }

    [Fact]
    public async Task A_client_says_both_versions_and_what_to_do()
    {
        using Scratch scratch = new Scratch();
        using Socket listener = new Socket(AddressFamily.Unix, SocketType.Stream, ProtocolType.Unspecified);
        Directory.CreateDirectory(scratch.Paths.Home);
        listener.Bind(new UnixDomainSocketEndPoint(scratch.Paths.Socket));
        listener.Listen();
        Task<string> asked = RefuseOnce(listener);

        using ManagementClient client = new ManagementClient(scratch.Paths);
        StorageException rejected = await Assert.ThrowsAsync<StorageException>(
            () => client.InvokeAsync(new GetPhysicalDiskRequest(), TestContext.Current.CancellationToken));

        Assert.Contains($"{ContractsVersion.Header}: {ContractsVersion.Text}\r\n", await asked);
        Assert.Equal(nameof(StorageErrors.HostVersion), rejected.Error.Word);
        Assert.Equal("The host is of another version.", rejected.Error.Message);
        Assert.Contains($"is version {Other}, what calls it is version {ContractsVersion.Text}", rejected.Error.ExtendedInformation);
        Assert.Contains("Stop-TierSpacesHost", rejected.Error.RecommendedAction);
    }

    /// <summary>A host of another version, as far as a client can tell. Returns what it was asked.</summary>
    private static async Task<string> RefuseOnce(Socket listener)
    {
        using Socket peer = await listener.AcceptAsync();
        byte[] buffer = new byte[64 << 10];
        int length = await peer.ReceiveAsync(buffer);
        await peer.SendAsync(Encoding.ASCII.GetBytes(
            $"HTTP/1.1 426 Upgrade Required\r\n{ContractsVersion.Header}: {Other}\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"));
        peer.Shutdown(SocketShutdown.Send);
        while (await peer.ReceiveAsync(buffer.AsMemory(length)) > 0)
        {
            // the rest of the request, so that the answer is not lost with it
        }

        return Encoding.ASCII.GetString(buffer, 0, length);
    }

    private static async Task<(HttpStatusCode Status, string HostVersion)> Post(Scratch scratch, string version, string verb, string body)
    {
        using HttpClient http = new HttpClient(new SocketsHttpHandler
        {
            ConnectCallback = async (_, cancellation) =>
            {
                Socket socket = new Socket(AddressFamily.Unix, SocketType.Stream, ProtocolType.Unspecified);
                await socket.ConnectAsync(new UnixDomainSocketEndPoint(scratch.Paths.Socket), cancellation);
                return new NetworkStream(socket, ownsSocket: true);
            },
        });
        using HttpRequestMessage request = new HttpRequestMessage(HttpMethod.Post, $"http://host/v1/{verb}") { Content = new StringContent(body) };
        if (version.Length > 0)
        {
            request.Headers.Add(ContractsVersion.Header, version);
        }

        using HttpResponseMessage response = await http.SendAsync(request, TestContext.Current.CancellationToken);
        return (response.StatusCode, string.Concat(response.Headers.GetValues(ContractsVersion.Header)));
    }
}
