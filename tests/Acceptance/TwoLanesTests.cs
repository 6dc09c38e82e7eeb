using System.Globalization;
using System.Text.Json;

namespace TierSpaces.Acceptance;

/// <summary>
/// Two virtual disks of one pool, each on a data lane of its own, both under a verified load through NBD: disks of the pool are pulled and come back, and the
/// host is killed. No request of either fails but by the kill, every block of both holds what was acknowledged last, and a repair finds nothing wrong. One disk
/// and one kill, or each disk and 20 kills in the long run.
/// </summary>
public class TwoLanesTests
{
    private const int BlocksWritten = 4096;
    private const int LoadLeastMilliseconds = 2200;   // longer than a host has to live so that the next one is started at once
    private const int LoadMostMilliseconds = 2900;
    private static readonly bool s_isLong = Environment.GetEnvironmentVariable("TIERSPACES_TEST_LONG") == "1";
    private static readonly int s_pulls = s_isLong ? 4 : 1;
    private static readonly int s_kills = s_isLong ? 20 : 1;

    public static TheoryData<string> Backends => s_isLong ? ["uring", "threads"] : ["uring"];

    [Theory]
    [MemberData(nameof(Backends))]
    public void Two_virtual_disks_on_two_lanes_keep_what_they_acknowledged(string backend)
    {
        using Home home = new() { Variables = { ["TIERSPACES_LANES"] = "2", ["TIERSPACES_IO_BACKEND"] = backend } };
        home.Run("New-PhysicalDisk", "-Path", string.Join(',', "abcd".Select(name => home.PathOf($"{name}.img"))), "-Size", "512MB", "-LatencyProfile", "NVMe");
        home.Run("New-StoragePool", "-FriendlyName", "p", "-StorageSubSystemFriendlyName", "*", "-PhysicalDisks", "*");
        Loaded[] loaded = [New(home, "One", 1, "4MB"), New(home, "Two", 2, "0")];
        for (int pull = 0; pull < s_pulls; pull++)
        {
            Pull(home, loaded, "abcd"[pull].ToString());
        }

        Random random = new(1);
        for (int kill = 1; kill <= s_kills; kill++)
        {
            Kill(home, loaded, random.Next(LoadLeastMilliseconds, LoadMostMilliseconds));
        }

        Assert.Equal([1, 2], loaded.Select(each => LaneOf(home, each.Name)).Order());   // a new host puts each on the lane with the least load
        foreach (Loaded disk in loaded)
        {
            home.Eventually($"{disk.Name} is whole", () => IsWhole(home, disk.Name));
            home.AssertSound(disk.Name);
        }

        long written = loaded.Sum(static disk => disk.Writer.Acknowledged);
        long compared = loaded.Sum(static disk => disk.Writer.Compared);
        Assert.All(loaded, static disk => Assert.True(disk.Writer.Acknowledged > 100, $"{disk.Name}: only {disk.Writer.Acknowledged} writes."));
        Console.WriteLine(string.Create(CultureInfo.InvariantCulture,
            $"two lanes, {backend}: {s_pulls} pulls, {s_kills} kills, {written} writes acknowledged, {compared} blocks compared, 0 wrong"));
    }

    /// <summary>A disk is pulled under both loads and comes back under them.</summary>
    private static void Pull(Home home, Loaded[] loaded, string disk)
    {
        bool hasEnded = false;
        Task[] loads = Array.ConvertAll(loaded, each => Start(() => each.Writer.WriteUntil(each.Uri, () => Volatile.Read(ref hasEnded))));
        try
        {
            Thread.Sleep(300);
            home.Run("Set-EmulatedDiskFault", "-FriendlyName", disk, "-Pull");
            home.Eventually("both are degraded", () => Array.TrueForAll(loads, static load => load.IsCompleted)
                || Array.TrueForAll(loaded, each => !IsWhole(home, each.Name)));
            Thread.Sleep(300);
            home.Run("Set-EmulatedDiskFault", "-FriendlyName", disk, "-Clear");
            home.Eventually("it is back", () => Array.TrueForAll(loads, static load => load.IsCompleted) || IsBack(home, disk));
            Thread.Sleep(1500);   // what it missed is copied under the loads
        }
        finally
        {
            Volatile.Write(ref hasEnded, true);
        }

        for (int i = 0; i < loads.Length; i++)
        {
            string? failed = loads[i].ContinueWith(static load => load.Exception?.InnerException?.Message, TaskScheduler.Default).Result;
            Assert.True(failed is null, $"{disk} pulled, {loaded[i].Name}: {failed}\n{home.Log()}");
        }

        home.Eventually("both are whole again", () => Array.TrueForAll(loaded, each => IsWhole(home, each.Name)));
        Check(home, loaded, $"{disk} pulled");
    }

    /// <summary>The host is killed under both loads, and serves both again.</summary>
    private static void Kill(Home home, Loaded[] loaded, int milliseconds)
    {
        int victim = home.Host;
        Task[] loads = Array.ConvertAll(loaded, each => Start(() => each.Writer.WriteUntilItDies(each.Uri)));
        Assert.Equal(-1, Task.WaitAny(loads, milliseconds));
        home.KillHost(victim);
        Task.WaitAll(loads);
        home.Eventually(
            "both are served again", () => Array.TrueForAll(loaded, each => home.VirtualDisk(each.Name).GetProperty("NbdUri").GetString() == each.Uri));
        Check(home, loaded, "killed");
    }

    private static void Check(Home home, Loaded[] loaded, string after)
    {
        foreach (Loaded disk in loaded)
        {
            using NbdClient client = new(disk.Uri);
            string? wrong = disk.Writer.Check(client);
            Assert.True(wrong is null, $"{after}, {disk.Name}: {wrong}\n{home.Log()}");
        }
    }

    private static Loaded New(Home home, string name, int lane, string cache)
    {
        home.Run(
            "New-VirtualDisk", "-StoragePoolFriendlyName", "p", "-FriendlyName", name, "-ResiliencySettingName", "Mirror", "-ProvisioningType", "Thin",
            "-Size", "64MB", "-WriteCacheSize", cache);
        home.Run("Connect-VirtualDisk", "-FriendlyName", name, "-Lane", lane.ToString(CultureInfo.InvariantCulture));
        Assert.Equal(lane, LaneOf(home, name));
        return new Loaded(name, home.UriOf(name), new VerifiedWriter(BlocksWritten, lane));
    }

    private static int LaneOf(Home home, string name) => home.VirtualDisk(name).GetProperty("Lane").GetInt32();

    private static bool IsWhole(Home home, string name) => home.VirtualDisk(name).GetProperty("HealthStatus").GetString() == "Healthy";

    private static bool IsBack(Home home, string disk) =>
        home.Objects("Get-PhysicalDisk", "-FriendlyName", disk).Single().GetProperty("OperationalStatus")[0].GetString() == "OK";

    private static Task Start(Action load) => Task.Factory.StartNew(load, TaskCreationOptions.LongRunning);

    private sealed record Loaded(string Name, string Uri, VerifiedWriter Writer);
}
