using System.Diagnostics;
using System.Net.Sockets;
using System.Text.Json;
using TierSpaces.Acceptance;

namespace TierSpaces.Host.Tests.Verbs;

/// <summary>
/// Disks that are pulled under a client's load and come back: what the client, the verbs and the log report, and that all serves again without a command.
/// </summary>
public sealed class ReturnedDisksTests : IDisposable
{
    private const uint EIO = 5;
    private const int Block = 64 << 10;
    private const int Blocks = 64;

    private readonly Scratch _scratch = new();

    public void Dispose() => _scratch.Dispose();

    [Fact]
    public void All_disks_of_a_write_cache_with_data()
    {
        Pool("P", ["ssd1", "ssd2"], ["hdd1", "hdd2"]);
        _scratch.Succeed("New-VirtualDisk", "P", "-FriendlyName", "v", "-Size", "64MB", "-ResiliencySettingName", "Mirror", "-MediaType", "HDD",
            "-WriteCacheSize", "16MB");
        _scratch.Succeed("Set-VirtualDisk", "v", "-DestageHold", "true");
        _scratch.Succeed("Connect-VirtualDisk", "v");
        using (NbdClient client = Client("v"))
        {
            WriteAll(client, 1);
        }

        _scratch.Succeed("Set-EmulatedDiskFault", "ssd1", "-Pull");
        Thread.Sleep(1500);
        _scratch.Succeed("Set-EmulatedDiskFault", "ssd2", "-Pull");
        Scratch.Eventually("the virtual disk is detached", () => Status("v") == "Detached");
        Assert.Equal(("Unhealthy", "Lost"), (Text("HealthStatus", "Get-VirtualDisk", "v"), Text("State", "Get-VirtualDiskWriteCache", "v")));
        Assert.Contains("B in it were not destaged", Text("OtherOperationalStatusDescription", "Get-VirtualDisk", "v"), StringComparison.Ordinal);

        Clear("ssd*");
        RequireAll("v", 1);
        Assert.Equal("Active", Text("State", "Get-VirtualDiskWriteCache", "v"));
    }

    [Fact]
    public void All_disks_of_a_pool_for_three_seconds()
    {
        Pool("P", ["a1", "a2"], []);
        Pool("Q", ["b1", "b2"], []);
        foreach (string pool in new[] { "P", "Q" })
        {
            string disk = pool == "P" ? "v" : "w";
            _scratch.Succeed("New-VirtualDisk", pool, "-FriendlyName", disk, "-Size", "64MB", "-ResiliencySettingName", "Mirror");
            _scratch.Succeed("Connect-VirtualDisk", disk);
        }

        using NbdClient other = Client("w");
        using (NbdClient client = Client("v"))
        {
            WriteAll(client, 1);
            _scratch.Succeed("Set-EmulatedDiskFault", "a*", "-Pull");
            Assert.Equal(EIO, UntilError(client));
        }

        Scratch.Eventually("the pool is incomplete", () => Text("OperationalStatus", "Get-StoragePool", "P") == "Incomplete");
        WriteAll(other, 2);
        Thread.Sleep(3000);
        Clear("a*");
        RequireAll("v", 1);
        WriteAll(other, 3);   // on its first connection
        Assert.Equal(("Healthy", "OK"), (Text("HealthStatus", "Get-StoragePool", "P"), Text("OperationalStatus", "Get-StoragePool", "P")));
    }

    // Three disks more keep the pool open; the second disk takes writes with it that it alone has.
    [Fact]
    public void The_disk_with_the_last_copy()
    {
        Pool("P", ["c1", "c2"], ["d1", "d2", "d3"]);
        _scratch.Succeed("New-VirtualDisk", "P", "-FriendlyName", "v", "-Size", "64MB", "-ResiliencySettingName", "Mirror", "-MediaType", "SSD",
            "-WriteCacheSize", "0");
        _scratch.Succeed("Connect-VirtualDisk", "v");
        using (NbdClient client = Client("v"))
        {
            WriteAll(client, 1);
            _scratch.Succeed("Set-EmulatedDiskFault", "c1", "-Pull");
            WriteAll(client, 2);
            Write(client, 0, 2);
            _scratch.Succeed("Set-EmulatedDiskFault", "c2", "-Pull");
            Assert.Equal(EIO, UntilError(client));
        }

        Clear("c1");
        Scratch.Eventually("the first disk takes part again", () => Text("OperationalStatus", "Get-PhysicalDisk", "c1") == "OK");
        Assert.Equal("Unhealthy", Text("HealthStatus", "Get-VirtualDisk", "v"));
        Clear("c2");
        RequireAll("v", 2);
    }

    /// <summary>Nothing is lost in half a second: the virtual disk is healthy within ten seconds, and says all the while what is wrong.</summary>
    [Theory]
    [InlineData("0")]
    [InlineData("16MB")]
    public void All_disks_of_a_virtual_disk_for_half_a_second(string cache)
    {
        Pool("P", ["ssd1", "ssd2"], ["hdd1", "hdd2", "hdd3"]);
        _scratch.Succeed("New-VirtualDisk", "P", "-FriendlyName", "v", "-Size", "256MB", "-ResiliencySettingName", "Mirror", "-MediaType", "HDD",
            "-WriteCacheSize", cache);
        _scratch.Succeed("Connect-VirtualDisk", "v");
        for (int round = 0; round < 3; round++)
        {
            using (NbdClient client = Client("v"))
            {
                WriteAll(client, round);
                _scratch.Succeed("Set-EmulatedDiskFault", "*dd*", "-Pull");
                Assert.Equal(EIO, UntilError(client));
            }

            Thread.Sleep(500);
            Clear("*dd*");
            Stopwatch watch = System.Diagnostics.Stopwatch.StartNew();
            List<string> seen = [];
            while (watch.Elapsed < TimeSpan.FromSeconds(100) && (Status("v") != "OK" || Text("HealthStatus", "Get-VirtualDisk", "v") != "Healthy"))
            {
                seen.Add($"{watch.Elapsed.TotalSeconds:0.0} s: {Status("v")}: {Text("OtherOperationalStatusDescription", "Get-VirtualDisk", "v")}");
                Thread.Sleep(100);
            }

            Assert.True(watch.Elapsed < TimeSpan.FromSeconds(10), string.Join('\n', seen) + File.ReadAllText(Path.Combine(_scratch.Paths.Home, "host.log")));
            RequireAll("v", round);
        }
    }

    private void Pool(string name, string[] ssds, string[] hdds)
    {
        foreach (string disk in ssds.Concat(hdds))
        {
            string media = ssds.Contains(disk) ? "SSD" : "HDD";
            _scratch.Succeed("New-PhysicalDisk", "-Path", $"{_scratch.Root}/{disk}.img", "-Size", "512MB", "-LatencyProfile", "NVMe", "-MediaType", media);
        }

        _scratch.Succeed("New-StoragePool", "-FriendlyName", name, "-PhysicalDisks", string.Join(',', [.. ssds, .. hdds]));
    }

    private void Clear(string disks) => _scratch.Succeed("Set-EmulatedDiskFault", disks, "-Clear");

    private string Text(string property, params string[] words)
    {
        JsonElement value = _scratch.One(words).GetProperty(property);
        return (value.ValueKind == System.Text.Json.JsonValueKind.Array ? value[0] : value).GetString()!;
    }

    private string Status(string disk) => Text("OperationalStatus", "Get-VirtualDisk", disk);

    private NbdClient Client(string disk) =>
        new(_scratch.One("Get-VirtualDisk", disk).GetProperty("NbdUri").GetString() ?? throw new InvalidOperationException($"{disk} is not served."));

    private static byte[] Content(int block, int generation) => [.. Enumerable.Range(0, Block).Select(at => (byte)((at * 31) + block + (generation * 97)))];

    private static uint Write(NbdClient client, int block, int generation)
    {
        client.Send(1, NbdClient.Write, 0, (long)block * Block, Block, Content(block, generation));
        return client.NextAnswer().Error;
    }

    private static void WriteAll(NbdClient client, int generation)
    {
        for (int block = 0; block < Blocks; block++)
        {
            Assert.Equal(0U, Write(client, block, generation));
        }

        Assert.Equal(0U, Flush(client));
    }

    private static uint Flush(NbdClient client)
    {
        client.Send(2, NbdClient.Flush, 0, 0, 0);
        return client.NextAnswer().Error;
    }

    // The content of the blocks is written again, so that any subset of it may reach the disks. The host may end the connection between two requests, when it
    // opens the virtual disk again: then the next one cannot be sent. A request that was sent is answered.
    private static uint UntilError(NbdClient client)
    {
        uint error = 0;
        for (int i = 0; error == 0; i++)
        {
            Assert.True(i < 100_000, "No error.");
            try
            {
                error = i % 8 == 7 ? Flush(client) : Write(client, Blocks + (i % Blocks), 0);
            }
            catch (SocketException closed) when (closed.SocketErrorCode == SocketError.Shutdown)
            {
                error = EIO;
            }
        }

        return error;
    }

    /// <summary>Within ten seconds the virtual disk serves a new connection; then everything is there, and soon it is healthy.</summary>
    private void RequireAll(string disk, int generation)
    {
        Stopwatch watch = System.Diagnostics.Stopwatch.StartNew();
        for (int block = 0; block < Blocks;)
        {
            try
            {
                using NbdClient client = Client(disk);
                for (; block < Blocks; block++)
                {
                    client.Send(1, NbdClient.Read, 0, (long)block * Block, Block);
                    if (client.NextAnswer().Error is not 0 and var error)
                    {
                        throw new SocketException((int)error);
                    }

                    byte[] data = new byte[Block];
                    client.Receive(data);
                    Assert.True(data.AsSpan().SequenceEqual(Content(block, generation)), $"Block {block} is not as it was flushed.");
                }
            }
            catch (Exception problem) when (problem is SocketException or InvalidOperationException && watch.Elapsed < TimeSpan.FromSeconds(10))
            {
                Thread.Sleep(100);
            }
        }

        Assert.InRange(watch.Elapsed, TimeSpan.Zero, TimeSpan.FromSeconds(12));
        Scratch.Eventually("the virtual disk is healthy", () => Status(disk) == "OK" && Text("HealthStatus", "Get-VirtualDisk", disk) == "Healthy");
    }
}
