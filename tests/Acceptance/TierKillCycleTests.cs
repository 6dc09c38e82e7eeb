using System.Diagnostics;
using System.Globalization;
using System.Text.Json;

namespace TierSpaces.Acceptance;

/// <summary>
/// kill -9 of the host again and again while slices move between tiers under a verified load: what is hot becomes another part of the disk
/// before each optimization, so there is always something to move, and the kill waits until something does. Every acknowledged write is there
/// afterwards, and once everything is unmapped no slice and no room in the pool is left behind. A few cycles, or 300 in the long run.
/// </summary>
public class TierKillCycleTests
{
    private const int Seed = 700;
    private const int Blocks = 65536;          // 256 MiB
    private const int WindowBlocks = 16384;    // as much as the fast tier holds
    private const int HeatMilliseconds = 500;
    private const int LoadLeastMilliseconds = 1900;
    private const int LoadMostMilliseconds = 2400;
    private static readonly int s_cycles = Environment.GetEnvironmentVariable("TIERSPACES_TEST_LONG") == "1" ? 300 : 4;

    [Fact]
    public void Acknowledged_writes_survive_kills_while_slices_move_and_nothing_is_leaked()
    {
        using Home home = new();
        NewTieredDisk(home);
        ulong[] empty = Footprints(home);
        string uri = home.UriOf("Data");
        VerifiedWriter writer = new(Blocks, Seed);
        Random random = new(Seed);
        List<double> pauses = [];
        for (int cycle = 1; cycle <= s_cycles; cycle++)
        {
            using CancellationTokenSource end = new();
            Thread optimizer = new(() => OptimizeAgainAndAgain(home, writer, end.Token));
            optimizer.Start();
            pauses.Add(KillCycleTests.KillOnce(
                home, uri, writer, random.Next(LoadLeastMilliseconds, LoadMostMilliseconds),
                cycle, () => home.Eventually("slices move", () => IsMoving(home), 1)));
            end.Cancel();
            optimizer.Join();
        }

        AssertNothingLeaked(home, uri, empty);
        Console.WriteLine(string.Create(CultureInfo.InvariantCulture,
            $"kill cycles, tiers: seed {Seed}, {s_cycles} kills while slices moved, {writer.Acknowledged} writes acknowledged, {writer.Compared} blocks compared, 0 lost, 0 leaked; serving again after {pauses.Average():F2} s on average, {pauses.Max():F2} s at most"));
    }

    private static void NewTieredDisk(Home home)
    {
        home.Run("New-PhysicalDisk", "-Path", $"{home.PathOf("s1.img")},{home.PathOf("s2.img")}", "-Size", "1GB", "-MediaType", "SSD");
        home.Run("New-PhysicalDisk", "-Path", $"{home.PathOf("h1.img")},{home.PathOf("h2.img")}", "-Size", "1GB", "-MediaType", "HDD");
        home.Run("New-StoragePool", "-FriendlyName", "p", "-StorageSubSystemFriendlyName", "*", "-PhysicalDisks", "*");
        foreach (string media in (string[])["SSD", "HDD"])
        {
            home.Run(
                "New-StorageTier", "-StoragePoolFriendlyName", "p", "-FriendlyName", media, "-MediaType", media,
                "-ResiliencySettingName", "Mirror", "-NumberOfColumns", "1");
        }

        home.Run(
            "New-VirtualDisk", "-StoragePoolFriendlyName", "p", "-FriendlyName", "Data", "-StorageTiers", "SSD,HDD", "-StorageTierSizes", "64MB,256MB",
            "-ProvisioningType", "Thin");
        home.Run("Set-StorageTierSchedule", "-StoragePoolFriendlyName", "p", "-Continuous", "$true");
        home.Run("Connect-VirtualDisk", "-FriendlyName", "Data");
    }

    private static void OptimizeAgainAndAgain(Home home, VerifiedWriter writer, CancellationToken end)
    {
        for (int window = 0; !end.IsCancellationRequested; window = (window + WindowBlocks) % Blocks)
        {
            writer.Window = (window, WindowBlocks);
            end.WaitHandle.WaitOne(HeatMilliseconds);
            home.Try("Optimize-StorageTier", "-VirtualDisk", "Data");   // the host may die meanwhile
        }
    }

    private static bool IsMoving(Home home) =>
        home.Objects("Get-StorageJob").Any(static job => job.GetProperty("JobState").GetString() == "Running" && job.GetProperty("BytesTotal").GetUInt64() > 0);

    private static ulong[] Footprints(Home home) => [.. Tiers(home).Select(static tier => tier.GetProperty("FootprintOnPool").GetUInt64())];

    private static JsonElement[] Tiers(Home home) => home.Objects("Get-StorageTier", "-VirtualDisk", "Data");

    private static void AssertNothingLeaked(Home home, string uri, ulong[] empty)
    {
        home.Eventually("no slice moves", () => home.Objects("Get-StorageJob").All(static job => job.GetProperty("JobState").GetString() == "Completed"));
        using (NbdClient client = new(uri))
        {
            client.Send(1, NbdClient.WriteZeroes, 0, 0, Blocks * 4096);
            Assert.Equal((1ul, 0u), client.NextAnswer());
        }

        home.Eventually("no slice has a place", () => Tiers(home).All(static tier => tier.GetProperty("MappedSize").GetUInt64() == 0));
        home.Eventually("the tiers are as small as when they were new", () => Footprints(home).SequenceEqual(empty));
        JsonElement pool = Assert.Single(home.Objects("Get-StoragePool", "-FriendlyName", "p"));
        Assert.Equal(("Healthy", home.VirtualDisk("Data").GetProperty("FootprintOnPool").GetUInt64()), (pool.GetProperty("HealthStatus").GetString(),
            pool.GetProperty("AllocatedSize").GetUInt64()));
    }
}
