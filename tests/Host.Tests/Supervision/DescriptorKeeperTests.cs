using System.Globalization;
using Microsoft.Win32.SafeHandles;
using TierSpaces.Host.Supervision;

namespace TierSpaces.Host.Tests.Supervision;

/// <summary>Descriptors that are handed over, taken back and dropped, through a real socket.</summary>
public sealed class DescriptorKeeperTests : IDisposable
{
    private readonly string _folder = Directory.CreateTempSubdirectory("tk").FullName;
    private readonly DescriptorKeeper _keeper;
    private readonly KeptDescriptors _kept;

    public DescriptorKeeperTests()
    {
        _keeper = DescriptorKeeper.Start(Socket);
        _kept = new KeptDescriptors(Socket);
    }

    private string Socket => Path.Combine(_folder, "keep.sock");

    public void Dispose()
    {
        _keeper.Dispose();
        Directory.Delete(_folder, recursive: true);
    }

    [Fact]
    public void A_descriptor_outlives_the_one_who_handed_it_over()
    {
        Keep("a", "first");
        Keep("b", "second");
        Assert.Equal(2, _keeper.Count);
        Assert.Equal(("first", "second", "first"), (Taken("a"), Taken("b"), Taken("a")));
    }

    [Fact]
    public void A_name_has_the_descriptor_that_came_last_until_it_is_dropped()
    {
        Keep("a", "first");
        Keep("a", "second");
        Assert.Equal((1, "second"), (_keeper.Count, Taken("a")));
        _kept.Drop("a");
        _kept.Drop("never kept");
        Assert.Equal((0, -1), (_keeper.Count, _kept.Take("a")));
    }

    [Fact]
    public void What_is_no_request_changes_nothing()
    {
        Keep("a", "first");
        foreach (string request in (string[])["", "K", "Kb", "Xa", "T"])
        {
            using System.Net.Sockets.Socket client = new(System.Net.Sockets.AddressFamily.Unix, System.Net.Sockets.SocketType.Stream, 0);
            client.Connect(new System.Net.Sockets.UnixDomainSocketEndPoint(Socket));
            client.Send(System.Text.Encoding.UTF8.GetBytes(request));
            client.Shutdown(System.Net.Sockets.SocketShutdown.Send);
            byte[] answer = new byte[8];
            Assert.True(client.Receive(answer) == 0 || answer[0] == DescriptorKeeper.Unknown, request);
        }

        Assert.Equal((1, "first"), (_keeper.Count, Taken("a")));
    }

    [Fact]
    public void Without_a_keeper_nothing_is_kept_and_nothing_taken()
    {
        KeptDescriptors nowhere = new(Path.Combine(_folder, "none.sock"));
        Assert.Equal(-1, nowhere.Take("a"));
        nowhere.Drop("a");
        using SafeFileHandle file = File.OpenHandle("/dev/null");
        Assert.False(nowhere.TryKeep("a", (int)file.DangerousGetHandle()));
    }

    [Fact]
    public void The_socket_is_the_owner_s_alone() =>
        Assert.Equal(UnixFileMode.UserRead | UnixFileMode.UserWrite, File.GetUnixFileMode(Socket));

    private void Keep(string id, string content)
    {
        string path = Path.Combine(_folder, Guid.NewGuid().ToString("N", CultureInfo.InvariantCulture));
        File.WriteAllText(path, content);
        using SafeFileHandle file = File.OpenHandle(path);
        File.Delete(path);
        Assert.True(_kept.TryKeep(id, (int)file.DangerousGetHandle()));
    }

    private string Taken(string id)
    {
        using SafeFileHandle file = new(_kept.Take(id), ownsHandle: true);
        byte[] content = new byte[64];
        return System.Text.Encoding.UTF8.GetString(content, 0, RandomAccess.Read(file, content, 0));
    }
}
