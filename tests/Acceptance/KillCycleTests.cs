using System.Diagnostics;
using System.Globalization;
using System.Net.Sockets;
using System.Text.Json;

namespace TierSpaces.Acceptance;

/// <summary>
/// kill -9 of the host again and again under a verified load through NBD: every write that was acknowledged, flushed or not, is there when
/// the host is back, which takes at most 5 s; at the end no slab is leaked. A few cycles, or 300 in the long run. A host that dies within
/// two seconds of its start again and again is started later and later, so each of them is left to serve for longer.
/// </summary>
public class KillCycleTests
{
    private const int Seed = 300;
    private const int BlocksWritten = 8192;
    private const int LoadLeastMilliseconds = 2200;
    private const int LoadMostMilliseconds = 2900;
    private const long CacheBytes = 4 << 20;   // a slab of these pools
    private static readonly bool s_isLong = Environment.GetEnvironmentVariable("TIERSPACES_TEST_LONG") == "1";
    private static readonly int s_cycles = s_isLong ? 150 : 4;   // of each layout
    private static readonly int s_cacheCycles = s_isLong ? 100 : 4;
    private static readonly TimeSpan s_patience = TimeSpan.FromSeconds(5);

    [Theory]
    [InlineData("Mirror", 2)]
    [InlineData("Simple", 1)]
    public void Acknowledged_writes_survive_every_kill(string layout, int copies)
    {
        using Home home = new();
        home.NewPool("1GB");
        home.Run(
            "New-VirtualDisk", "-StoragePoolFriendlyName", "p", "-FriendlyName", "Data", "-ResiliencySettingName", layout, "-NumberOfDataCopies",
            copies.ToString(CultureInfo.InvariantCulture), "-NumberOfColumns", "2", "-ProvisioningType", "Thin", "-Size", "128MB");
        home.Run("Connect-VirtualDisk", "-FriendlyName", "Data");
        string uri = home.UriOf("Data");
        VerifiedWriter writer = new(BlocksWritten, Seed);
        Random random = new(Seed);
        List<double> pauses = [];
        Stopwatch watch = Stopwatch.StartNew();
        for (int cycle = 1; cycle <= s_cycles; cycle++)
        {
            pauses.Add(KillOnce(home, uri, writer, random.Next(LoadLeastMilliseconds, LoadMostMilliseconds), cycle));
        }

        AssertNothingLeaked(home);
        Assert.True(writer.Acknowledged > s_cycles, $"Only {writer.Acknowledged} writes in {s_cycles} cycles.");
        Console.WriteLine(string.Create(CultureInfo.InvariantCulture,
            $"kill cycles, {layout}: seed {Seed}, {s_cycles} kills in {watch.Elapsed.TotalSeconds:F0} s, {writer.Acknowledged} writes acknowledged, {writer.Compared} blocks compared, 0 lost; serving again after {pauses.Average():F2} s on average, {pauses.Max():F2} s at most"));
    }

    /// <summary>Loads, kills, waits and compares; returns the seconds from the kill to the first block read.</summary>
    internal static double KillOnce(Home home, string uri, VerifiedWriter writer, int milliseconds, int cycle, Action? beforeKill = null)
    {
        int victim = home.Host;
        Task load = Task.Factory.StartNew(() => writer.WriteUntilItDies(uri), TaskCreationOptions.LongRunning);
        Assert.False(load.Wait(milliseconds), $"Cycle {cycle}: the load ended before the kill.");
        beforeKill?.Invoke();
        Stopwatch watch = Stopwatch.StartNew();
        Home.Kill(victim);
        load.Wait();
        using NbdClient client = Reconnect(home, uri);
        double pause = watch.Elapsed.TotalSeconds;
        Assert.True(pause < s_patience.TotalSeconds, $"Cycle {cycle}: serving again after {pause:F1} s.\n{home.Log()}");
        string? wrong = writer.Check(client);
        Assert.True(wrong is null, $"Cycle {cycle}, seed {Seed}: {wrong}\n{home.Log()}");
        return pause;
    }

    private static NbdClient Reconnect(Home home, string uri)
    {
        NbdClient? client = null;
        home.Eventually("the virtual disk is served again", () => (client = TryConnect(uri)) is not null, pollMilliseconds: 10);
        return client!;
    }

    /// <summary>A client that has read a block, or null.</summary>
    private static NbdClient? TryConnect(string uri)
    {
        NbdClient? client = null;
        try
        {
            client = new NbdClient(uri);
            client.Send(1, NbdClient.Read, 0, 0, 4096);
            Assert.Equal((1ul, 0u), client.NextAnswer());
            client.Receive(new byte[4096]);
            return client;
        }
        catch (SocketException)
        {
            client?.Dispose();
            return null;
        }
    }

    /// <summary>The same with a write cache so small that before each kill its ring has gone round once more: what counts is what was taken home.</summary>
    [Fact]
    public void Acknowledged_writes_survive_kills_while_a_write_cache_is_filled_and_emptied()
    {
        using Home home = new();
        home.Run("New-PhysicalDisk", "-Path", $"{home.PathOf("s1.img")},{home.PathOf("s2.img")}", "-Size", "1GB", "-MediaType", "SSD");
        home.Run("New-PhysicalDisk", "-Path", $"{home.PathOf("h1.img")},{home.PathOf("h2.img")}", "-Size", "1GB", "-MediaType", "HDD");
        home.Run("New-StoragePool", "-FriendlyName", "p", "-StorageSubSystemFriendlyName", "*", "-PhysicalDisks", "*");
        home.Run(
            "New-VirtualDisk", "-StoragePoolFriendlyName", "p", "-FriendlyName", "Data", "-ResiliencySettingName", "Mirror", "-MediaType", "HDD",
            "-NumberOfColumns", "1", "-Size", "128MB", "-WriteCacheSize", CacheBytes.ToString(CultureInfo.InvariantCulture));
        home.Run("Connect-VirtualDisk", "-FriendlyName", "Data");
        string uri = home.UriOf("Data");
        VerifiedWriter writer = new(BlocksWritten, Seed);
        Random random = new(Seed);
        List<double> pauses = [];
        List<double> rounds = [];
        for (int cycle = 1; cycle <= s_cacheCycles; cycle++)
        {
            pauses.Add(KillOnce(
                home, uri, writer, random.Next(LoadLeastMilliseconds, LoadMostMilliseconds), cycle,
                () => rounds.Add(AwaitRound(home))));
        }

        AssertNothingLeaked(home);
        Console.WriteLine(string.Create(CultureInfo.InvariantCulture,
            $"kill cycles, write cache: seed {Seed}, {s_cacheCycles} kills, {writer.Acknowledged} writes acknowledged, the ring gone round {rounds.Sum():F0} times, {rounds.Min():F1} times at least before each, {writer.Compared} blocks compared, 0 lost; serving again after {pauses.Average():F2} s on average, {pauses.Max():F2} s at most"));
    }

    /// <summary>Waits until as much as the ring holds was given free since the host began to serve; how often that is.</summary>
    private static double AwaitRound(Home home)
    {
        double rounds = 0;
        home.Eventually("the ring has gone round", () => (rounds = RoundsOf(home)) >= 1, pollMilliseconds: 10);
        return rounds;
    }

    private static double RoundsOf(Home home)
    {
        JsonElement cache = Assert.Single(home.Objects("Get-VirtualDiskWriteCache", "-FriendlyName", "Data"));
        return (double)cache.GetProperty("EvictedBytes").GetUInt64() / cache.GetProperty("Size").GetUInt64();
    }

    private static void AssertNothingLeaked(Home home)
    {
        JsonElement disk = home.VirtualDisk("Data");
        JsonElement pool = Assert.Single(home.Objects("Get-StoragePool", "-FriendlyName", "p"));
        Assert.Equal(disk.GetProperty("FootprintOnPool").GetInt64(), pool.GetProperty("AllocatedSize").GetInt64());
        Assert.Equal(("Healthy", "Healthy"), (disk.GetProperty("HealthStatus").GetString(), pool.GetProperty("HealthStatus").GetString()));
    }
}
