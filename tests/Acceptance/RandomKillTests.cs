using System.Diagnostics;
using System.Globalization;
using System.Text.Json;
using System.Text.RegularExpressions;

namespace TierSpaces.Acceptance;

/// <summary>
/// kill -9 at random moments, decided by one seed: under load, inside the making of a virtual disk, inside the allocation of a
/// first write, inside a resize; twice the supervisor. After each: the host is back within 5 s without being called, what was
/// acknowledged is there, no slab is leaked, the virtual disks are healthy. fio verifies on a mounted file system all along.
/// </summary>
public partial class RandomKillTests
{
    private const int Seed = 20;
    private const int Allocations = 24;
    private const int AtOnce = 3;
    private const int WriteLength = 64 << 10;
    private static readonly int s_hostKills = Environment.GetEnvironmentVariable("TIERSPACES_TEST_LONG") == "1" ? 44 : 12;
    private static readonly TimeSpan s_patience = TimeSpan.FromSeconds(5);
    private static readonly string[] s_kinds = ["load", "create", "allocate", "resize"];

    private readonly Random _random = new(Seed);
    private readonly List<double> _pauses = [];
    private readonly Dictionary<string, int> _interrupted = [];
    private int _disks;

    [Fact]
    public void Nothing_acknowledged_is_lost_and_nothing_is_leaked()
    {
        Tool.NeedDevices();
        Tool.Find("fio");
        Tool.Find("qemu-io");
        using Home home = new();
        home.NewPool("2GB");
        home.NewMirror("Data", "256MB");
        string device = home.DeviceOf("Data");
        Tool.Run("mkfs.ext4", "-q", device);
        string mount = home.Mount(device);
        Dictionary<string, string> sums = TestFiles.Write(mount, Seed);
        Tool.Run("sync", "-f", mount);

        Stopwatch watch = Stopwatch.StartNew();
        for (int i = 0; i < s_hostKills; i++)
        {
            if (i % (s_hostKills / 2) == s_hostKills / 4)
            {
                KillSupervisor(home);
            }

            Kill(home, s_kinds[i % s_kinds.Length], mount);
        }

        TestFiles.Check(mount, sums);
        home.Unmount(mount);
        FileSystem.Check("ext4", device);
        Assert.True(_interrupted.Values.Sum() > 0, "No kill fell inside anything.");
        Console.WriteLine(string.Create(CultureInfo.InvariantCulture,
            $"random kills: seed {Seed}, {s_hostKills} of the host, 2 of the supervisor in {watch.Elapsed.TotalSeconds:F0} s; host back after {_pauses.Average():F2} s on average, {_pauses.Max():F2} s at most; rounds with work unacknowledged: {string.Join(", ", _interrupted.Select(pair => $"{pair.Key} {pair.Value}"))}"));
    }

    private void Kill(Home home, string kind, string mount)
    {
        using Process load = Fio.StartOnFiles(mount, 2);
        switch (kind)
        {
            case "create": KillInsideCreate(home); break;
            case "allocate": KillInsideAllocation(home); break;
            case "resize": KillInsideResize(home); break;
            default:
                KillHost(home, _random.Next(300, 1200));
                AssertSound(home);
                break;
        }

        Assert.True(Fio.Check(Tool.End(load), 2) > 0);
    }

    /// <summary>Several disks are made at once; one that was acknowledged is there, one that was not may be, whole.</summary>
    private void KillInsideCreate(Home home)
    {
        string[] names = [.. Enumerable.Range(0, AtOnce).Select(_ => $"new{_disks++}")];
        bool[] done = KillInside(home, "create", [.. names.Select(name => (string[])
        [
            "New-VirtualDisk", "-StoragePoolFriendlyName", "p", "-FriendlyName", name, "-ResiliencySettingName", "Mirror",
            "-NumberOfDataCopies", "2", "-NumberOfColumns", "2", "-Size", "256MB",
        ])]);
        HashSet<string> there = [.. AssertSound(home).Select(disk => disk.GetProperty("FriendlyName").GetString()!)];
        Assert.All(names.Zip(done), made => Assert.True(there.Contains(made.First) || !made.Second, $"{made.First} was acknowledged and is gone."));
        if (names.Any(there.Contains))
        {
            home.Run("Remove-VirtualDisk", "-FriendlyName", "new*", "-Confirm:$false");
        }
    }

    /// <summary>A disk is made larger in several steps at once; it has one of the sizes, none below what was acknowledged.</summary>
    private void KillInsideResize(Home home)
    {
        string name = NewDisk(home);
        long before = home.VirtualDisk(name).GetProperty("Size").GetInt64();
        long[] sizes = [.. Enumerable.Range(2, AtOnce).Select(i => i * (256L << 20))];
        bool[] done = KillInside(home, "resize", [.. sizes.Select(size => (string[])
            ["Resize-VirtualDisk", "-FriendlyName", name, "-Size", size.ToString(CultureInfo.InvariantCulture)])]);
        AssertSound(home);
        long after = home.VirtualDisk(name).GetProperty("Size").GetInt64();
        long acknowledged = sizes.Zip(done).Where(step => step.Second).Select(step => step.First).Append(before).Max();
        Assert.Contains(after, sizes.Append(before));
        Assert.True(after >= acknowledged, $"{name} has {after} bytes; {acknowledged} were acknowledged.");
        Remove(home, name);
    }

    /// <summary>Writes to a thin disk, each into slabs of its own; those that were acknowledged are read back.</summary>
    private void KillInsideAllocation(Home home)
    {
        string name = NewDisk(home, "-ProvisioningType", "Thin");
        string uri = home.UriOf(name);
        using Process client = Tool.Start("qemu-io", ["-f", "raw", .. ForEachWrite(i => $"write -f -P {i + 1} {OffsetOf(i)} {WriteLength}"), uri]);
        KillHost(home, _random.Next(20, 250));
        HashSet<long> acknowledged = Offsets(Acknowledged(), Tool.End(client).Output);
        Count("allocate", acknowledged.Count < Allocations);
        AssertSound(home);
        Answer read = Tool.TryRun("qemu-io", ["-r", "-f", "raw", .. ForEachWrite(i => $"read -P {i + 1} {OffsetOf(i)} {WriteLength}"), uri]);
        Assert.DoesNotContain("read failed", read.Text, StringComparison.Ordinal);
        Assert.Equal(Allocations, Offsets(WasRead(), read.Output).Count);
        Assert.Empty(Offsets(Different(), read.Text).Intersect(acknowledged));
        Remove(home, name);
    }

    private static string[] ForEachWrite(Func<int, string> command) =>
        [.. Enumerable.Range(0, Allocations).SelectMany(i => (string[])["-c", command(i)])];

    private static HashSet<long> Offsets(Regex line, string text) =>
        [.. line.Matches(text).Select(match => long.Parse(match.Groups[1].Value, CultureInfo.InvariantCulture))];

    private static long OffsetOf(int i) => i * (8L << 20);

    /// <summary>
    /// Kills the host a moment after the first of several commands has ended, while it is busy with the others; returns which of
    /// them were acknowledged all the same.
    /// </summary>
    private bool[] KillInside(Home home, string kind, string[][] commands)
    {
        Process[] running = [.. commands.Select(words => Tool.Start(home.CommandLine(words)))];
        home.Eventually("one of the commands ends", () => running.Any(command => command.HasExited), pollMilliseconds: 1);
        KillHost(home, _random.Next(0, 20));
        bool[] done = [.. running.Select(command => Tool.End(command).ExitCode == 0)];
        Count(kind, done.Contains(false));
        Array.ForEach(running, command => command.Dispose());
        return done;
    }

    private void KillHost(Home home, int milliseconds)
    {
        int victim = home.Host;
        Thread.Sleep(milliseconds);
        TimeSpan pause = home.KillHost(victim);
        _pauses.Add(pause.TotalSeconds);
        Assert.True(pause < s_patience, $"The host was back after {pause.TotalSeconds:F1} s.\n{home.Log()}");
        Assert.NotEqual(victim, home.Host);
    }

    private static void KillSupervisor(Home home)
    {
        int host = home.Host, victim = home.Supervisor;
        Home.Kill(victim);
        home.Eventually("there is another supervisor", () => home.Supervisor is var other && other != victim && Directory.Exists($"/proc/{other}"));
        Assert.Equal(host, home.Host);
    }

    private string NewDisk(Home home, params string[] more)
    {
        string name = $"disk{_disks++}";
        home.NewMirror(name, "200MB", more);
        return name;
    }

    private static void Remove(Home home, string name)
    {
        home.Run("Disconnect-VirtualDisk", "-FriendlyName", name);
        home.Run("Remove-VirtualDisk", "-FriendlyName", name, "-Confirm:$false");
    }

    /// <summary>Asserts that the pool has the slabs of its virtual disks and no others, and that all virtual disks are healthy.</summary>
    private static JsonElement[] AssertSound(Home home)
    {
        home.Eventually("the pool is open", () => !IsBeingOpened(home));   // the host answers while it opens the pool
        JsonElement[] disks = home.Objects("Get-VirtualDisk");
        long footprint = disks.Sum(disk => disk.GetProperty("FootprintOnPool").GetInt64());
        JsonElement pool = Assert.Single(home.Objects("Get-StoragePool", "-FriendlyName", "p"));
        Assert.Equal(footprint, pool.GetProperty("AllocatedSize").GetInt64());
        Assert.Equal("Healthy", pool.GetProperty("HealthStatus").GetString());
        Assert.All(disks, disk => Assert.Equal("Healthy", disk.GetProperty("HealthStatus").GetString()));
        return disks;
    }

    private static bool IsBeingOpened(Home home) => Assert.Single(home.Objects("Get-StoragePool", "-FriendlyName", "p"))
        .GetProperty("OperationalStatus").EnumerateArray().Any(static status => status.GetString() == "In Service");

    private void Count(string kind, bool interrupted) =>
        _interrupted[kind] = _interrupted.GetValueOrDefault(kind) + (interrupted ? 1 : 0);

    [GeneratedRegex(@"wrote \d+/\d+ bytes at offset (\d+)")]
    private static partial Regex Acknowledged();

    [GeneratedRegex(@"read \d+/\d+ bytes at offset (\d+)")]
    private static partial Regex WasRead();

    [GeneratedRegex(@"Pattern verification failed at offset (\d+)")]
    private static partial Regex Different();
}
