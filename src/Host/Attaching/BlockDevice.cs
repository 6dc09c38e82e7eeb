using TierSpaces.Engine.Lanes.Native;

namespace TierSpaces.Host.Attaching;

/// <summary>Questions about block devices of this machine.</summary>
internal static class BlockDevice
{
    /// <summary>Whether a file system, a swap or another driver has it; the kernel refuses an exclusive opening then.</summary>
    public static bool IsInUse(string device)
    {
        int descriptor = Libc.OpenPath(device, Libc.OpenExclusive);
        if (descriptor >= 0)
        {
            _ = Libc.Close(descriptor);
        }

        return descriptor == -Errno.EBUSY;
    }

    /// <summary>Whether a file system, a swap or another driver has it or a partition of it, as far as that shows without opening it.</summary>
    public static bool IsClaimed(string device) => MountPoints(device).Length > 0
        || File.ReadLines("/proc/swaps").Any(line => IsOn(line.Split(' ')[0], device))
        || HoldersOf($"/sys/block/{Path.GetFileName(device)}").Any();

    private static IEnumerable<string> HoldersOf(string node) => Directory.Exists(node)
        ? Directory.EnumerateFileSystemEntries(Path.Combine(node, "holders"))
            .Concat(Directory.EnumerateDirectories(node, Path.GetFileName(node) + "p*").SelectMany(HoldersOf))
        : [];

    /// <summary>
    /// A number that the kernel gives to each use of a device: the same number, the same contents behind it. Empty for a device
    /// that is not there.
    /// </summary>
    public static string UseOf(string device)
    {
        string path = $"/sys/block/{Path.GetFileName(device)}/diskseq";
        return device.Length > 0 && File.Exists(path) ? File.ReadAllText(path).Trim() : "";
    }

    /// <summary>Returns the mount points of a block device and of its partitions; empty when none is mounted.</summary>
    public static string[] MountPoints(string device) =>
        File.ReadLines("/proc/self/mounts").Select(line => line.Split(' ')).Where(fields => IsOn(fields[0], device))
            .Select(fields => fields[1]).ToArray();

    /// <summary>Whether something is mounted at a path.</summary>
    public static bool IsMountPoint(string path) => File.ReadLines("/proc/self/mounts").Any(line => line.Split(' ')[1] == path);

    /// <summary>Whether a name is that of a device or of a partition of it.</summary>
    public static bool IsOn(string source, string device) => source == device
        || (source.StartsWith(device + "p", StringComparison.Ordinal) && source.AsSpan(device.Length + 1).IndexOfAnyExceptInRange('0', '9') < 0);

    /// <summary>Whether a device file can be opened for reading and writing.</summary>
    public static bool CanOpen(string path)
    {
        int descriptor = Libc.OpenPath(path, Libc.OpenReadWrite);
        if (descriptor >= 0)
        {
            _ = Libc.Close(descriptor);
        }

        return descriptor >= 0;
    }
}
