using System.Globalization;
using System.Text.Json;

namespace TierSpaces.Acceptance;

/// <summary>
/// A virtual disk with parity goes on without one of its disks and without a spare: random writes of a block each, 20 000 or in the long run two million,
/// end without an error, and the integrity log, whose pages can only be written to the disks that are left, is at most half full once they have ended.
/// </summary>
public class ParityLogTests
{
    private const int Seed = 1200;
    private const int Blocks = 16384;   // 64 MiB
    private const int SettleSeconds = 3;
    private static readonly bool s_isLong = Environment.GetEnvironmentVariable("TIERSPACES_TEST_LONG") == "1";
    private static readonly long s_writes = s_isLong ? 2_000_000 : 20_000;

    /// <summary>Gets sizes of the write cache.</summary>
    public static TheoryData<string> Caches => s_isLong ? new() { "0", "8MB" } : new() { "0" };

    [Theory]
    [MemberData(nameof(Caches))]
    public void Random_writes_with_a_disk_missing_leave_the_log_at_most_half_full(string cache)
    {
        using Home home = new();
        home.NewPool("256MB");
        home.Run(
            "New-VirtualDisk", "-StoragePoolFriendlyName", "p", "-FriendlyName", "Data", "-ResiliencySettingName", "Parity", "-NumberOfColumns", "4",
            "-ProvisioningType", "Fixed", "-Size", "128MB", "-WriteCacheSize", cache);
        home.Run("Connect-VirtualDisk", "-FriendlyName", "Data");
        string uri = home.UriOf("Data");
        VerifiedWriter writer = new(Blocks, Seed);
        writer.WriteUntil(uri, () => writer.Acknowledged >= s_writes / 10);
        File.Delete(home.PathOf("d2.img"));
        home.Eventually("the disk is missed", () => home.VirtualDisk("Data").GetProperty("HealthStatus").GetString() == "Warning");
        long before = writer.Acknowledged;
        writer.WriteUntil(uri, () => writer.Acknowledged >= before + s_writes);
        using (NbdClient client = new(uri))
        {
            string? wrong = writer.Check(client);
            Assert.True(wrong is null, $"Seed {Seed}: {wrong}\n{home.Log()}");
        }

        Thread.Sleep(TimeSpan.FromSeconds(SettleSeconds));
        JsonElement counters = home.Objects("Get-StorageCounter", "-VirtualDisk", "Data").First();
        (ulong size, ulong used, ulong most) = (Number("IntegrityLogSize"), Number("IntegrityLogUsed"), Number("IntegrityLogUsedMax"));
        Assert.NotEqual(0ul, size);
        Assert.True(used <= size / 2, $"{used} bytes of {size} are in use, {most} at most.");
        Console.WriteLine(string.Create(CultureInfo.InvariantCulture,
            $"parity, a disk missing, cache {cache}: seed {Seed}, {writer.Acknowledged} writes acknowledged, {writer.Compared} blocks compared, 0 wrong; integrity log of {size} bytes: {used} in use at the end, {most} at most; longest pause {writer.LongestPause.TotalSeconds:F2} s"));

        ulong Number(string property) => counters.GetProperty(property).GetUInt64();
    }

    /// <summary>
    /// Half of each stripe is unmapped or zeroed, in ranges that begin and end inside of strips; then each disk is missing once, and every block is
    /// compared.
    /// </summary>
    [Fact]
    public void Stripes_of_which_half_is_unmapped_read_with_each_disk_missing()
    {
        const int strip = 16;   // blocks
        const int stripe = 4 * strip;
        const int blocks = 4096;
        using Home home = new();
        string[] images = [.. Enumerable.Range(1, 5).Select(i => home.PathOf($"d{i}.img"))];
        home.Run("New-PhysicalDisk", "-Path", string.Join(',', images), "-Size", "256MB", "-MediaType", "SSD");
        home.Run("New-StoragePool", "-FriendlyName", "p", "-StorageSubSystemFriendlyName", "*", "-PhysicalDisks", "d*");
        home.Run(
            "New-VirtualDisk", "-StoragePoolFriendlyName", "p", "-FriendlyName", "Data", "-ResiliencySettingName", "Parity", "-NumberOfColumns", "5",
            "-ProvisioningType", "Thin", "-Size", "128MB", "-Interleave", "64KB");
        home.Run("Connect-VirtualDisk", "-FriendlyName", "Data");
        string uri = home.UriOf("Data");
        VerifiedWriter writer = new(blocks, Seed) { IsMixed = true };
        writer.WriteUntil(uri, () => writer.Acknowledged >= 3000);
        using (NbdClient client = new(uri))
        {
            foreach (ushort command in (ushort[])[NbdClient.Trim, NbdClient.WriteZeroes])
            {
                int parity = command == NbdClient.Trim ? 0 : 1;   // of the stripes: one kind for every other one
                writer.Unmap(client, command, Enumerable.Range(0, blocks / stripe).Where(at => at % 2 == parity)
                    .Select(at => ((at * stripe) + (at % (2 * strip)), 2 * strip)));
            }

            client.Send(1, NbdClient.Flush, 0, 0, 0);
            Assert.Equal((1ul, 0u), client.NextAnswer());
        }

        foreach (string image in s_isLong ? images : [images[0], images[^1]])
        {
            home.Run("stop");
            File.Move(image, $"{image}.away");
            int waits = Waits(home);
            home.Run("start");
            if (HealthOf(home) != "Warning")
            {
                Assert.True(Waits(home) > waits, $"Without {image} it is {HealthOf(home)}, and no disk is waited for.\n{home.Log()}");
                home.Eventually($"the virtual disk is served without {image}", () => HealthOf(home) == "Warning");
            }

            using (NbdClient client = new(uri))
            {
                string? wrong = writer.Check(client);
                Assert.True(wrong is null, $"Without {image}: {wrong}\n{home.Log()}");
            }

            home.Run("stop");
            File.Move($"{image}.away", image);
            home.Run("start");
            home.Eventually("all is healthy", () => HealthOf(home) == "Healthy");
        }

        home.AssertSound("Data");
    }

    private static string HealthOf(Home home) => home.VirtualDisk("Data").GetProperty("HealthStatus").GetString()!;

    /// <summary>Starts at which the host had to wait: the process before it had ended, and the kernel had not released its locks yet.</summary>
    private static int Waits(Home home) => home.Log().Split("still locked by a host process that has exited").Length - 1;
}
