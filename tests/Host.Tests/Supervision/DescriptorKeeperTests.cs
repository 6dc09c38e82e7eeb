using System.Diagnostics;
using System.Globalization;
using System.Net.Sockets;
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
        _keeper = DescriptorKeeper.Start(Path);
        _kept = new KeptDescriptors(Path);
    }

    private string Path => System.IO.Path.Combine(_folder, "keep.sock");

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
            using Socket client = Connect(Path);
            client.Send(System.Text.Encoding.UTF8.GetBytes(request));
            client.Shutdown(SocketShutdown.Send);
            byte[] answer = new byte[8];
            Assert.True(client.Receive(answer) == 0 || answer[0] == DescriptorKeeper.Unknown, request);
        }

        Assert.Equal((1, "first"), (_keeper.Count, Taken("a")));
    }

    [Fact]
    public void Without_a_keeper_nothing_is_kept_and_nothing_taken()
    {
        KeptDescriptors nowhere = new(System.IO.Path.Combine(_folder, "none.sock"));
        Assert.Equal(-1, nowhere.Take("a"));
        nowhere.Drop("a");
        using SafeFileHandle file = File.OpenHandle("/dev/null");
        Assert.False(nowhere.TryKeep("a", (int)file.DangerousGetHandle()));
    }

    [Fact]
    public void One_that_says_nothing_keeps_no_other_waiting()
    {
        Keep("a", "first");
        using Socket silent = Connect(Path);
        Stopwatch watch = Stopwatch.StartNew();
        Assert.Equal("first", Taken("a"));
        Assert.True(watch.ElapsedMilliseconds < 3000, $"{watch.ElapsedMilliseconds} ms");
    }

    /// <summary>Without its descriptor a device would end, with the file system that is mounted from it.</summary>
    [Fact]
    public void A_keeper_that_does_not_answer_in_time_is_asked_again()
    {
        string path = System.IO.Path.Combine(_folder, "slow.sock");
        using Socket listener = new(AddressFamily.Unix, SocketType.Stream, ProtocolType.Unspecified);
        listener.Bind(new UnixDomainSocketEndPoint(path));
        listener.Listen();
        int questions = 0;
        Thread keeper = new(() =>
        {
            using Socket first = listener.Accept();   // never answered
            using Socket second = listener.Accept();
            questions = 2;
            second.Receive(new byte[16]);
            second.Send([DescriptorKeeper.Unknown]);
        });
        keeper.Start();
        Assert.Equal(-1, new KeptDescriptors(path, patienceMilliseconds: 200).Take("a"));
        keeper.Join();
        Assert.Equal(2, questions);
    }

    [Fact]
    public void The_socket_is_the_owner_s_alone() =>
        Assert.Equal(UnixFileMode.UserRead | UnixFileMode.UserWrite, File.GetUnixFileMode(Path));

    private static Socket Connect(string path)
    {
        Socket client = new(AddressFamily.Unix, SocketType.Stream, ProtocolType.Unspecified);
        client.Connect(new UnixDomainSocketEndPoint(path));
        return client;
    }

    private void Keep(string id, string content)
    {
        string path = System.IO.Path.Combine(_folder, Guid.NewGuid().ToString("N", CultureInfo.InvariantCulture));
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
