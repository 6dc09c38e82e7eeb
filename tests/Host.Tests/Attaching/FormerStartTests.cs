using TierSpaces.Contracts;
using TierSpaces.Engine.Devices;
using TierSpaces.Host.Attaching;

namespace TierSpaces.Host.Tests.Attaching;

/// <summary>Devices after a power cut of the machine: their records and links are still there, and the kernel gives names and numbers again.</summary>
public sealed class FormerStartTests : IDisposable
{
    private readonly string _root = Directory.CreateTempSubdirectory("ts").FullName;
    private readonly HostPaths _paths;
    private readonly HostState _state;
    private readonly Kernel _kernel = new();

    public FormerStartTests()
    {
        _paths = new HostPaths(Path.Combine(_root, "h"));
        _state = new HostState(_paths.State, Path.Combine(_root, "run"));
        AttachManager before = Start("one");
        before.Attach(Target("a"));
        before.Attach(Target("b"));
        _kernel.Restart();
    }

    [Fact]
    public void A_record_of_a_former_start_takes_no_device_of_another_disk_away()
    {
        AttachManager manager = Start("two");
        string b = manager.Attach(Target("b")).DevicePath!;   // the device that a had, with the same number of its use
        string a = manager.Attach(Target("a")).DevicePath!;
        Assert.Equal(("a", "b"), (_kernel.DiskOn(a), _kernel.DiskOn(b)));
    }

    [Fact]
    public void No_link_of_a_former_start_leads_to_the_device_of_another_disk()
    {
        AttachManager manager = Start("two");
        manager.Attach(Target("b"));
        Assert.Equal([Path.Combine(_paths.Devices, "b")], Directory.GetFileSystemEntries(_paths.Devices));
        Assert.Null(manager.DiskOn("/dev/none/1"));
        manager.Detach("{a}");
        manager.DetachIdle();
        Assert.Empty(_kernel.Disks);   // b's alone, by the second of these
        Assert.Empty(new AttachStore(_state).Read());
    }

    [Fact]
    public void A_host_that_starts_again_without_the_machine_keeps_its_devices()
    {
        AttachManager first = Start("two");
        string path = first.Attach(Target("a")).DevicePath!;
        AttachManager second = Start("two");
        Assert.True(File.GetAttributes(path).HasFlag(FileAttributes.ReparsePoint));
        second.Attach(Target("a"));
        Assert.Equal(1, _kernel.Made);
    }

    public void Dispose()
    {
        _state.Dispose();
        Directory.Delete(_root, recursive: true);
    }

    private AttachManager Start(string boot)
    {
        AttachManager manager = new(_paths, new AttachStore(_state, boot), [_kernel]);
        manager.ForgetFormerStarts();
        return manager;
    }

    private static AttachTarget Target(string name) => new($"{{{name}}}", name, "/s", name, 512);

    /// <summary>Devices as loop devices are: the first free name, and a number of the use that counts from the start of the machine.</summary>
    private sealed class Kernel : IAttacher
    {
        internal List<(string Device, string Use, string Disk)> Disks { get; } = [];

        internal int Made { get; private set; }

        public string Method => "Kernel";

        public string Patience => "for 1 s";

        internal void Restart()
        {
            Disks.Clear();
            Made = 0;
        }

        internal string? DiskOn(string link) => Disks.Find(disk => disk.Device == new FileInfo(link).LinkTarget).Disk;

        public string? Obstacle() => null;

        public AttachRecord Attach(AttachTarget target, string folder)
        {
            string device = Enumerable.Range(0, 9).Select(static number => $"/dev/none/{number}").First(name => !Disks.Exists(disk => disk.Device == name));
            Disks.Add((device, $"{++Made}", target.FriendlyName));
            return new AttachRecord { UniqueId = target.UniqueId, FriendlyName = target.FriendlyName, Method = Method, Device = device, Use = $"{Made}" };
        }

        public bool IsIntact(AttachRecord record) =>
            Disks.Exists(disk => (disk.Device, disk.Use, disk.Disk) == (record.Device, record.Use, record.FriendlyName));

        public void Resume(AttachRecord record, AttachTarget target)
        {
        }

        public void Detach(AttachRecord record) => Disks.RemoveAll(disk => (disk.Device, disk.Use) == (record.Device, record.Use));
    }
}
