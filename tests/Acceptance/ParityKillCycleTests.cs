using System.Globalization;
using System.Text.Json;

namespace TierSpaces.Acceptance;

/// <summary>
/// kill -9 of the host again and again during partial writes of a virtual disk with parity, physical disks of which are away, as many as may be: every
/// block, also of the missing columns, holds what was acknowledged last or what was under way. The disks come back and are made whole, and a repair finds
/// nothing wrong. Then others are away, and it is the same. A few kills, or 100 of each layout in the long run.
/// </summary>
public class ParityKillCycleTests
{
    private const int Seed = 900;
    private const int BlocksWritten = 4096;
    private static readonly bool s_isLong = Environment.GetEnvironmentVariable("TIERSPACES_TEST_LONG") == "1";
    private static readonly int s_cycles = s_isLong ? 50 : 2;   // with each of two sets of disks

    /// <summary>Gets columns, parities and the size of the write cache.</summary>
    public static TheoryData<int, int, string> Layouts =>
        s_isLong ? new() { { 3, 1, "0" }, { 5, 1, "4MB" }, { 7, 2, "0" } } : new() { { 3, 1, "0" } };

    [Theory]
    [MemberData(nameof(Layouts))]
    public void Partial_writes_with_disks_missing_survive_every_kill(int columns, int parities, string cache)
    {
        using Home home = new();
        string paths = string.Join(',', Enumerable.Range(1, columns + 1).Select(i => home.PathOf($"d{i}.img")));
        home.Run("New-PhysicalDisk", "-Path", paths, "-Size", "1GB", "-MediaType", "SSD");
        home.Run("New-StoragePool", "-FriendlyName", "p", "-StorageSubSystemFriendlyName", "*", "-PhysicalDisks", "d*");
        home.Run(
            "New-VirtualDisk", "-StoragePoolFriendlyName", "p", "-FriendlyName", "Data", "-ResiliencySettingName", "Parity", "-NumberOfColumns",
            columns.ToString(CultureInfo.InvariantCulture), "-PhysicalDiskRedundancy", parities.ToString(CultureInfo.InvariantCulture),
            "-ProvisioningType", "Thin", "-Size", "128MB", "-WriteCacheSize", cache);
        home.Run("Connect-VirtualDisk", "-FriendlyName", "Data");
        string uri = home.UriOf("Data");
        VerifiedWriter writer = new(BlocksWritten, Seed);
        Random random = new(Seed);
        List<double> pauses = [KillCycleTests.KillOnce(home, uri, writer, 1500, 0)];
        string[] used = DisksUnder(home);
        Assert.True(used.Length >= columns);

        for (int round = 0; round < 2; round++)
        {
            string[] away = used[(round * parities)..((round + 1) * parities)];
            Take(home, away);
            for (int cycle = 1; cycle <= s_cycles; cycle++)
            {
                pauses.Add(KillCycleTests.KillOnce(home, uri, writer, random.Next(2200, 2900), (round * s_cycles) + cycle));
            }

            AssertRebuilds(home);
            GiveBack(home, away);
            home.Eventually("the virtual disk is whole", () => home.VirtualDisk("Data").GetProperty("HealthStatus").GetString() == "Healthy"
                && home.Objects("Get-StorageJob").All(static job => job.GetProperty("JobState").GetString() == "Completed"));
            home.AssertSound("Data");
        }

        Take(home, used[^parities..]);
        using (NbdClient client = new(uri))
        {
            string? wrong = writer.Check(client);
            Assert.True(wrong is null, $"With other disks away, seed {Seed}: {wrong}\n{home.Log()}");
        }

        AssertRebuilds(home);
        Console.WriteLine(string.Create(CultureInfo.InvariantCulture,
            $"kill cycles, {columns} columns, {parities} parities with as many disks missing, cache {cache}: seed {Seed}, {2 * s_cycles} kills, {writer.Acknowledged} writes acknowledged, {writer.Compared} blocks compared, 0 lost; serving again after {pauses.Average():F2} s on average, {pauses.Max():F2} s at most"));
    }

    private static void AssertRebuilds(Home home) =>
        Assert.NotEqual(0ul, home.Objects("Get-StorageCounter", "-VirtualDisk", "Data").First().GetProperty("RebuiltBlocks").GetUInt64());

    private static string[] DisksUnder(Home home)
    {
        Dictionary<string, string> names = home.Objects("Get-PhysicalDisk")
            .ToDictionary(static disk => disk.GetProperty("UniqueId").GetString()!, static disk => disk.GetProperty("FriendlyName").GetString()!);
        return [.. home.Objects("Get-PhysicalExtent", "-VirtualDisk", "Data")
            .Select(extent => names[extent.GetProperty("PhysicalDiskUniqueId").GetString()!]).Distinct().Order()];
    }

    private static void Take(Home home, string[] disks)
    {
        home.Run("stop");
        Array.ForEach(disks, disk => File.Move(home.PathOf($"{disk}.img"), home.PathOf($"{disk}.away")));
        home.Run("start");
        Assert.All(disks, disk => Assert.Contains("Lost Communication", StatusOf(home, disk)));
    }

    private static void GiveBack(Home home, string[] disks)
    {
        Array.ForEach(disks, disk => File.Move(home.PathOf($"{disk}.away"), home.PathOf($"{disk}.img")));
        home.Eventually("the disks are back", () => disks.All(disk => StatusOf(home, disk).SequenceEqual(["OK"])));
    }

    private static string[] StatusOf(Home home, string disk) =>
    [
        .. home.Objects("Get-PhysicalDisk", "-FriendlyName", disk).Single().GetProperty("OperationalStatus").EnumerateArray()
            .Select(static word => word.GetString()!),
    ];
}
