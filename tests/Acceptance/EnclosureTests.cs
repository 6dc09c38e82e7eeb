using System.Diagnostics;
using System.Globalization;
using System.Text.Json;

namespace TierSpaces.Acceptance;

/// <summary>
/// Forty-eight emulated disks in two or three enclosures, three kinds of virtual disks on them, and the loss of a whole enclosure while fio writes and
/// verifies: no request fails, every block reads, and all is healthy again when the enclosure is back.
/// </summary>
public sealed class EnclosureTests
{
    private const double Tolerance = 0.02;
    private static readonly bool s_isLong = Environment.GetEnvironmentVariable("TIERSPACES_TEST_LONG") == "1";
    private const double Sector = 4096;
    private const double Terabyte = 1e12;
    private const double Gigabyte = 1e9;

    // Disks of each enclosure: twelve for tables, four for logs, eight for backups. Two sets of tables have six each.
    [Fact]
    public void Two_enclosures_have_the_sizes_of_half_their_disks_and_one_may_be_lost()
    {
        using Home home = NewHome();
        NewDisks(home, 2, ("tables", 12, 600 * Gigabyte, "HDD10K"), ("log", 4, 146 * Gigabyte, "HDD15K"), ("backup", 8, Terabyte, "HDD7200"));
        Answer first = NewVirtualDisk(home, "Tables1", "?-tables[1-6].*", 6, "64KB");
        Assert.Contains("as long as the witness of this host is there", first.Text, StringComparison.Ordinal);
        NewVirtualDisk(home, "Tables2", "?-tables[7-9].*,?-tables1?.*", 6, "64KB");
        NewVirtualDisk(home, "Logs", "?-log*", 4, "64KB");
        NewVirtualDisk(home, "Backup", "?-backup*", 8, "256KB");
        AssertSize(7.2 * Terabyte, SizeOf(home, "Tables1") + SizeOf(home, "Tables2"));
        AssertSize(584 * Gigabyte, SizeOf(home, "Logs"));
        AssertSize(8 * Terabyte, SizeOf(home, "Backup"));
        LoseUnderLoad(home, 1, ["Tables1", "Tables2", "Logs", "Backup"]);
    }

    [Fact]
    public void Three_enclosures_need_no_witness()
    {
        Assert.SkipUnless(s_isLong, "The short run loses one of two.");
        using Home home = NewHome();
        NewDisks(home, 3, ("tables", 8, 600 * Gigabyte, "HDD10K"), ("log", 3, 146 * Gigabyte, "HDD15K"), ("backup", 5, Terabyte, "HDD7200"));
        Assert.DoesNotContain("witness", NewVirtualDisk(home, "Tables", "?-tables*", 8, "64KB").Text, StringComparison.Ordinal);
        NewVirtualDisk(home, "Logs", "?-log*", 4, "64KB");
        NewVirtualDisk(home, "Backup", "?-backup*", 7, "256KB");
        LoseUnderLoad(home, 2, ["Tables", "Logs", "Backup"]);
    }

    private static Home NewHome()
    {
        Tool.Find("fio");
        return new Home();
    }

    private static void NewDisks(Home home, int enclosures, params (string Kind, int Each, double Bytes, string Profile)[] kinds)
    {
        for (int enclosure = 1; enclosure <= enclosures; enclosure++)
        {
            foreach ((string kind, int each, double bytes, string profile) in kinds)
            {
                string paths = string.Join(',', Enumerable.Range(1, each).Select(slot => home.PathOf($"{enclosure}-{kind}{slot}.{kind}.img")));
                string size = (Math.Floor(bytes / Sector) * Sector).ToString("F0", CultureInfo.InvariantCulture);
                home.Run(
                    "New-PhysicalDisk", "-Path", paths, "-Size", size, "-LatencyProfile", profile, "-EnclosureNumber",
                    enclosure.ToString(CultureInfo.InvariantCulture));
            }
        }

        Assert.Equal(48, home.Objects("Get-PhysicalDisk").Length);
        Assert.Equal(enclosures, home.Objects("Get-StorageEnclosure").Length);
        home.Run("New-StoragePool", "-FriendlyName", "p", "-StorageSubSystemFriendlyName", "*", "-PhysicalDisks", "*", "-EnclosureAwareDefault", "true");
    }

    private static Answer NewVirtualDisk(Home home, string name, string disks, int columns, string interleave)
    {
        Answer answer = home.Try(
            "New-VirtualDisk", "-StoragePoolFriendlyName", "p", "-FriendlyName", name, "-ResiliencySettingName", "Mirror", "-NumberOfDataCopies", "2",
            "-NumberOfColumns", columns.ToString(CultureInfo.InvariantCulture), "-Interleave", interleave, "-ProvisioningType", "Fixed",
            "-PhysicalDisksToUse", disks, "-UseMaximumSize", "-WriteCacheSize", "0");
        Assert.True(answer.ExitCode == 0, answer.Text);
        home.Run("Connect-VirtualDisk", "-FriendlyName", name);
        return answer;
    }

    private static double SizeOf(Home home, string name) => home.VirtualDisk(name).GetProperty("Size").GetDouble();

    private static void AssertSize(double published, double actual) =>
        Assert.InRange(actual, published * (1 - Tolerance), published * (1 + Tolerance));

    private static void LoseUnderLoad(Home home, int enclosure, string[] names)
    {
        Process[] loads = [.. names.Select(name => Fio.StartOnExport(home.UriOf(name), 6, home.Root, home.PathOf(name)))];
        Thread.Sleep(TimeSpan.FromSeconds(2));
        home.Run("Set-EmulatedDiskFault", "-FriendlyName", $"{enclosure}-*", "-Pull");
        foreach (Process load in loads)
        {
            Assert.InRange(Fio.Check(Tool.End(load), 1), 20, long.MaxValue);
            load.Dispose();
        }

        JsonElement lost = Assert.Single(home.Objects("Get-StorageEnclosure"), info => info.GetProperty("HealthStatus").GetString() == "Unhealthy");
        Assert.Equal($"Enclosure {enclosure}", lost.GetProperty("FriendlyName").GetString());
        home.Run("Set-EmulatedDiskFault", "-FriendlyName", $"{enclosure}-*", "-Clear");
        home.Eventually("all is healthy", () => home.Objects("Get-PhysicalDisk").Concat(home.Objects("Get-VirtualDisk"))
            .All(static info => info.GetProperty("HealthStatus").GetString() == "Healthy"));
    }
}
