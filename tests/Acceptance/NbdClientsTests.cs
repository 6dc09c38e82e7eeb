using System.Text.Json;

namespace TierSpaces.Acceptance;

/// <summary>The NBD clients of others on a virtual disk of a real pool, with sectors of 512 bytes.</summary>
public class NbdClientsTests
{
    [Fact]
    public void Fio_verifies_what_eight_jobs_wrote_in_blocks_of_512_bytes_and_4_KiB()
    {
        Tool.Find("fio");
        using Home home = NewHome();
        foreach (int block in (int[])[512, 4096])
        {
            Assert.True(Fio.RunOnExport(home.UriOf("Data"), block, home.Root) > 0);
        }

        JsonElement disk = home.VirtualDisk("Data");
        Assert.Equal(512, disk.GetProperty("LogicalSectorSize").GetInt64());
        Assert.Equal("Healthy", disk.GetProperty("HealthStatus").GetString());
    }

    [Fact]
    public void Nbdcopy_there_and_back_is_identical()
    {
        Tool.Find("nbdcopy");
        using Home home = NewHome();
        string image = TestFiles.WriteImage(home.PathOf("image"), 128 << 20, 8);
        Tool.Run("nbdcopy", "--flush", image, home.UriOf("Data"));
        Tool.Run("nbdcopy", home.UriOf("Data"), home.PathOf("back"));
        Assert.Equal(TestFiles.SumOf(image), TestFiles.SumOf(home.PathOf("back")));
    }

    [Fact]
    public void Qemu_img_finds_the_disk_identical_with_a_raw_twin()
    {
        Tool.Find("qemu-img");
        using Home home = NewHome();
        string twin = home.PathOf("twin");
        File.Create(twin).Dispose();
        Tool.Run("truncate", "-s", "128M", twin);
        string[] work = [.. RandomWork(seed: 9).SelectMany(command => (string[])["-c", command])];
        foreach (string target in (string[])[twin, home.UriOf("Data")])
        {
            Assert.DoesNotContain("fail", Tool.Run("qemu-io", ["-f", "raw", "-d", "unmap", .. work, target]), StringComparison.OrdinalIgnoreCase);
        }

        Assert.Contains("identical", Tool.Run("qemu-img", "compare", "-f", "raw", "-F", "raw", twin, home.UriOf("Data")));
    }

    private static Home NewHome()
    {
        Home home = new();
        try
        {
            home.NewPool();
            home.NewMirror("Data", "128MB", "-LogicalSectorSize", "512");
            return home;
        }
        catch
        {
            home.Dispose();
            throw;
        }
    }

    /// <summary>Writes and zeroes, with and without unmapping, of any sectors, across strips, copies and checksum blocks.</summary>
    private static IEnumerable<string> RandomWork(int seed)
    {
        Random random = new(seed);
        for (int i = 0; i < 300; i++)
        {
            long offset = random.NextInt64((124 << 20) / 512) * 512;
            long length = random.Next(1, random.Next(2) == 0 ? 24 : 4096) * 512;
            yield return random.Next(8) switch
            {
                0 => $"write -z {offset} {length}",
                1 => $"write -z -u {offset} {length}",
                _ => $"write -P {random.Next(256)} {offset} {length}",
            };
        }

        yield return "flush";
    }
}
