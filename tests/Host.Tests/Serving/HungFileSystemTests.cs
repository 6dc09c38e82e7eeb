using System.Diagnostics;
using System.Text.Json;
using TierSpaces.Acceptance;
using TierSpaces.Host.Attaching;

namespace TierSpaces.Host.Tests.Serving;

/// <summary>
/// A disk image on a file system of which no call returns, as on a FUSE daemon that is stopped: its own pool notices by the deadline, and nothing else of
/// the host waits for it.
/// </summary>
public sealed class HungFileSystemTests
{
    private const int Block = 4096;

    // Longest times without an answer that other work of the machine causes are far below this; before, reads waited until the file system answered.
    private static readonly TimeSpan s_pauseMax = TimeSpan.FromMilliseconds(250);

    public static TheoryData<string> Backends => ["uring", "threads"];

    [Theory]
    [MemberData(nameof(Backends))]
    public void A_disk_whose_file_system_hangs_holds_up_no_other_pool(string backend)
    {
        using Scratch scratch = Start(backend);
        MakePool(scratch, "A");
        MakePool(scratch, "B");
        RequireThatOthersGoOn(scratch, () => scratch.OrderFaults("* A.img block"), () => scratch.OrderFaults());
    }

    [Theory]
    [MemberData(nameof(Backends))]
    public void A_fuse_daemon_that_is_stopped_holds_up_no_other_pool(string backend)
    {
        Assert.SkipUnless(
            File.Exists("/dev/fuse") && Tool.Find("nbdfuse") is not null && Tool.Find("nbdkit") is not null, "It needs /dev/fuse, nbdfuse and nbdkit.");
        using Scratch scratch = Start(backend);
        string mount = Path.Combine(scratch.Root, "fuse");
        Directory.CreateDirectory(mount);
        string image = Path.Combine(mount, "A.img");
        using Process daemon = Process.Start(new ProcessStartInfo("nbdfuse", [image, "[", "nbdkit", "--exit-with-parent", "memory", "256M", "]"])
        {
            RedirectStandardError = true,
        })!;
        try
        {
            Scratch.Eventually("the daemon serves", () => File.Exists(image));
            scratch.Succeed("Register-PhysicalDisk", "-Path", image);
            MakePoolOf(scratch, "A");
            MakePool(scratch, "B");
            RequireThatOthersGoOn(scratch, () => Tool.Run("kill", "-STOP", $"{daemon.Id}"), () => Tool.Run("kill", "-CONT", $"{daemon.Id}"));
            scratch.Succeed("Disconnect-VirtualDisk", "*");   // attached devices outlive the host
            scratch.Succeed("stop");
        }
        finally
        {
            daemon.Kill();   // also one that is stopped; its file system is gone then
            daemon.WaitForExit();
            Tool.Run("umount", "-l", mount);
        }
    }

    private static void RequireThatOthersGoOn(Scratch scratch, Action hang, Action goOn)
    {
        using NbdClient other = Connect(scratch, "B");
        using NbdClient own = Connect(scratch, "A");
        Assert.Equal((0U, 0U), (Write(own), Write(other)));   // blocks that are read come from the disks
        TimeSpan normal = LongestPause(other, TimeSpan.FromSeconds(2));
        hang();
        try
        {
            string status = "";
            TimeSpan slowestVerb = TimeSpan.Zero;
            TimeSpan found = TimeSpan.Zero;
            Stopwatch watch = Stopwatch.StartNew();
            Task verbs = Task.Run(
                () =>
                {
                    while (status != "Lost Communication" && watch.Elapsed < TimeSpan.FromSeconds(20))
                    {
                        TimeSpan begun = watch.Elapsed;
                        scratch.Succeed("Get-StoragePool");
                        status = StatusOf(scratch, "A");
                        found = watch.Elapsed;
                        slowestVerb = found - begun > slowestVerb ? found - begun : slowestVerb;
                    }
                },
                TestContext.Current.CancellationToken);
            TimeSpan paused = LongestPause(other, TimeSpan.FromSeconds(6));
            verbs.GetAwaiter().GetResult();

            Assert.Equal("Lost Communication", status);   // by the look at the file alone: no client uses the disk
            Assert.InRange(found, TimeSpan.FromSeconds(1), TimeSpan.FromSeconds(10));
            Assert.InRange(slowestVerb, TimeSpan.Zero, TimeSpan.FromSeconds(5));
            Assert.InRange(paused, TimeSpan.Zero, normal + s_pauseMax);
            Assert.NotEqual(0U, Read(own));   // a request to it ends with an error
        }
        finally
        {
            goOn();
        }

        Scratch.Eventually("the disk is all right again", () => StatusOf(scratch, "A") == "OK");
        Assert.Equal(0U, Read(own));
        Assert.Equal(0U, Read(other));
    }

    [Theory]
    [MemberData(nameof(Backends))]
    public void A_disk_that_cannot_be_opened_in_time_holds_up_no_other_pool_of_a_host_that_starts(string backend)
    {
        using Scratch scratch = Start(backend);
        MakePool(scratch, "A");
        MakePool(scratch, "B");
        scratch.Succeed("stop");
        scratch.OrderFaults("open A.img block");
        Stopwatch watch = Stopwatch.StartNew();
        scratch.Succeed("start");
        Scratch.Eventually("the other pool is there", () => Read(scratch, "Get-StoragePool", "B").ValueKind == JsonValueKind.Object);
        using (NbdClient other = Connect(scratch, "B"))
        {
            Assert.InRange(watch.Elapsed, TimeSpan.Zero, TimeSpan.FromSeconds(15));
            Assert.Equal(0U, Read(other));
        }

        scratch.OrderFaults();
        Scratch.Eventually("the pool is opened when its disk answers", () => scratch.Run("Connect-VirtualDisk", "A").ExitCode == 0);
        using NbdClient own = new(Read(scratch, "Get-VirtualDisk", "A").GetProperty("NbdUri").GetString()!);
        Assert.Equal(0U, Read(own));
    }

    [Theory]
    [MemberData(nameof(Backends))]
    public async Task A_host_answers_while_a_pool_waits_for_a_disk_and_says_so(string backend)
    {
        using Scratch scratch = Start(backend, "250,20000,50000");
        MakePool(scratch, "A");
        MakePool(scratch, "B");
        scratch.Succeed("stop");
        scratch.OrderFaults("read A.img block");
        scratch.Succeed("start");
        JsonElement pool = Read(scratch, "Get-StoragePool", "A");
        Assert.Equal("In Service", pool.GetProperty("OperationalStatus")[0].GetString());
        Assert.Contains("UTC: waiting for physical disk 'A'", pool.GetProperty("OtherOperationalStatusDescription").GetString(), StringComparison.Ordinal);
        Assert.Equal("In Service", Read(scratch, "Get-VirtualDisk", "A").GetProperty("OperationalStatus")[0].GetString());
        Scratch.Answer status = scratch.Run("status");
        Assert.Equal(1, status.ExitCode);
        Assert.Contains("Warning: storage pool 'A': In Service. it is being opened since ", status.Output, StringComparison.Ordinal);
        Task<Scratch.Answer> change = Task.Run(() => scratch.Run("Connect-VirtualDisk", "A"), TestContext.Current.CancellationToken);
        await Task.Delay(TimeSpan.FromSeconds(2), TestContext.Current.CancellationToken);
        Assert.False(change.IsCompleted);
        scratch.OrderFaults();
        Assert.Equal(0, (await change).ExitCode);
        Assert.Equal("OK", Read(scratch, "Get-StoragePool", "A").GetProperty("OperationalStatus")[0].GetString());
    }

    [Fact]
    public void A_verb_fails_by_its_deadline_where_a_file_system_does_not_answer_and_leaves_nothing()
    {
        using Scratch scratch = Start("uring");
        MakePool(scratch, "B");
        using NbdClient other = Connect(scratch, "B");
        string path = Path.Combine(scratch.Root, "C.img");
        scratch.OrderFaults("truncate C.img block");
        RequireTimeout(scratch, other, "New-PhysicalDisk", "-Path", path, "-Size", "256MB");
        scratch.OrderFaults();
        Scratch.Eventually("the image that was made too late is deleted", () => !File.Exists(path));

        using (FileStream file = File.Create(path))
        {
            file.SetLength(256 << 20);
        }

        scratch.OrderFaults("open C.img block");
        RequireTimeout(scratch, other, "Register-PhysicalDisk", "-Path", path);
        RequireTimeout(scratch, other, "Register-PhysicalDisk", "-Path", path);   // at once: the first call is under way still
        scratch.OrderFaults();
        Scratch.Eventually("the disk can be registered", () => scratch.Run("Register-PhysicalDisk", "-Path", path).ExitCode == 0);
    }

    private static void RequireTimeout(Scratch scratch, NbdClient other, params string[] verb)
    {
        Task<Scratch.Answer> answer = Task.Run(() => scratch.Run(verb), TestContext.Current.CancellationToken);
        TimeSpan paused = LongestPause(other, TimeSpan.FromSeconds(2));
        Scratch.Answer refused = answer.GetAwaiter().GetResult();
        Assert.Equal(1, refused.ExitCode);
        Assert.Contains("StorageWMI 3]", refused.Error, StringComparison.Ordinal);
        Assert.Contains("C.img", refused.Error, StringComparison.Ordinal);
        Assert.InRange(paused, TimeSpan.Zero, TimeSpan.FromSeconds(1));
        Assert.DoesNotContain("C.img", scratch.Run("Get-PhysicalDisk", "-Json").Output, StringComparison.Ordinal);
    }

    private static Scratch Start(string backend, string deadlines = "250,2000,6000")
    {
        Scratch scratch = new() { Variables = { ["TIERSPACES_IO_BACKEND"] = backend, ["TIERSPACES_IO_DEADLINES"] = deadlines } };
        scratch.Variables["TIERSPACES_CALL_FAULTS"] = scratch.CallFaultRules;
        scratch.Succeed("start");
        return scratch;
    }

    /// <summary>A pool with one disk, and a virtual disk of the same name.</summary>
    private static void MakePool(Scratch scratch, string name)
    {
        scratch.Succeed("New-PhysicalDisk", "-Path", $"{scratch.Root}/{name}.img", "-Size", "256MB");
        MakePoolOf(scratch, name);
    }

    private static void MakePoolOf(Scratch scratch, string name)
    {
        scratch.Succeed("New-StoragePool", "-FriendlyName", name, "-StorageSubSystemFriendlyName", "*", "-PhysicalDisks", name);
        scratch.Succeed("New-VirtualDisk", name, "-FriendlyName", name, "-Size", "16MB", "-ResiliencySettingName", "Simple");
    }

    private static NbdClient Connect(Scratch scratch, string name)
    {
        scratch.Succeed("Connect-VirtualDisk", name);
        return new NbdClient(Read(scratch, "Get-VirtualDisk", name).GetProperty("NbdUri").GetString()!);
    }

    private static JsonElement Read(Scratch scratch, string verb, string name)
    {
        Scratch.Answer answer = scratch.Run(verb, name, "-Json");
        return answer.ExitCode == 0 && JsonDocument.Parse(answer.Output).RootElement is { ValueKind: JsonValueKind.Array } list && list.GetArrayLength() > 0
            ? list[0] : default;
    }

    private static string StatusOf(Scratch scratch, string disk) => Read(scratch, "Get-PhysicalDisk", disk).GetProperty("OperationalStatus")[0].GetString()!;

    /// <summary>Reads block after block; the longest time that one took.</summary>
    private static TimeSpan LongestPause(NbdClient client, TimeSpan duration)
    {
        TimeSpan longest = TimeSpan.Zero;
        for (Stopwatch watch = Stopwatch.StartNew(); watch.Elapsed < duration;)
        {
            TimeSpan begun = watch.Elapsed;
            Assert.Equal(0U, Read(client));
            longest = watch.Elapsed - begun > longest ? watch.Elapsed - begun : longest;
        }

        return longest;
    }

    private static uint Write(NbdClient client)
    {
        client.Send(1, NbdClient.Write, NbdClient.ForceUnitAccess, 0, Block, new byte[Block]);
        return client.NextAnswer().Error;
    }

    private static uint Read(NbdClient client)
    {
        client.Send(1, NbdClient.Read, 0, 0, Block);
        uint error = client.NextAnswer().Error;
        if (error == 0)
        {
            client.Receive(new byte[Block]);
        }

        return error;
    }
}
