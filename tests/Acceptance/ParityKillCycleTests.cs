using System.Globalization;
using System.Text.Json;

namespace TierSpaces.Acceptance;

/// <summary>
/// kill -9 of the host again and again during partial writes of a virtual disk with parity, a physical disk of which is away: every block, also of the
/// missing column, is there. The disk comes back and is made whole, a scrub finds nothing, and then another disk is away.
/// </summary>
public class ParityKillCycleTests
{
    private const int Seed = 900;
    private const int BlocksWritten = 4096;
    private static readonly int s_cycles = Environment.GetEnvironmentVariable("TIERSPACES_TEST_LONG") == "1" ? 100 : 4;

    [Fact]
    public void Partial_writes_with_a_disk_missing_survive_every_kill()
    {
        using Home home = new();
        home.NewPool("1GB");
        home.Run(
            "New-VirtualDisk", "-StoragePoolFriendlyName", "p", "-FriendlyName", "Data", "-ResiliencySettingName", "Parity", "-NumberOfColumns", "3",
            "-ProvisioningType", "Thin", "-Size", "128MB");
        home.Run("Connect-VirtualDisk", "-FriendlyName", "Data");
        string uri = home.UriOf("Data");
        VerifiedWriter writer = new(BlocksWritten, Seed);
        Random random = new(Seed);
        List<double> pauses = [KillCycleTests.KillOnce(home, uri, writer, 1500, 0)];
        string[] used = DisksUnder(home);
        Assert.True(used.Length >= 3);
        Take(home, used[0]);

        for (int cycle = 1; cycle <= s_cycles; cycle++)
        {
            pauses.Add(KillCycleTests.KillOnce(home, uri, writer, random.Next(2200, 2900), cycle));
        }

        GiveBack(home, used[0]);
        home.Eventually("the virtual disk is whole", () => home.VirtualDisk("Data").GetProperty("HealthStatus").GetString() == "Healthy"
            && home.Objects("Get-StorageJob").All(static job => job.GetProperty("JobState").GetString() == "Completed"));
        Take(home, used[1]);
        using (NbdClient client = new(uri))
        {
            string? wrong = writer.Check(client);
            Assert.True(wrong is null, $"With another disk away, seed {Seed}: {wrong}\n{home.Log()}");
        }

        JsonElement counters = home.Objects("Get-StorageCounter", "-VirtualDisk", "Data").First();
        Assert.True(counters.GetProperty("RebuiltBlocks").GetInt64() > 0);
        Console.WriteLine(string.Create(CultureInfo.InvariantCulture,
            $"kill cycles, parity with a disk missing: seed {Seed}, {s_cycles} kills, {writer.Acknowledged} writes acknowledged, {writer.Compared} blocks compared, 0 lost; serving again after {pauses.Average():F2} s on average, {pauses.Max():F2} s at most"));
    }

    private static string[] DisksUnder(Home home)
    {
        Dictionary<string, string> names = home.Objects("Get-PhysicalDisk")
            .ToDictionary(static disk => disk.GetProperty("UniqueId").GetString()!, static disk => disk.GetProperty("FriendlyName").GetString()!);
        return [.. home.Objects("Get-PhysicalExtent", "-VirtualDisk", "Data")
            .Select(extent => names[extent.GetProperty("PhysicalDiskUniqueId").GetString()!]).Distinct().Order()];
    }

    private static void Take(Home home, string disk)
    {
        home.Run("stop");
        File.Move(home.PathOf($"{disk}.img"), home.PathOf($"{disk}.away"));
        home.Run("start");
        Assert.Contains(
            home.Objects("Get-PhysicalDisk", "-FriendlyName", disk).Single().GetProperty("OperationalStatus").EnumerateArray(),
            static word => word.GetString() == "Lost Communication");
    }

    private static void GiveBack(Home home, string disk)
    {
        File.Move(home.PathOf($"{disk}.away"), home.PathOf($"{disk}.img"));
        home.Eventually($"disk {disk} is back", () => home.Objects("Get-PhysicalDisk", "-FriendlyName", disk)
            .Single().GetProperty("OperationalStatus").EnumerateArray().All(static word => word.GetString() == "OK"));
    }
}
