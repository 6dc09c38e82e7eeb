using System.Text.Json;

namespace TierSpaces.Acceptance;

/// <summary>The NBD clients of others on a virtual disk of a real pool.</summary>
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

    /// <summary>Eight clients that ignore the announced size of 4 KiB, each with 512 bytes of the same block: nothing is lost.</summary>
    [Fact]
    public void Clients_with_requests_smaller_than_a_sector_lose_nothing()
    {
        const int part = 512;
        using Home home = NewHome(sector: 4096);
        NbdClient[] clients = [.. Enumerable.Range(0, 8).Select(_ => new NbdClient(home.UriOf("Data")))];
        byte[] data = new byte[part];
        byte[] block = new byte[8 * part];
        for (byte round = 1; round <= 40; round++)
        {
            for (int i = 0; i < clients.Length; i++)
            {
                data.AsSpan().Fill((byte)(round + (i * 8)));
                clients[i].Send(round, NbdClient.Write, round == 40 ? NbdClient.ForceUnitAccess : (ushort)0, i * part, part, data);
            }

            Assert.All(clients, client => Assert.Equal((round, 0u), client.NextAnswer()));
            clients[0].Send(round, NbdClient.Read, 0, 0, block.Length);
            Assert.Equal((round, 0u), clients[0].NextAnswer());
            clients[0].Receive(block);
            byte[] expected = [.. Enumerable.Range(0, block.Length).Select(at => (byte)(round + (at / part * 8)))];
            Assert.Equal(expected, block);
        }

        Array.ForEach(clients, static client => client.Dispose());
        JsonElement disk = home.VirtualDisk("Data");
        Assert.Equal((4096, 40 * 8), (disk.GetProperty("LogicalSectorSize").GetInt64(), disk.GetProperty("ReadModifyWrites").GetInt64()));
    }

    private static Home NewHome(int sector = 512)
    {
        Home home = new();
        try
        {
            home.NewPool();
            home.NewMirror("Data", "128MB", "-LogicalSectorSize", $"{sector}");
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
