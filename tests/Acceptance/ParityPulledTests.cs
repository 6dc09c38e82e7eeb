using System.Globalization;
using System.Text.Json;

namespace TierSpaces.Acceptance;

/// <summary>
/// Disks of virtual disks with parity are pulled while a client writes, zeroes, reads and compares: as many as there are parities, and one for the
/// journals together with them. No request fails, and every block holds what was written last. The host regenerates what is missing on hot spares under
/// the same load; then the next disks are pulled, and a repair at the end finds nothing wrong. A few disks of few layouts, or every disk and every pair
/// of each layout in the long run.
/// </summary>
public class ParityPulledTests
{
    private const int Blocks = 6144;   // 24 MiB: six rows of three columns of data, more than three rows of eight columns
    private const double SecondsAfter = 2;
    private const string Letters = "abcdefghij";
    private static readonly bool s_isLong = Environment.GetEnvironmentVariable("TIERSPACES_TEST_LONG") == "1";

    /// <summary>Gets columns and medium of virtual disks with single parity; those on HDDs have a write cache.</summary>
    public static TheoryData<int, string> SingleLayouts => s_isLong
        ? new()
        {
            { 3, "SSD" }, { 4, "SSD" }, { 5, "SSD" }, { 6, "SSD" }, { 7, "SSD" }, { 8, "SSD" },
            { 3, "HDD" }, { 5, "HDD" }, { 8, "HDD" },
        }
        : new() { { 3, "HDD" } };

    /// <summary>Gets columns and medium of virtual disks with dual parity.</summary>
    public static TheoryData<int, string> DualLayouts =>
        s_isLong ? new() { { 7, "SSD" }, { 8, "SSD" }, { 7, "HDD" } } : new() { { 7, "SSD" } };

    /// <summary>Gets columns and parities of virtual disks whose journals are on disks of their own.</summary>
    public static TheoryData<int, int> JournalLayouts =>
        s_isLong ? new() { { 3, 1 }, { 4, 1 }, { 5, 1 }, { 7, 2 }, { 8, 2 } } : new() { { 3, 1 } };

    [Theory]
    [MemberData(nameof(SingleLayouts))]
    public void Each_disk_of_single_parity_may_be_pulled_under_load(int columns, string media)
    {
        int[] pulled = s_isLong ? [.. Enumerable.Range(0, columns)] : [1, 2];
        PullInTurn(columns, 1, media, 0, [.. pulled.Select(static disk => (int[])[disk])]);
    }

    [Theory]
    [MemberData(nameof(DualLayouts))]
    public void Each_pair_of_disks_of_dual_parity_may_be_pulled_under_load(int columns, string media)
    {
        IEnumerable<int[]> pairs =
            from first in Enumerable.Range(0, columns) from second in Enumerable.Range(0, columns) where first < second select (int[])[first, second];
        PullInTurn(columns, 2, media, 0, s_isLong ? [.. pairs] : [[1, 4]]);
    }

    /// <summary>There are as many disks for journals as each journal has copies, one more than disks may fail.</summary>
    [Theory]
    [MemberData(nameof(JournalLayouts))]
    public void A_disk_for_journals_may_be_pulled_together_with_disks_of_the_data(int columns, int parities)
    {
        int[][] pulled = [.. Enumerable.Range(0, s_isLong ? columns - 1 : 1).Select(first => Enumerable.Range(first, parities).ToArray())];
        PullInTurn(columns, parities, "HDD", parities + 1, pulled);
    }

    /// <param name="columns">Columns of the virtual disk.</param>
    /// <param name="parities">Its parities.</param>
    /// <param name="media">Medium of the disks of the data.</param>
    /// <param name="journals">Count of disks for journals; where there are some, the first of them is pulled with the others.</param>
    /// <param name="pulled">Disks that are pulled together, by their places among those that hold the data; each disk's place is taken by a spare then.</param>
    private static void PullInTurn(int columns, int parities, string media, int journals, int[][] pulled)
    {
        using Home home = new();
        home.Variables["TIERSPACES_MISSING_DISK_SECONDS"] = "1";   // instead of five minutes
        NewParity(home, columns, parities, media, journals);
        string uri = home.UriOf("Data");
        VerifiedWriter writer = new(Blocks, columns + parities) { IsMixed = true };
        char[] holders = [.. Letters.Take(columns)];
        char[] spares = [.. Letters.Skip(columns).Take(parities)];
        using (NbdClient client = new(uri))
        {
            writer.Fill(client);
        }

        string last = "";
        foreach (int[] places in pulled)
        {
            PutBack(home, last);
            string disks = new([.. places.Select(place => holders[place])]);
            last = journals > 0 ? $"{disks}1" : disks;
            PullUnderLoad(home, uri, writer, last);
            for (int i = 0; i < places.Length; i++)
            {
                (holders[places[i]], spares[i]) = (spares[i], holders[places[i]]);
            }
        }

        home.AssertSound("Data");
        JsonElement counters = home.Objects("Get-StorageCounter", "-VirtualDisk", "Data").First();
        Assert.True(counters.GetProperty("RebuiltBlocks").GetInt64() > 0);
        Console.WriteLine(string.Create(CultureInfo.InvariantCulture,
            $"parity, pulled: {columns} columns, {parities} parities, {media}, {journals} disks for journals: {pulled.Length} times, {writer.Acknowledged} writes acknowledged, {writer.Compared} blocks compared, {counters.GetProperty("RebuiltBlocks")} rebuilt, 0 wrong; longest pause {writer.LongestPause.TotalSeconds:F2} s"));
    }

    private static void NewParity(Home home, int columns, int parities, string media, int journals)
    {
        NewDisks(home, Letters.Take(columns + parities), media);
        NewDisks(home, "123".Take(journals), "SSD");
        home.Run("New-StoragePool", "-FriendlyName", "p", "-StorageSubSystemFriendlyName", "*", "-PhysicalDisks", string.Join(',', Letters.Take(columns)));
        string spares = string.Join(',', Letters.Skip(columns).Take(parities));
        home.Run("Add-PhysicalDisk", "-StoragePoolFriendlyName", "p", "-PhysicalDisks", spares, "-Usage", "HotSpare");
        if (journals > 0)
        {
            home.Run("Add-PhysicalDisk", "-StoragePoolFriendlyName", "p", "-PhysicalDisks", "[123]", "-Usage", "Journal");
        }

        home.Run(
            "New-VirtualDisk", "-StoragePoolFriendlyName", "p", "-FriendlyName", "Data", "-ResiliencySettingName", "Parity", "-NumberOfColumns",
            columns.ToString(CultureInfo.InvariantCulture), "-PhysicalDiskRedundancy", parities.ToString(CultureInfo.InvariantCulture),
            "-ProvisioningType", "Fixed", "-Size", "32MB");
        home.Run("Connect-VirtualDisk", "-FriendlyName", "Data");
    }

    private static void NewDisks(Home home, IEnumerable<char> names, string media)
    {
        string paths = string.Join(',', names.Select(name => home.PathOf($"{name}.img")));
        if (paths.Length > 0)
        {
            home.Run("New-PhysicalDisk", "-Path", paths, "-Size", "128MB", "-LatencyProfile", "NVMe", "-MediaType", media);
        }
    }

    /// <summary>Pulls disks under load, waits until the host has regenerated what was on them, and compares every block.</summary>
    private static void PullUnderLoad(Home home, string uri, VerifiedWriter writer, string disks)
    {
        bool hasEnded = false;
        Task load = Task.Factory.StartNew(() => writer.WriteUntil(uri, () => Volatile.Read(ref hasEnded)), TaskCreationOptions.LongRunning);
        try
        {
            Thread.Sleep(500);
            home.Run("Set-EmulatedDiskFault", "-FriendlyName", $"[{disks}]", "-Pull");
            home.Eventually($"{disks} are given up", () => load.IsCompleted || AreGivenUp(home, disks));
            load.Wait(TimeSpan.FromSeconds(SecondsAfter));   // the repair begins meanwhile
        }
        finally
        {
            Volatile.Write(ref hasEnded, true);
            Judge(home, disks, load.ContinueWith(static ended => ended.Exception?.InnerException?.Message, TaskScheduler.Default).Result);
        }

        home.Eventually($"what was on {disks} is on spares", () => IsWhole(home));
        using (NbdClient client = new(uri))
        {
            Judge(home, disks, writer.Check(client));
        }
    }

    /// <summary>Disks that were pulled come back as spares; one for journals as such.</summary>
    private static void PutBack(Home home, string disks)
    {
        if (disks.Length == 0)
        {
            return;
        }

        home.Run("Set-EmulatedDiskFault", "-FriendlyName", $"[{disks}]", "-Clear");
        home.Eventually($"{disks} are back", () => home.Objects("Get-PhysicalDisk").All(static disk => Words(disk, "OperationalStatus") == "OK"));
        home.Run("Set-PhysicalDisk", "-FriendlyName", $"[{disks.TrimEnd('1')}]", "-Usage", "HotSpare");
        if (disks.EndsWith('1'))
        {
            home.Run("Set-PhysicalDisk", "-FriendlyName", "1", "-Usage", "Journal");
            home.Eventually("the journals are on disk 1 again", () => HoldsJournals(home) && IsAtRest(home));
        }
    }

    private static void Judge(Home home, string disks, string? wrong) => Assert.True(wrong is null, $"{disks} pulled: {wrong}\n{home.Log()}");

    private static bool IsWhole(Home home) => home.VirtualDisk("Data").GetProperty("HealthStatus").GetString() == "Healthy";

    private static bool AreGivenUp(Home home, string disks) =>
        home.Objects("Get-PhysicalDisk", "-FriendlyName", $"[{disks}]").All(static disk => disk.GetProperty("Usage").GetString() == "Retired");

    private static bool HoldsJournals(Home home) =>
        home.Objects("Get-PhysicalDisk", "-FriendlyName", "1").Single().GetProperty("VirtualDiskFootprint").GetUInt64() > 0;

    private static bool IsAtRest(Home home) =>
        home.Objects("Get-StorageJob").All(static job => job.GetProperty("JobState").GetString() == "Completed");

    private static string Words(JsonElement info, string property) =>
        string.Join(", ", info.GetProperty(property).EnumerateArray().Select(static word => word.GetString()));
}
