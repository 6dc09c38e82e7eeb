using System.Diagnostics;
using System.Globalization;

namespace TierSpaces.Acceptance;

/// <summary>
/// A disk of a two-way mirror is lost while fio writes and verifies: no request of the client fails, the pause is short, every block
/// reads afterwards. Pauses are the longest latencies of a series of 250 ms. Pauses of the machine itself can only add to one, so
/// the shortest of a few attempts counts; data and errors are judged in each of them.
/// </summary>
public class LostDiskUnderLoadTests(ITestOutputHelper report)
{
    private const int PauseMsMax = 1000;
    private const int PatienceMs = 2000;           // instead of the usual 10 s, so that the test is short
    private const int Attempts = 4;
    private const int SecondsBefore = 3;
    private const int SecondsAfter = 6;

    [Theory]
    [InlineData("truncate")]
    [InlineData("unlink")]
    public void An_image_that_is_gone_pauses_the_client_at_most_a_second(string way)
    {
        AssertPause(0, PauseMsMax, () =>
        {
            using Home home = NewHome();
            home.NewPool();
            home.NewMirror("Data", "128MB");
            string image = home.PathOf("d2.img");
            return LoseUnderLoad(home, way, () =>
            {
                if (way == "truncate")
                {
                    Tool.Run("truncate", "-s", "0", image);
                }
                else
                {
                    File.Delete(image);
                }
            });
        });
    }

    [Fact]
    public void An_emulated_disk_that_is_pulled_pauses_the_client_at_most_a_second()
    {
        AssertPause(0, PauseMsMax, () =>
        {
            using Home home = NewHome();
            NewEmulatedMirror(home);
            return LoseUnderLoad(home, "pull", () => home.Run("Set-EmulatedDiskFault", "-FriendlyName", "d2", "-Pull"));
        });
    }

    [Fact]
    public void A_disk_that_hangs_leaves_after_its_deadline_and_what_it_does_late_harms_nothing()
    {
        AssertPause(PatienceMs / 2, PatienceMs + 250 + PauseMsMax, () =>
        {
            using Home home = NewHome();
            NewEmulatedMirror(home);
            int pauseMs = LoseUnderLoad(home, "hang", () => home.Run("Set-EmulatedDiskFault", "-FriendlyName", "d2", "-Hang"));
            home.Run("Set-EmulatedDiskFault", "-FriendlyName", "d2", "-Clear");
            ReadAll(home);
            return pauseMs;
        });
    }

    private static void AssertPause(int leastMs, int mostMs, Func<int> attempt)
    {
        int pauseMs = attempt();
        for (int i = 1; i < Attempts && pauseMs > mostMs; i++)
        {
            pauseMs = attempt();
        }

        Assert.InRange(pauseMs, leastMs, mostMs);
    }

    private static Home NewHome()
    {
        Tool.Find("fio");
        Tool.Find("nbdcopy");
        Home home = new();
        home.Variables["TIERSPACES_IO_DEADLINES"] = $"250,{PatienceMs},60000";
        return home;
    }

    private static void NewEmulatedMirror(Home home)
    {
        string paths = string.Join(',', Enumerable.Range(1, 4).Select(i => home.PathOf($"d{i}.img")));
        home.Run("New-PhysicalDisk", "-Path", paths, "-Size", "512MB", "-LatencyProfile", "NVMe");
        home.Run("New-StoragePool", "-FriendlyName", "p", "-StorageSubSystemFriendlyName", "*", "-PhysicalDisks", "d*");
        home.NewMirror("Data", "128MB");
    }

    /// <summary>Loses a disk under load; the longest pause after it in milliseconds.</summary>
    private int LoseUnderLoad(Home home, string way, Action lose)
    {
        string log = home.PathOf("latency");
        using Process load = Fio.StartOnExport(home.UriOf("Data"), SecondsBefore + SecondsAfter, home.Root, log);
        Thread.Sleep(TimeSpan.FromSeconds(SecondsBefore));
        lose();
        Answer answer = Tool.End(load);
        long writes = Fio.Check(answer, 1);
        Assert.InRange(writes, 500, long.MaxValue);
        home.Eventually("the disk is missed", () => home.VirtualDisk("Data").GetProperty("HealthStatus").GetString() == "Warning");
        Assert.Contains(home.Objects("Get-PhysicalDisk"), disk => disk.GetProperty("FriendlyName").GetString() == "d2"
            && disk.GetProperty("OperationalStatus").EnumerateArray().Any(word => word.GetString() == "Lost Communication"));
        ReadAll(home);

        (long AtMs, long LatencyMs)[] series = Fio.Series(log);
        long before = series.Where(point => point.AtMs < (SecondsBefore - 1) * 1000).Max(point => point.LatencyMs);
        long[] after = [.. series.Where(point => point.AtMs >= (SecondsBefore - 1) * 1000).Select(point => point.LatencyMs).Order()];
        report.WriteLine(string.Create(CultureInfo.InvariantCulture,
            $"{way}: {writes} writes; longest latency {before} ms before, {after[^1]} ms after; 99.9th percentile of the series after {after[(int)(after.Length * 0.999)]} ms"));
        return (int)after[^1];
    }

    /// <summary>Every block, checked by the engine against its checksum.</summary>
    private static void ReadAll(Home home) => Tool.Run("nbdcopy", home.UriOf("Data"), "null:");
}
