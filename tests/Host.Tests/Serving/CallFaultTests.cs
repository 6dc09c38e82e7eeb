using System.Diagnostics;
using System.Text.Json;
using TierSpaces.Acceptance;

namespace TierSpaces.Host.Tests.Serving;

/// <summary>
/// System calls on member disks and state files that fail, end early or do not return, below everything that the host does: the seam itself,
/// and what a client of the host sees.
/// </summary>
public class CallFaultTests
{
    private const uint EIO = 5;
    private const int Block = 4096;

    public static TheoryData<string> Backends => ["uring", "threads"];

    [Theory]
    [MemberData(nameof(Backends))]
    public void A_write_that_fails_is_an_error_for_that_request_alone(string backend)
    {
        using Scratch scratch = Start(backend);
        using NbdClient client = Connect(scratch, "Simple", "1.img");
        Assert.Equal(0U, Write(client, 0, 1));
        scratch.OrderFaults("write 1.img EIO 1");
        Assert.Equal(EIO, Write(client, 1 << 20, 2));
        Assert.Equal(0U, Write(client, 2 << 20, 3));
        Assert.Equal(3, Read(client, 2 << 20));
        Assert.Equal(1, Read(client, 0));
    }

    [Theory]
    [MemberData(nameof(Backends))]
    public void Interrupted_calls_are_repeated_and_calls_that_end_early_are_no_success(string backend)
    {
        using Scratch scratch = Start(backend);
        using NbdClient client = Connect(scratch, "Mirror", "1.img,2.img,3.img");
        scratch.OrderFaults("write *.img EINTR 3", "read *.img EINTR 3", "sync *.img EINTR 3");
        Assert.Equal(0U, Write(client, 0, 7));
        Assert.Equal(7, Read(client, 0));
        scratch.OrderFaults("read 2.img short 40", "read 1.img short 40");
        Assert.Equal(7, Read(client, 0));
        scratch.OrderFaults("write 1.img short 1");
        Assert.Equal(0U, Write(client, 0, 8));
        scratch.OrderFaults();
        Assert.Equal(8, Read(client, 0));
    }

    [Theory]
    [MemberData(nameof(Backends))]
    public void A_read_that_blocks_is_answered_by_the_other_copy(string backend)
    {
        using Scratch scratch = Start(backend);
        using NbdClient client = Connect(scratch, "Mirror", "1.img,2.img,3.img");
        Assert.Equal(0U, Write(client, 0, 9));
        foreach (string? image in new[] { "1.img", "2.img", "3.img" })
        {
            scratch.OrderFaults($"read {image} block");
            Stopwatch watch = Stopwatch.StartNew();
            Assert.Equal(9, Read(client, 0));
            Assert.InRange(watch.Elapsed, TimeSpan.Zero, TimeSpan.FromSeconds(8));
            scratch.OrderFaults();
        }
    }

    [Theory]
    [MemberData(nameof(Backends))]
    public async Task A_full_file_system_below_a_member_makes_writes_wait(string backend)
    {
        using Scratch scratch = Start(backend);
        using NbdClient client = Connect(scratch, "Simple", "1.img");
        scratch.OrderFaults("write 1.img ENOSPC");
        Task<uint> waiting = Task.Run(() => Write(client, 0, 4), TestContext.Current.CancellationToken);
        Scratch.Eventually("the virtual disk says what it waits for", () => Status(scratch).Contains("is full: writes wait", StringComparison.Ordinal));
        Assert.False(waiting.IsCompleted);
        scratch.OrderFaults();
        Assert.Equal(0U, await waiting);
        Assert.Equal(4, Read(client, 0));
    }

    [Theory]
    [InlineData("open disks.json.tmp EROFS")]
    [InlineData("write disks.json.tmp ENOSPC")]
    [InlineData("sync disks.json.tmp EIO")]
    [InlineData("rename disks.json EIO")]
    public void A_state_file_that_cannot_be_written_is_an_error_of_the_verb_and_stays_as_it_was(string rule)
    {
        using Scratch scratch = Start("uring");
        scratch.Succeed("New-PhysicalDisk", "-Path", $"{scratch.Root}/1.img", "-Size", "256MB");
        string before = File.ReadAllText(Path.Combine(scratch.Paths.State, "disks.json"));
        scratch.OrderFaults(rule);
        Assert.Equal(1, scratch.Run("New-PhysicalDisk", "-Path", $"{scratch.Root}/2.img", "-Size", "256MB").ExitCode);
        scratch.OrderFaults();
        Assert.Equal(before, File.ReadAllText(Path.Combine(scratch.Paths.State, "disks.json")));
        scratch.Succeed("Get-PhysicalDisk");
    }

    [Fact]
    public async Task A_path_that_leads_elsewhere_after_it_was_looked_at_is_not_followed()
    {
        using Scratch scratch = Start("uring");
        (string? image, string? moved) = (Path.Combine(scratch.Root, "1.img"), Path.Combine(scratch.Root, "moved.img"));
        using (FileStream file = File.Create(image))
        {
            file.SetLength(256 << 20);
        }

        scratch.OrderFaults("stat 1.img block");
        Task<Scratch.Answer> registering = Task.Run(() => scratch.Run("Register-PhysicalDisk", "-Path", image), TestContext.Current.CancellationToken);
        await Task.Delay(2000, TestContext.Current.CancellationToken);
        Assert.False(registering.IsCompleted);
        File.Move(image, moved);
        File.CreateSymbolicLink(image, "/dev/zero");
        scratch.OrderFaults();
        Scratch.Answer answer = await registering;
        Assert.True(answer.ExitCode == 0, answer.Error);
        string inode = $"{Tool("stat", "-c", "%i", moved)}";
        string locks = await File.ReadAllTextAsync("/proc/locks", TestContext.Current.CancellationToken);
        Assert.Contains($":{inode} ", locks);   // what was looked at is what is locked
    }

    private static string Tool(string name, params string[] words) => Host.Attaching.Tool.Run(name, words);

    private static Scratch Start(string backend)
    {
        Scratch scratch = new Scratch { Variables = { ["TIERSPACES_IO_BACKEND"] = backend } };
        scratch.Variables["TIERSPACES_CALL_FAULTS"] = scratch.CallFaultRules;
        scratch.Succeed("start");
        return scratch;
    }

    private static NbdClient Connect(Scratch scratch, string resiliency, string images)
    {
        scratch.Succeed("New-PhysicalDisk", "-Path", string.Join(',', images.Split(',').Select(image => $"{scratch.Root}/{image}")), "-Size", "256MB");
        scratch.Succeed("New-StoragePool", "-FriendlyName", "P", "-StorageSubSystemFriendlyName", "*", "-PhysicalDisks", "*");
        scratch.Succeed("New-VirtualDisk", "P", "-FriendlyName", "v", "-Size", "16MB", "-ResiliencySettingName", resiliency);
        scratch.Succeed("Connect-VirtualDisk", "v");
        return new NbdClient(Disk(scratch).GetProperty("NbdUri").GetString()!);
    }

    private static uint Write(NbdClient client, long offset, byte value)
    {
        client.Send(1, NbdClient.Write, NbdClient.ForceUnitAccess, offset, Block, Enumerable.Repeat(value, Block).ToArray());
        return client.NextAnswer().Error;
    }

    /// <summary>The value that a block is full of.</summary>
    private static byte Read(NbdClient client, long offset)
    {
        client.Send(2, NbdClient.Read, 0, offset, Block);
        Assert.Equal((2UL, 0U), client.NextAnswer());
        byte[] block = new byte[Block];
        client.Receive(block);
        Assert.Equal(-1, block.AsSpan().IndexOfAnyExcept(block[0]));
        return block[0];
    }

    private static JsonElement Disk(Scratch scratch) => JsonDocument.Parse(scratch.Run("Get-VirtualDisk", "v", "-Json").Output).RootElement[0];

    private static string Status(Scratch scratch) => Disk(scratch).GetProperty("OtherOperationalStatusDescription").ToString();
}
