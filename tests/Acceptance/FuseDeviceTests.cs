using System.Diagnostics;
using System.Globalization;
using System.Text.Json;

namespace TierSpaces.Acceptance;

/// <summary>The device of a virtual disk that the host serves to the kernel itself: a loop device on a file of its own FUSE.</summary>
public sealed class FuseDeviceTests : IDisposable
{
    private static readonly bool s_isLong = Environment.GetEnvironmentVariable("TIERSPACES_TEST_LONG") == "1";
    private static readonly TimeSpan s_atOnce = TimeSpan.FromSeconds(10);

    private readonly Random _random = new(30);
    private readonly Home _home = new();

    public FuseDeviceTests()
    {
        Tool.NeedDevices();
    }

    public void Dispose() => _home.Dispose();

    /// <summary>
    /// Two mounted disks on two lanes, read and written with blocks of 4 KiB to 1 MiB that fio verifies, under kills of the host and of the supervisor and
    /// under upgrades of the host: a pause, no error of the device, nothing lost.
    /// </summary>
    [Theory]
    [InlineData("ext4")]
    [InlineData("xfs")]
    public void Busy_file_systems_see_a_pause_and_no_error_when_the_host_is_killed(string type)
    {
        Assert.SkipUnless(s_isLong || type == "xfs", "Random kills cover ext4 in the short run.");
        int kills = s_isLong ? 150 : 8;
        _home.Variables["TIERSPACES_LANES"] = "2";
        _home.NewPool("2GB");
        string[] mounts = [.. Enumerable.Range(1, 2).Select(number => NewFileSystem($"Data{number}", type))];
        string[] devices = [.. Enumerable.Range(1, 2).Select(number => Path.GetFileName(DeviceOf($"Data{number}")))];
        Assert.Equal([1, 2], _home.Objects("Get-VirtualDisk").Select(static disk => disk.GetProperty("Lane").GetInt32()).Order());
        int errorsBefore = KernelErrors(devices);
        List<double> pauses = [];
        int upgrades = 0;
        long written = 0;
        for (int done = 0; done < kills; done += 4)
        {
            Process[] loads = [.. mounts.Select(StartLoad)];
            for (int kill = done; kill < Math.Min(done + 4, kills); kill++)
            {
                Thread.Sleep(s_isLong ? _random.Next(2100, 3000) : _random.Next(200, 1500));   // a host that never serves 2 s is started later and later
                if (kill % 60 == 5)
                {
                    KillSupervisor(mounts.Length);
                }

                pauses.Add(_home.KillHost(_home.Host).TotalSeconds);
            }

            upgrades += Upgrade(done);
            Answer[] ends = Array.ConvertAll(loads, Tool.End);
            string errors = string.Concat(ends.Where(static end => end.ExitCode != 0).Select(static end => end.Error));
            Assert.True(errors.Length == 0, $"After {pauses.Count} kills:\n{errors}\n{_home.Log()}");
            written += ends.Sum(static end => Fio.Check(end, 2));
            Array.ForEach(loads, static load => load.Dispose());
        }

        Assert.InRange(KernelErrors(devices), 0, errorsBefore);   // the kernel drops old lines
        foreach ((string mount, string device) in mounts.Zip(devices))
        {
            Tool.Run("umount", mount);
            FileSystem.Check(type, $"/dev/{device}");
        }

        Console.WriteLine(string.Create(CultureInfo.InvariantCulture,
            $"FUSE devices, {type}: {kills} kills and {upgrades} upgrades under two loads, {written} verified writes, 0 errors; ")
            + string.Create(CultureInfo.InvariantCulture, $"host back after {pauses.Average():F2} s on average, {pauses.Max():F2} s at most"));
        Assert.InRange(pauses.Max(), 0, 5);
    }

    /// <summary>The next host has the connections before it has the disks: from then on its supervisor may go too.</summary>
    [Fact]
    public void A_supervisor_that_is_killed_as_soon_as_there_is_another_host_costs_no_device()
    {
        string paths = string.Join(',', Enumerable.Range(1, 4).Select(i => _home.PathOf($"d{i}.img")));
        _home.Run("New-PhysicalDisk", "-Path", paths, "-Size", "256MB", "-LatencyProfile", "HDD5400");   // so that a pool takes its time to open
        _home.Run("New-StoragePool", "-FriendlyName", "p", "-PhysicalDisks", "d*");
        _home.NewMirror("Data", "16MB");
        string image = TestFiles.WriteImage(_home.PathOf("image"), 16 << 20, 3);
        string device = DeviceOf("Data");
        Tool.Run("dd", $"if={image}", $"of={device}", "bs=1M", "oflag=direct", "status=none");
        int former = _home.Host;
        Home.Kill(former);
        _home.Eventually("there is another host", () => _home.Host is var next && next != former
            && _home.Log().Contains($" {next} ready on", StringComparison.Ordinal), pollMilliseconds: 1);
        KillSupervisorNow(disks: 1);
        Tool.Run("sh", "-c", $"dd if={device} bs=1M iflag=direct status=none | cmp - {image}");
        Assert.DoesNotContain("is broken", _home.Log(), StringComparison.Ordinal);
        Assert.Equal(device, DeviceOf("Data"));
    }

    [Fact]
    public void A_device_that_lost_its_host_and_its_supervisor_reports_errors_and_is_made_again()
    {
        _home.NewPool();
        _home.NewMirror("Data", "128MB");
        string image = TestFiles.WriteImage(_home.PathOf("image"), 128 << 20, 3);
        string device = DeviceOf("Data");
        Tool.Run("dd", $"if={image}", $"of={device}", "bs=1M", "oflag=direct", "status=none");
        string supervisor = _home.Supervisor.ToString(CultureInfo.InvariantCulture);
        string host = _home.Host.ToString(CultureInfo.InvariantCulture);
        Tool.Run("kill", "-STOP", host);   // so that it starts no other supervisor between the two kills
        _home.Eventually("it is stopped", () => File.ReadLines($"/proc/{host}/status").Contains("State:\tT (stopped)"));
        Tool.Run("kill", "-9", supervisor, host);
        _home.Eventually("nothing serves it", () => !Directory.Exists($"/proc/{host}"));
        Assert.NotEqual(0, Tool.TryRun("dd", $"if={device}", "of=/dev/null", "bs=4k", "count=1", "iflag=direct").ExitCode);
        _home.Run("start");
        _home.Eventually("the device is there again", () => _home.VirtualDisk("Data").GetProperty("DevicePath").ValueKind == JsonValueKind.String);
        Tool.Run("cmp", image, DeviceOf("Data"));
    }

    [Fact]
    public void A_device_in_use_grows_with_its_disk()
    {
        _home.NewPool("1GB");
        string mount = NewFileSystem("Data1", "xfs");
        string device = DeviceOf("Data1");
        Dictionary<string, string> sums = TestFiles.Write(mount, 4, 10);
        _home.Run("Resize-VirtualDisk", "-FriendlyName", "Data1", "-Size", "768MB");
        Assert.Equal((768L << 20).ToString(CultureInfo.InvariantCulture), Tool.Run("blockdev", "--getsize64", device).Trim());
        Tool.Run("xfs_growfs", mount);
        TestFiles.Check(mount, sums);
        Assert.InRange(new DriveInfo(mount).TotalSize, 500L << 20, 768L << 20);
        _home.Run("Resize-VirtualDisk", "-FriendlyName", "Data1", "-Size", "800MB");
        _home.KillHost(_home.Host);
        Assert.Equal((800L << 20).ToString(CultureInfo.InvariantCulture), Tool.Run("blockdev", "--getsize64", device).Trim());
    }

    /// <summary>Discarded ranges read as zeros and go back to the pool; zeroed ranges read as zeros.</summary>
    [Fact]
    public void Discards_give_space_back_and_zeroing_reads_as_zeros()
    {
        _home.NewPool();
        _home.NewMirror("Data", "256MB", "-ProvisioningType", "Thin", "-LogicalSectorSize", "4096");
        string device = DeviceOf("Data"), image = TestFiles.WriteImage(_home.PathOf("image"), 256 << 20, 5);
        Assert.Equal("4096", Tool.Run("blockdev", "--getss", device).Trim());
        Tool.Run("dd", $"if={image}", $"of={device}", "bs=1M", "oflag=direct", "status=none");
        long full = _home.VirtualDisk("Data").GetProperty("FootprintOnPool").GetInt64();
        Tool.Run("blkdiscard", "--offset", "0", "--length", (128 << 20).ToString(CultureInfo.InvariantCulture), device);
        Tool.Run("cmp", "-n", (128 << 20).ToString(CultureInfo.InvariantCulture), device, "/dev/zero");
        _home.Eventually("the pool has the space again", () => _home.VirtualDisk("Data").GetProperty("FootprintOnPool").GetInt64() <= full - (200 << 20));
        Tool.Run("blkdiscard", "--zeroout", "--offset", (192 << 20).ToString(CultureInfo.InvariantCulture), "--length", "8192", device);
        Tool.Run("cmp", "-n", "8192", "-i", $"{192 << 20}:0", device, "/dev/zero");
        Tool.Run("cmp", "-n", (50 << 20).ToString(CultureInfo.InvariantCulture), "-i", $"{(192 << 20) + 8192}:{(192 << 20) + 8192}", device, image);
    }

    /// <summary>Zeroing of sectors that are parts of blocks, next to bytes that stay.</summary>
    [Fact]
    public void Parts_of_blocks_are_zeroed_on_a_disk_of_512_byte_sectors()
    {
        _home.NewPool();
        _home.NewMirror("Data", "64MB", "-LogicalSectorSize", "512");
        string device = DeviceOf("Data"), full = _home.PathOf("full"), zeroed = _home.PathOf("zeroed");
        (int Offset, int Length)[] ranges = [(512, 512), (9728, 8192), (1 << 20, 4096), ((2 << 20) - 512, 66048)];
        byte[] content = new byte[64 << 20];
        Array.Fill<byte>(content, 7);
        File.WriteAllBytes(full, content);
        Array.ForEach(ranges, range => content.AsSpan(range.Offset, range.Length).Clear());
        File.WriteAllBytes(zeroed, content);
        Tool.Run("dd", $"if={full}", $"of={device}", "bs=1M", "oflag=direct", "status=none");
        foreach ((int offset, int length) in ranges)
        {
            Tool.Run("blkdiscard", "--zeroout", "--offset", $"{offset}", "--length", $"{length}", device);
        }

        Tool.Run("cmp", zeroed, device);
    }

    [Fact]
    public void A_full_pool_is_an_error_at_once()
    {
        _home.NewPool("256MB");
        _home.NewMirror("Data", "4GB", "-ProvisioningType", "Thin");
        Stopwatch watch = Stopwatch.StartNew();
        Answer answer = Tool.TryRun("dd", "if=/dev/zero", $"of={DeviceOf("Data")}", "bs=1M", "oflag=direct", "count=2000");
        Assert.NotEqual(0, answer.ExitCode);
        Assert.Contains("No space left", answer.Text, StringComparison.Ordinal);
        Assert.InRange(watch.Elapsed, TimeSpan.Zero, s_atOnce + TimeSpan.FromSeconds(20));   // most of it writes what there is room for
        watch.Restart();
        Assert.NotEqual(0, Tool.TryRun("dd", "if=/dev/zero", $"of={DeviceOf("Data")}", "bs=1M", "oflag=direct", "count=1", "seek=3000").ExitCode);
        Assert.InRange(watch.Elapsed, TimeSpan.Zero, s_atOnce);
    }

    /// <summary>
    /// A program with little memory of its own fills a mounted disk through the page cache, also while the host is killed: the host needs no memory that waits
    /// for the disk. It waits for every 8 MiB: a group of version 1 whose pages are all dirty is killed by the kernel, whatever the disk does.
    /// </summary>
    [Fact]
    public void A_disk_is_filled_from_a_control_group_with_little_memory()
    {
        using ControlGroup group = ControlGroup.WithMemory(32 << 20);
        _home.NewPool("1GB");
        string mount = NewFileSystem("Data1", "xfs");
        using Process write = Tool.Start(
            "sh", "-c", $"echo $$ > {group.Processes} && exec dd if=/dev/zero of={mount}/big bs=8M count=38 oflag=dsync status=none");
        Thread.Sleep(300);
        _home.KillHost(_home.Host);
        Assert.True(write.WaitForExit(TimeSpan.FromMinutes(1)), "The disk hangs.");
        Assert.Equal(0, Tool.End(write).ExitCode);
        Assert.Equal(304L << 20, new FileInfo(Path.Combine(mount, "big")).Length);
        Tool.Run("umount", mount);
        FileSystem.Check("xfs", DeviceOf("Data1"));
    }

    /// <summary>A device that lost what carries it is made again while the host runs, and its volumes are where they were.</summary>
    [Theory]
    [InlineData("Fuse", "")]
    [InlineData("NbdFuse", "nbdkit")]
    [InlineData("NbdFuse", "nbdfuse")]
    public void A_broken_device_is_noticed_and_made_again(string method, string victim)
    {
        Assert.SkipUnless(s_isLong || victim != "nbdfuse", "The short run kills nbdkit alone.");
        _home.NewPool("1GB");
        _home.NewMirror("Data", "128MB", "-IsManualAttach", "true");
        _ = DeviceOf("Data");
        _home.Run("Disconnect-VirtualDisk", "-FriendlyName", "Data");
        _home.Run("Connect-VirtualDisk", "-FriendlyName", "Data", "-AttachMethod", method);
        string place = _home.PathOf("place");
        _home.Run("New-Volume", "-DiskNumber", "1", "-FriendlyName", "V", "-FileSystem", "ext4", "-AccessPath", place);
        Dictionary<string, string> sums = TestFiles.Write(place, 6, 10);
        Tool.Run("sync", "-f", place);

        if (victim.Length > 0)
        {
            Tool.Run("pkill", "-9", "-f", $"{victim} .*{_home.Folder}");
        }
        else
        {
            string folder = Assert.Single(Directory.GetDirectories(Path.Combine(_home.Folder, "att")));
            Tool.TryRun("umount", "-f", Path.Combine(folder, "mnt"));
        }

        // The old mount may go between two looks, and what is written then goes to the folder below: the last look is for a file of the volume.
        _home.Eventually("there is a new device", () => _home.Log().Contains("is broken", StringComparison.Ordinal)
            && Tool.TryRun("findmnt", "--mountpoint", place).ExitCode == 0
            && Tool.TryRun("sh", "-c", $"echo x > {place}/new && sync -f {place} && test -e {place}/file-6-0").ExitCode == 0);
        TestFiles.Check(place, sums);
        Assert.Equal(method, MethodOf("Data"));
        _home.Run("stop", "-Force");
    }

    [Fact]
    public void A_read_only_disk_has_a_read_only_device()
    {
        _home.NewPool();
        _home.NewMirror("Data", "64MB");
        Assert.Equal("0", Tool.Run("blockdev", "--getro", DeviceOf("Data")).Trim());
        _home.Run("Disconnect-VirtualDisk", "-FriendlyName", "Data");
        _home.Run("Set-VirtualDisk", "-FriendlyName", "Data", "-Access", "Readable");
        _home.Run("Connect-VirtualDisk", "-FriendlyName", "Data");
        Assert.Equal("1", Tool.Run("blockdev", "--getro", DeviceOf("Data")).Trim());
    }

    [Fact]
    public void One_way_to_attach_is_forced_and_another_one_is_refused_while_it_is_attached()
    {
        _home.NewPool();
        _home.NewMirror("Data", "64MB");
        _ = DeviceOf("Data");
        Answer refused = _home.Try("Connect-VirtualDisk", "-FriendlyName", "Data", "-AttachMethod", "NbdFuse");
        Assert.NotEqual(0, refused.ExitCode);
        Assert.Contains("is attached by Fuse", refused.Text, StringComparison.Ordinal);
        _home.Run("Disconnect-VirtualDisk", "-FriendlyName", "Data");
        _home.Run("Connect-VirtualDisk", "-FriendlyName", "Data", "-AttachMethod", "NbdFuse");
        Assert.Equal("NbdFuse", MethodOf("Data"));
        _home.Run("Disconnect-VirtualDisk", "-FriendlyName", "Data");
        _home.Run("Connect-VirtualDisk", "-FriendlyName", "Data", "-AttachMethod", "NbdUri");
        Assert.Equal(("NbdUri", JsonValueKind.Null), (MethodOf("Data"), _home.VirtualDisk("Data").GetProperty("DevicePath").ValueKind));
    }

    private string MethodOf(string name) => _home.VirtualDisk(name).GetProperty("AttachMethod").GetString()!;

    private static string SizeFile(string device) => $"/sys/block/{Path.GetFileName(device)}/size";

    /// <summary>The device itself, not the link to it.</summary>
    private string DeviceOf(string name)
    {
        string reason = _home.VirtualDisk(name).GetProperty("AttachReason").GetString() ?? "";
        bool isOther = MethodOf(name) == "KernelNbd" || reason.Contains("FUSE_HAS_RESEND", StringComparison.Ordinal);
        Assert.SkipWhen(isOther, $"this kernel has another way: {reason}");
        Assert.Equal("Fuse", MethodOf(name));
        return new FileInfo(_home.DeviceOf(name)).ResolveLinkTarget(returnFinalTarget: true)!.FullName;
    }

    private string NewFileSystem(string name, string type)
    {
        _home.NewMirror(name, type == "xfs" ? "400MB" : "256MB");
        string device = DeviceOf(name), mount = Directory.CreateDirectory(_home.PathOf($"mnt-{name}")).FullName;
        Tool.Run($"mkfs.{type}", "-q", device);
        Tool.Run("mount", device, mount);
        return mount;
    }

    private static Process StartLoad(string mount) => Tool.Start(
        "fio",
        [
            "--name=load", $"--directory={mount}", "--rw=randrw", "--bsrange=4k-1m", "--size=48M", "--numjobs=2", "--direct=1", "--ioengine=io_uring",
            "--iodepth=16", "--verify=crc32c", "--verify_fatal=1", "--verify_state_save=0", "--verify_backlog=64", "--time_based",
            s_isLong ? "--runtime=18" : "--runtime=10",
            "--output-format=json",
        ]);

    /// <summary>Stops and starts the host, devices kept, at every second call. Returns the number of upgrades.</summary>
    private int Upgrade(int done)
    {
        if (done % 8 != 4)
        {
            return 0;
        }

        _home.Run("stop", "-KeepAttached");
        _home.Run("start");
        return 1;
    }

    private void KillSupervisor(int disks)
    {
        _home.Eventually("the host has the connections", () => CountConnections(_home.Host) >= disks);   // else they end with the supervisor
        KillSupervisorNow(disks);
    }

    private void KillSupervisorNow(int disks)
    {
        int victim = _home.Supervisor;
        Home.Kill(victim);
        _home.Eventually("there is another supervisor", () => _home.Supervisor is var other && other != victim && Directory.Exists($"/proc/{other}"));
        _home.Eventually("it has the connections", () => CountConnections(_home.Supervisor) == disks);
    }

    /// <summary>Connections to the kernel's FUSE that a process has open.</summary>
    private static int CountConnections(int process) => Directory.GetFileSystemEntries($"/proc/{process}/fd")
        .Select(static descriptor => new FileInfo(descriptor).LinkTarget).Count(static target => target == "/dev/fuse");

    /// <summary>Errors that the kernel has logged of devices; 0 where its log may not be read.</summary>
    private static int KernelErrors(string[] devices)
    {
        Answer log = Tool.TryRun("dmesg");
        return log.ExitCode != 0 ? 0 : log.Output.Split('\n').Count(line =>
            line.Contains("error", StringComparison.OrdinalIgnoreCase) && devices.Any(device => line.Contains(device + " ", StringComparison.Ordinal)
                || line.Contains(device + ",", StringComparison.Ordinal) || line.Contains($"({device})", StringComparison.Ordinal)));
    }
}
