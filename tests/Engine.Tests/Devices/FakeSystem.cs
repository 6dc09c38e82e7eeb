using TierSpaces.Engine.Devices.Identity;

namespace TierSpaces.Engine.Tests.Devices;

/// <summary>A sysfs and a proc built in a folder, as the kernel lays them out.</summary>
public sealed class FakeSystem : IDisposable
{
    private readonly string _root = Directory.CreateTempSubdirectory("lane-sys-").FullName;

    public FakeSystem()
    {
        Directory.CreateDirectory(Path.Combine(Sys, "dev", "block"));
        Directory.CreateDirectory(Path.Combine(Proc, "self"));
        Mounts("25 1 8:1 / / rw - ext4 /dev/root rw");
    }

    private string Sys => Path.Combine(_root, "sys");

    private string Proc => Path.Combine(_root, "proc");

    public void Dispose() => Directory.Delete(_root, recursive: true);

    internal BlockDeviceFacts Describe(uint major, uint minor) => new BlockDevices(Sys, Proc).Describe(major, minor);

    /// <summary>Adds a disk at a path below <c>/sys/devices</c>, with ordinary attributes and those given ("name=value").</summary>
    public FakeSystem Disk(string number, string devicePath, params string[] attributes)
    {
        Node(number, devicePath, "size=2097152", "ro=0", "removable=0", "queue/rotational=0", "queue/logical_block_size=512",
            "queue/physical_block_size=4096", "queue/write_cache=write back");
        return Set(devicePath, attributes);
    }

    /// <summary>Adds a partition of a disk.</summary>
    public FakeSystem Partition(string number, string devicePath, string name) =>
        Node(number, $"{devicePath}/{name}", "partition=1", "size=2048", "ro=0");

    /// <summary>Writes attributes below a device; a value that begins with '@' is a symbolic link to a path below /sys.</summary>
    public FakeSystem Set(string devicePath, params string[] attributes)
    {
        foreach (string attribute in attributes)
        {
            string[] parts = attribute.Split('=', 2);
            string path = Path.Combine(Sys, "devices", devicePath, parts[0]);
            Directory.CreateDirectory(Path.GetDirectoryName(path)!);
            if (parts[1].StartsWith('@'))
            {
                string target = Path.Combine(Sys, parts[1][1..]);
                Directory.CreateDirectory(target);
                Directory.CreateSymbolicLink(path, target);
            }
            else
            {
                File.WriteAllText(path, parts[1] + "\n");
            }
        }

        return this;
    }

    public FakeSystem Bytes(string devicePath, string attribute, byte[] content)
    {
        string path = Path.Combine(Sys, "devices", devicePath, attribute);
        Directory.CreateDirectory(Path.GetDirectoryName(path)!);
        File.WriteAllBytes(path, content);
        return this;
    }

    public FakeSystem Mounts(params string[] lines)
    {
        File.WriteAllLines(Path.Combine(Proc, "self", "mountinfo"), lines);
        return this;
    }

    public FakeSystem Swaps(params string[] lines)
    {
        File.WriteAllLines(Path.Combine(Proc, "swaps"), lines.Prepend("Filename Type Size Used Priority"));
        return this;
    }

    private FakeSystem Node(string number, string devicePath, params string[] attributes)
    {
        string folder = Path.Combine(Sys, "devices", devicePath);
        Directory.CreateDirectory(folder);
        Directory.CreateSymbolicLink(Path.Combine(Sys, "dev", "block", number), $"../../devices/{devicePath}");
        return Set(devicePath, [.. attributes, $"dev={number}"]);
    }
}
