using System.Diagnostics;
using TierSpaces.Contracts;
using TierSpaces.Engine.Devices;
using TierSpaces.Host.Attaching;

namespace TierSpaces.Host.Tests.Attaching;

/// <summary>Attaching, with nbdkit as the server: any NBD server will do.</summary>
public sealed class AttachTests : IDisposable
{
    private const string Id = "{11111111-2222-3333-4444-555555555555}";
    private readonly string _root = Directory.CreateTempSubdirectory("ts").FullName;
    private readonly HostPaths _paths;
    private readonly HostState _state;
    private readonly List<string> _devices = [];
    private Process? _server;

    public AttachTests()
    {
        _paths = new HostPaths(Path.Combine(_root, "h"));
        _state = new HostState(_paths.State, Path.Combine(_root, "run"));
    }

    private string Mount => Path.Combine(_root, "m");

    [Fact]
    public void A_machine_that_can_attach_nothing_says_why()
    {
        AttachOutcome outcome = new AttachManager(_paths, new AttachStore(_state), [new Unwilling()]).Attach(Target("d"));
        Assert.Equal(new AttachOutcome("NbdUri", null, "No block device: Unwilling: the stars are wrong."), outcome);
    }

    [Fact]
    public async Task A_mounted_file_system_outlives_the_server()
    {
        SkipUnlessPossible();
        StartServer();
        AttachManager manager = Manager();
        string device = manager.Attach(Target("my disk")).DevicePath!;
        Assert.Equal(Path.Combine(_paths.Devices, "my%20disk"), device);
        Tool.Run("mkfs.ext4", "-q", device);
        Directory.CreateDirectory(Mount);
        Tool.Run("mount", device, Mount);
        Task<int> writing = Task.Run(() => WriteAndReadBack(TimeSpan.FromSeconds(4)), TestContext.Current.CancellationToken);
        await Task.Delay(1000, TestContext.Current.CancellationToken);
        _server!.Kill();
        await Task.Delay(500, TestContext.Current.CancellationToken);
        StartServer();
        Assert.True(await writing > 0);
        Tool.Run("umount", Mount);
        Tool.Run("fsck.ext4", "-f", "-n", device);
        manager.Detach(Id);
        AssertNothingIsLeft();
    }

    [Fact]
    public void A_later_host_finds_the_device_and_leaves_it_alone()
    {
        SkipUnlessPossible();
        StartServer();
        AttachOutcome before = Manager().Attach(Target("d"));
        AttachRecord record = Assert.Single(new AttachStore(_state).Read());
        AttachManager later = Manager();
        Assert.Equal(before, later.Attach(Target("d")));
        Assert.Equal(record.Processes, Assert.Single(new AttachStore(_state).Read()).Processes);
        later.Detach(Id);
        AssertNothingIsLeft();
    }

    [Fact]
    public void Remains_of_a_broken_device_are_cleared_and_a_new_one_is_made()
    {
        SkipUnlessPossible();
        StartServer();
        Manager().Attach(Target("d"));
        foreach (ProcessMark process in new AttachStore(_state).Read()[0].Processes)
        {
            RunningProcess.End(process);
        }

        AttachManager manager = Manager();
        Assert.Equal("NbdFuse", manager.Attach(Target("d")).Method);
        Assert.All(new AttachStore(_state).Read()[0].Processes, process => Assert.True(RunningProcess.IsAlive(process)));
        manager.Detach(Id);
        AssertNothingIsLeft();
    }

    [Fact]
    public void A_mounted_device_is_not_detached_and_the_mount_is_named()
    {
        SkipUnlessPossible();
        StartServer();
        AttachManager manager = Manager();
        string device = manager.Attach(Target("d")).DevicePath!;
        Tool.Run("mkfs.ext4", "-q", device);
        Directory.CreateDirectory(Mount);
        Tool.Run("mount", device, Mount);
        StorageErrorInfo error = Assert.Throws<StorageException>(() => manager.Detach(Id)).Error;
        Assert.Equal("DeviceMounted", error.Word);
        Assert.Contains($"is mounted on {Mount}.", error.ExtendedInformation);
        Tool.Run("umount", Mount);
        manager.Detach(Id);
        AssertNothingIsLeft();
    }

    [Fact]
    public void A_server_that_does_not_answer_leaves_nothing_behind()
    {
        SkipUnlessPossible();
        AttachOutcome outcome = Manager().Attach(Target("d"));
        Assert.Equal("NbdUri", outcome.Method);
        Assert.Contains("nbd", outcome.Reason);
        AssertNothingIsLeft();
    }

    public void Dispose()
    {
        if (Directory.Exists(Mount))
        {
            Quietly(() => Tool.Run("umount", "-l", Mount));
        }

        Quietly(() => Manager().Detach(Id));
        _server?.Kill();
        _state.Dispose();
        Directory.Delete(_root, recursive: true);
    }

    private static void SkipUnlessPossible()
    {
        string? obstacle = new NbdFuseAttacher().Obstacle();
        Assert.SkipUnless(obstacle is null && Environment.IsPrivilegedProcess, $"needs root and FUSE: {obstacle}");
    }

    private static void Quietly(Action action)
    {
        try
        {
            action();
        }
        catch (Exception e) when (e is AttachException or StorageException)
        {
        }
    }

    private AttachManager Manager() => new(_paths, new AttachStore(_state), [new Remembering(_devices)]);

    private AttachTarget Target(string name) => new(Id, name, Path.Combine(_root, "server.sock"), "export of " + name, 4096);

    private void StartServer()
    {
        string image = Path.Combine(_root, "image");
        if (!File.Exists(image))
        {
            using FileStream file = File.Create(image);
            file.SetLength(64 << 20);
        }

        string socket = Path.Combine(_root, "server.sock");
        File.Delete(socket);
        _server = Process.Start(new ProcessStartInfo("nbdkit", ["--foreground", "--unix", socket, "file", image]));
        Scratch.Eventually("the server listens", () => File.Exists(socket));
    }

    /// <summary>Writes, syncs and reads back small files; any error of the device is an exception.</summary>
    private int WriteAndReadBack(TimeSpan howLong)
    {
        int count = 0;
        for (Stopwatch watch = Stopwatch.StartNew(); watch.Elapsed < howLong; count++)
        {
            string path = Path.Combine(Mount, $"f{count % 16}");
            using (FileStream file = File.Create(path, 4096, FileOptions.WriteThrough))
            {
                file.Write(BitConverter.GetBytes(count));
                file.Flush(flushToDisk: true);
            }

            Assert.Equal(count, BitConverter.ToInt32(File.ReadAllBytes(path)));
        }

        return count;
    }

    private void AssertNothingIsLeft()
    {
        Assert.Empty(new AttachStore(_state).Read());
        Assert.DoesNotContain(_root, File.ReadAllText("/proc/self/mounts"));
        Assert.All(_devices, device =>   // another test may have the number by now
            Assert.DoesNotContain(_root, BlockDeviceUsers.BackingFileOf($"/sys/block/{Path.GetFileName(device)}") ?? "", StringComparison.Ordinal));
        Assert.True(!Directory.Exists(_paths.Devices) || Directory.GetFileSystemEntries(_paths.Devices).Length == 0);
        Assert.Empty(Directory.GetFileSystemEntries(Path.Combine(_paths.Home, "att")));
    }

    /// <summary>The real attacher; the test learns which devices it made.</summary>
    private sealed class Remembering(List<string> devices) : IAttacher
    {
        private readonly NbdFuseAttacher _real = new();

        public string Method => _real.Method;

        public string Patience => "for 1 s";

        public string? Obstacle() => _real.Obstacle();

        public AttachRecord Attach(AttachTarget target, string folder)
        {
            AttachRecord record = _real.Attach(target, folder);
            devices.Add(record.Device);
            return record;
        }

        public bool IsIntact(AttachRecord record) => _real.IsIntact(record);

        public void Resume(AttachRecord record, AttachTarget target) => _real.Resume(record, target);

        public void Detach(AttachRecord record) => _real.Detach(record);
    }

    private sealed class Unwilling : IAttacher
    {
        public string Method => "Unwilling";

        public string Patience => "for 1 s";

        public string? Obstacle() => "the stars are wrong";

        public AttachRecord Attach(AttachTarget target, string folder) => throw new InvalidOperationException();

        public bool IsIntact(AttachRecord record) => false;

        public void Resume(AttachRecord record, AttachTarget target) => throw new InvalidOperationException();

        public void Detach(AttachRecord record) => throw new InvalidOperationException();
    }
}
