namespace TierSpaces.Bench.Tables;

/// <summary>
/// The device that users mount: the block device of a simple disk beside its NBD socket, beside the device that nbdkit and nbdfuse make, and beside a loop
/// device on a plain file in the same memory; then a file in ext4 on each of the two loop devices. All are loaded by fio.
/// </summary>
internal static class DeviceSpeed
{
    internal const string Title = "The block device";

    private const long Size = 512 << 20;
    private const long FileSize = 256 << 20;
    private const string Device = "device";
    private const string Socket = "NBD socket";
    private const string Nbdkit = "device by nbdkit";
    private const string Plain = "loop on a plain file";
    private const string DeviceFile = "ext4 on the device";
    private const string PlainFile = "ext4 on that loop";

    private static readonly Comparison[] s_deep =
    [
        new(Device, Socket, Bar: 0.5, Aim: 0.7), new(Device, Nbdkit, Bar: 5), new(Device, Plain), new(DeviceFile, PlainFile),
    ];

    private static readonly Comparison[] s_single = [new(Device, Socket), new(Device, Nbdkit, Bar: 3), new(Device, Plain), new(DeviceFile, PlainFile)];

    private static readonly (Workload, Comparison[])[] s_loads =
    [
        (new("4 KiB random read, depth 32", "randread", 4096, 32), s_deep),
        (new("4 KiB random write, depth 32", "randwrite", 4096, 32), s_deep),
        (new("4 KiB random read, depth 1", "randread", 4096, 1), s_single),
        (new("4 KiB random write, depth 1", "randwrite", 4096, 1), s_single),
        (new("1 MiB sequential read, depth 8", "read", 1 << 20, 8), [new(Device, Socket), new(Device, Nbdkit), new(Device, Plain)]),
        (new("1 MiB sequential write, depth 8", "write", 1 << 20, 8), [new(Device, Socket), new(Device, Nbdkit), new(Device, Plain)]),
    ];

    /// <summary>Reason why the section cannot be measured here; null when it can.</summary>
    internal static string? Obstacle() => !Environment.IsPrivilegedProcess ? "only root makes block devices"
        : !File.Exists("/dev/fuse") ? "there is no /dev/fuse"
        : Array.Find(["fio", "nbdkit"], static name => !Programs.IsThere(name)) is { } missing ? Programs.InstallCommand(missing)
        : null;

    /// <summary>Makes the disks and devices.</summary>
    /// <param name="host">Host of the disks.</param>
    /// <param name="folder">Folder of the images.</param>
    /// <param name="places">Takes the loop devices and mounts, and removes them at the end.</param>
    internal static Section Prepare(BenchHost host, BackingFolder folder, DevicePlaces places)
    {
        host.CreatePool("device", Size * 7 / 2, folder.File("device1.img"));
        NbdTarget ours = host.CreateDisk("device", "own", "Simple", "CRC32C", Size).Filled();
        NbdTarget other = host.CreateDisk("device", "nbdkit", "Simple", "CRC32C", Size).Filled();
        NbdTarget mounted = host.CreateDisk("device", "mounted", "Simple", "CRC32C", Size).Filled();
        string loop = places.Loop(folder.NewFile("plain.img", Size)), secondLoop = places.Loop(folder.NewFile("mounted.img", Size));
        places.Fill(loop);
        return new Section(
            Title,
            [
                FioTarget.OfFile(Device, host.Attach(ours.Export, "Fuse")), FioTarget.OfNbd(Socket, ours.Socket, ours.Export),
                FioTarget.OfFile(Nbdkit, host.Attach(other.Export, "NbdFuse")), FioTarget.OfFile(Plain, loop),
                FioTarget.OfFile(DeviceFile, places.NewFileOn(host.Attach(mounted.Export, "Fuse"), FileSize)),
                FioTarget.OfFile(PlainFile, places.NewFileOn(secondLoop, FileSize)),
            ],
            s_loads);
    }
}

/// <summary>Loop devices and mounts of a run; removed at the end.</summary>
internal sealed class DevicePlaces : IDisposable
{
    private readonly List<string> _loops = [];
    private readonly List<string> _mounts = [];

    /// <summary>Makes a loop device of 4 KiB sectors on a file.</summary>
    internal string Loop(string file)
    {
        string loop = Programs.Run("losetup", ["--find", "--show", "--sector-size", "4096", "--direct-io=on", file]).Trim();
        _loops.Add(loop);
        return loop;
    }

    /// <summary>Writes a device once.</summary>
    internal void Fill(string device) => Programs.Run("fio", [
        "--name=fill", $"--filename={device}", "--ioengine=io_uring", "--direct=1", "--rw=write", "--bs=1M", "--iodepth=8"]);

    /// <summary>Makes ext4 on a device and a file in it that is written once. Returns the path of the file.</summary>
    internal string NewFileOn(string device, long size)
    {
        Programs.Run("mkfs.ext4", ["-q", "-F", device]);
        string mount = Directory.CreateTempSubdirectory("tsbench-mnt-").FullName, file = Path.Combine(mount, "file");
        Programs.Run("mount", [device, mount]);
        _mounts.Add(mount);
        using (FileStream stream = File.Create(file))
        {
            stream.SetLength(size);
        }

        Fill(file);
        return file;
    }

    public void Dispose()
    {
        foreach (string mount in _mounts)
        {
            Programs.Run("umount", [mount]);
            Directory.Delete(mount);
        }

        _loops.ForEach(static loop => Programs.Run("losetup", ["--detach", loop]));
    }
}
