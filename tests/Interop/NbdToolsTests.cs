using System.Diagnostics;
using System.Text.Json;

namespace TierSpaces.Interop.Tests;

/// <summary>The server with the tools of libnbd, qemu, fio and nbdfuse, unmodified and over real sockets.</summary>
public class NbdToolsTests
{
    [Fact]
    public void Nbdinfo_lists_what_is_served()
    {
        using ServedDisk disk = new();
        using JsonDocument info = JsonDocument.Parse(Tool.Run("nbdinfo", "--json", disk.Uri));
        JsonElement export = info.RootElement.GetProperty("exports")[0];
        Assert.Equal("newstyle-fixed", info.RootElement.GetProperty("protocol").GetString());
        Assert.True(info.RootElement.GetProperty("structured").GetBoolean());
        Assert.Equal("My disk", export.GetProperty("export-name").GetString());
        Assert.Equal(64 << 20, export.GetProperty("export-size").GetInt64());
        Assert.Equal("base:allocation", export.GetProperty("contexts")[0].GetString());
        Assert.Equal(512, export.GetProperty("block_size_minimum").GetInt32());
        Assert.Equal(4096, export.GetProperty("block_size_preferred").GetInt32());
        Assert.Equal(32 << 20, export.GetProperty("block_size_maximum").GetInt32());
        string[] can = ["cache", "df", "flush", "fua", "multi_conn", "trim", "zero"];
        Assert.All(can, what => Assert.True(export.GetProperty($"can_{what}").GetBoolean(), what));
        Assert.False(export.GetProperty("can_fast_zero").GetBoolean());
        Assert.False(export.GetProperty("is_read_only").GetBoolean());

        string list = Tool.Run("nbdinfo", "--list", disk.Uri);
        Assert.Contains("export=\"My disk\"", list);
        Assert.Contains("description: interop", list);
        Assert.Equal("67108864", Tool.Run("nbdinfo", "--size", $"nbd+unix:///?socket={disk.Socket}").Trim());
    }

    [Fact]
    public void Nbdinfo_is_told_of_read_only_and_of_large_blocks_over_TCP()
    {
        using ServedDisk disk = new(blockSize: 4096, isReadOnly: true);
        string uri = $"nbd://{disk.ListenTcp()}/My%20disk";
        using JsonDocument info = JsonDocument.Parse(Tool.Run("nbdinfo", "--json", uri));
        JsonElement export = info.RootElement.GetProperty("exports")[0];
        Assert.True(export.GetProperty("is_read_only").GetBoolean());
        Assert.Equal(4096, export.GetProperty("block_size_minimum").GetInt32());
        (int code, _, _) = Tool.TryRun("nbdinfo", $"nbd+unix:///absent?socket={disk.Socket}");
        Assert.NotEqual(0, code);
    }

    [Fact]
    public void Nbdinfo_maps_holes()
    {
        using ServedDisk disk = new();
        Tool.Run("qemu-io", "-f", "raw", "-c", "write 1M 64k", disk.Uri);
        using JsonDocument map = JsonDocument.Parse(Tool.Run("nbdinfo", "--map", "--json", disk.Uri));
        (long, long, int)[] extents = [.. map.RootElement.EnumerateArray().Select(extent => (
            extent.GetProperty("offset").GetInt64(), extent.GetProperty("length").GetInt64(), extent.GetProperty("type").GetInt32()))];
        Assert.Equal([(0L, 1L << 20, 3), (1L << 20, 1L << 16, 0), ((1L << 20) + (1L << 16), (63L << 20) - (1L << 16), 3)], extents);
    }

    [Theory]
    [InlineData(512, 1, 64)]
    [InlineData(4096, 4, 16)]
    public void Nbdcopy_there_and_back_is_identical(int blockSize, int connections, int requests)
    {
        using ServedDisk disk = new(blockSize: blockSize);
        string image = disk.NewImage("image");
        string back = Path.Combine(disk.Folder, "back");
        string[] options = ["--connections", $"{connections}", "--requests", $"{requests}", "--flush"];
        Tool.Run("nbdcopy", [.. options, image, disk.Uri]);
        Tool.Run("nbdcopy", [.. options, disk.Uri, back]);
        AssertSame(image, back);
        Assert.InRange(disk.Export.Counters.BytesWritten, 1, 13 << 20);   // zeros and holes crossed as such
    }

    [Fact]
    public void Nbdcopy_in_one_piece_of_the_greatest_size()
    {
        using ServedDisk disk = new();
        string image = disk.NewImage("image");
        string back = Path.Combine(disk.Folder, "back");
        Tool.Run("nbdcopy", "--request-size", $"{32 << 20}", "--no-extents", "--allocated", image, disk.Uri);
        Tool.Run("nbdcopy", "--request-size", $"{32 << 20}", "--no-extents", disk.Uri, back);
        AssertSame(image, back);
    }

    [Fact]
    public void Qemu_img_converts_compares_and_maps()
    {
        using ServedDisk disk = new();
        string image = disk.NewImage("image", seed: 2);
        Tool.Run("qemu-img", "convert", "-n", "-f", "raw", "-O", "raw", "-t", "none", image, disk.Uri);
        Assert.Contains("identical", Tool.Run("qemu-img", "compare", "-f", "raw", "-F", "raw", image, disk.Uri));
        using JsonDocument map = JsonDocument.Parse(Tool.Run("qemu-img", "map", "--output=json", "-f", "raw", disk.Uri));
        JsonElement[] extents = [.. map.RootElement.EnumerateArray()];
        Assert.Equal(64 << 20, extents.Sum(extent => extent.GetProperty("length").GetInt64()));
        Assert.Contains(extents, extent => extent.GetProperty("zero").GetBoolean());
        Assert.Contains(extents, extent => extent.GetProperty("data").GetBoolean());
    }

    [Fact]
    public void Qemu_io_uses_every_command()
    {
        using ServedDisk disk = new();
        string output = Tool.Run(
            "qemu-io", "-f", "raw", "-d", "unmap", "-c", "write -P 0xa5 512 8704", "-c", "write -f -P 0x5a 1M 3M", "-c", "flush",
            "-c", "write -z 2M 64k", "-c", "write -z -u 2560k 64k", "-c", "discard 3M 512k", "-c", "read -P 0xa5 512 8704",
            "-c", "read -P 0x5a 1M 1M", "-c", "read -P 0 2M 64k", "-c", "read -P 0 3M 512k", "-c", "read -P 0x5a 3584k 512k",
            "-c", "aio_write -P 1 10M 64k", "-c", "aio_write -P 2 11M 64k", "-c", "aio_flush", "-c", "read -P 2 11M 64k", disk.Uri);
        Assert.DoesNotContain("fail", output, StringComparison.OrdinalIgnoreCase);
        Assert.True(disk.Export.Counters.Zeroings > 0 && disk.Export.Counters.Unmaps > 0 && disk.Export.Counters.Flushes > 0);
        Assert.All(disk.Bytes(512, 8704), b => Assert.Equal(0xa5, b));
    }

    [Fact]
    public void Qemu_io_cannot_change_a_read_only_disk()
    {
        using ServedDisk disk = new(isReadOnly: true);
        (int code, string output, string errors) = Tool.TryRun("qemu-io", "-f", "raw", "-c", "write 0 4k", disk.Uri);
        Assert.NotEqual(0, code);
        Assert.Contains("Permission denied", output + errors);
        Tool.Run("qemu-io", "-r", "-f", "raw", "-c", "read -P 0 0 4k", disk.Uri);
    }

    [Theory]
    [InlineData(512, 512)]
    [InlineData(4096, 512)]
    [InlineData(4096, 4096)]
    public void Fio_verifies_what_eight_jobs_wrote(int block, int sector)
    {
        using ServedDisk disk = new(blockSize: sector);
        string output = Tool.Run(
            "fio", "--name=verify", "--ioengine=nbd", $"--uri={disk.Uri}", "--rw=randrw", $"--bs={block}", "--iodepth=16",
            "--numjobs=8", "--size=4M", "--offset_increment=8M", "--io_size=4M", "--verify=crc32c", "--verify_fatal=1",
            "--do_verify=1", "--verify_state_save=0", "--fsync=256", "--output-format=json", $"--aux-path={disk.Folder}");
        using JsonDocument report = JsonDocument.Parse(output[output.IndexOf('{')..]);
        JsonElement[] jobs = [.. report.RootElement.GetProperty("jobs").EnumerateArray()];
        Assert.Equal(8, jobs.Length);
        Assert.All(jobs, job => Assert.Equal(0, job.GetProperty("error").GetInt32()));
        Assert.Equal(0, disk.Export.Counters.Errors);
        long written = jobs.Sum(job => job.GetProperty("write").GetProperty("total_ios").GetInt64());
        Assert.Equal(written, disk.Export.Counters.Writes);
        Assert.Equal(written * block, disk.Export.Counters.BytesWritten);
    }

    [Fact]
    public void Nbdfuse_mounts_the_disk_as_a_file()
    {
        Assert.SkipUnless(File.Exists("/dev/fuse"), "there is no /dev/fuse here: run where FUSE is allowed (docker: --device /dev/fuse --cap-add SYS_ADMIN)");
        Tool.Find("fusermount3");
        using ServedDisk disk = new();
        string image = disk.NewImage("image", seed: 3);
        string mount = Directory.CreateDirectory(Path.Combine(disk.Folder, "mnt")).FullName;
        using Process fuse = Tool.Start("nbdfuse", mount, disk.Uri);
        string file = Path.Combine(mount, "nbd");
        try
        {
            Assert.True(SpinWait.SpinUntil(() => fuse.HasExited || File.Exists(file), TimeSpan.FromSeconds(20)), "nbdfuse does not mount");
            Assert.SkipWhen(fuse.HasExited, "nbdfuse may not mount here: mount needs root or a setuid fusermount3 (apt-get install -y fuse3)");
            using (FileStream target = new(file, FileMode.Open, FileAccess.ReadWrite))
            using (FileStream source = File.OpenRead(image))
            {
                source.CopyTo(target);
                target.Flush(flushToDisk: true);
            }

            AssertSame(image, file);
        }
        finally
        {
            Tool.TryRun("fusermount3", "-u", mount);
            if (!fuse.WaitForExit(TimeSpan.FromSeconds(20)))
            {
                fuse.Kill();
            }
        }
    }

    private static void AssertSame(string expected, string actual)
    {
        using FileStream first = File.OpenRead(expected);
        using FileStream second = File.OpenRead(actual);
        Assert.Equal(first.Length, second.Length);
        byte[] a = new byte[1 << 20], b = new byte[1 << 20];
        for (int count; (count = first.ReadAtLeast(a, a.Length, throwOnEndOfStream: false)) > 0;)
        {
            second.ReadExactly(b, 0, count);
            Assert.True(a.AsSpan(0, count).SequenceEqual(b.AsSpan(0, count)), $"differs before byte {first.Position}");
        }
    }
}
