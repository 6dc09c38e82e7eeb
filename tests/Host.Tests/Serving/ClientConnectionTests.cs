using System.Net.Sockets;
using System.Text;
using TierSpaces.Contracts;
using Xunit;

namespace TierSpaces.Host.Tests.Serving;

/// <summary>Connections of the client, against a peer that is no host.</summary>
public sealed class ClientConnectionTests
{
    [Fact]
    public async Task A_request_never_travels_on_a_connection_that_may_have_outlived_its_host()
    {
        using Scratch scratch = new Scratch();
        using Socket listener = new Socket(AddressFamily.Unix, SocketType.Stream, ProtocolType.Unspecified);
        Directory.CreateDirectory(scratch.Paths.Home);
        listener.Bind(new UnixDomainSocketEndPoint(scratch.Paths.Socket));
        listener.Listen();
        List<int> perConnection = new List<int>();
        _ = Serve(listener, perConnection);

        using ManagementClient client = new ManagementClient(scratch.Paths);
        for (int i = 0; i < 3; i++)
        {
            await client.SendAsync("New-PhysicalDisk", "{}"u8.ToArray(), TestContext.Current.CancellationToken);
        }

        Assert.Equal([1, 1, 1], perConnection);
    }

    [Theory]
    [InlineData("New-PhysicalDisk", 1)]
    [InlineData("Start-TierSpacesHost", 2)]
    [InlineData("Get-PhysicalDisk", 2)]
    public async Task A_lost_answer_is_asked_for_again_only_where_twice_is_as_good_as_once(string verb, int times)
    {
        using Scratch scratch = new Scratch();
        using Socket listener = new Socket(AddressFamily.Unix, SocketType.Stream, ProtocolType.Unspecified);
        Directory.CreateDirectory(scratch.Paths.Home);
        listener.Bind(new UnixDomainSocketEndPoint(scratch.Paths.Socket));
        listener.Listen();
        int asked = 0;
        _ = GoAway(listener, () => asked++);

        using ManagementClient client = new ManagementClient(scratch.Paths, (_, _) => Task.CompletedTask);
        StorageException lost = await Assert.ThrowsAsync<StorageException>(
            () => client.SendAsync(verb, "{}"u8.ToArray(), TestContext.Current.CancellationToken));

        Assert.Equal(nameof(StorageErrors.AnswerLost), lost.Error.Word);
        Assert.Equal(times, asked);
    }

    /// <summary>Takes requests and dies of each.</summary>
    private static async Task GoAway(Socket listener, Action count)
    {
        while (true)
        {
            using Socket peer = await listener.AcceptAsync();
            await peer.ReceiveAsync(new byte[4096]);
            count();
        }
    }

    /// <summary>Answers as a host does, and would go on answering on the same connection.</summary>
    private static async Task Serve(Socket listener, List<int> perConnection)
    {
        while (true)
        {
            Socket peer = await listener.AcceptAsync();
            perConnection.Add(0);
            _ = Answer(peer, () => perConnection[^1]++);
        }
    }

    private static async Task Answer(Socket peer, Action count)
    {
        using NetworkStream stream = new NetworkStream(peer, ownsSocket: true);
        byte[] buffer = new byte[64 << 10];
        StringBuilder text = new StringBuilder();
        while (await stream.ReadAsync(buffer) is > 0 and var length)
        {
            text.Append(Encoding.ASCII.GetString(buffer, 0, length));
            if (text.ToString().EndsWith("\r\n\r\n{}", StringComparison.Ordinal))
            {
                count();
                text.Clear();
                await stream.WriteAsync("HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 2\r\n\r\n{}"u8.ToArray());
            }
        }
    }
}
