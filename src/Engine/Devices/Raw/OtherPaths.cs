using System.Globalization;
using TierSpaces.Engine.Devices.Identity;
using TierSpaces.Engine.Lanes.Native;

namespace TierSpaces.Engine.Devices.Raw;

// An image file can be reached as a file and by loop devices over it. The lock on one of these paths says nothing about the others, so a process that opens one
// looks whether another process has the lock of any other. Both lock first and look then: of two that come at the same time one is refused at least.
//
// Invariant
//  1. No loop device is opened or asked: its backing file may be on a file system that hangs, and may even be one of this host's own exports, which waits for
//     the pool that is about to be opened. A backing file is looked at only where it is on the file system of the image, which has just answered.

/// <summary>Finds processes that use an image file by another path.</summary>
internal static class OtherPaths
{
    /// <summary>Returns the living process, other than this one, that has a path to an image file locked, and the path; null if there is none.</summary>
    /// <param name="file">The name of the file (<see cref="Hardware.OfFile"/>).</param>
    internal static (string Process, string Path)? FindUser(string file)
    {
        if (HolderOf(file) is { } direct)
        {
            return (direct, "the image file");
        }

        string[] parts = file.Split(':');   // inode, major, minor, number
        string device = $"{parts[1]}:{parts[2]}";
        string[] mounts = SysfsNode.ReadLines("/proc/self/mountinfo");
        foreach (string loop in Loops())
        {
            string backing = SysfsNode.ReadLines(Path.Combine(loop, "loop", "backing_file")).FirstOrDefault("");
            string path = $"/dev/{Path.GetFileName(loop)}";
            if (MayBeOn(mounts, backing, device) && Libc.StatusOfPath(backing, follow: true, out FileStatus image) >= 0 && Hardware.OfFile(image) == file
                && Libc.StatusOfPath(path, follow: true, out FileStatus node) >= 0 && HolderOf(Hardware.OfFile(node)) is { } holder)
            {
                return (holder, path);
            }
        }

        return null;
    }

    /// <summary>
    /// Whether a path is on the file system of a device, by the list of mounts alone: nothing on the way to it is looked at. Where files have other devices
    /// than the list says, as on btrfs and overlayfs, it may be.
    /// </summary>
    /// <param name="mounts">Lines of /proc/self/mountinfo.</param>
    /// <param name="path">The path, as the kernel names it.</param>
    /// <param name="device">Major and minor number: "8:1".</param>
    internal static bool MayBeOn(IEnumerable<string> mounts, string path, string device)
    {
        (string Point, string Device, string Kind) longest = ("", "", "");
        foreach (string[] fields in mounts.Select(static line => line.Split(' ')))
        {
            int separator = Array.IndexOf(fields, "-");
            string point = fields.Length > 4 ? fields[4].Replace("\\040", " ", StringComparison.Ordinal) : "";
            bool isAbove = point == "/" || path == point || path.StartsWith(point + "/", StringComparison.Ordinal);
            if (separator > 0 && separator + 1 < fields.Length && isAbove && point.Length >= longest.Point.Length)   // the later of two is on top
            {
                longest = (point, fields[2], fields[separator + 1]);
            }
        }

        return longest.Device == device || longest.Kind is "btrfs" or "overlay";
    }

    private static IEnumerable<string> Loops() => Directory.Exists("/sys/block")
        ? Directory.EnumerateDirectories("/sys/block", "loop*").Where(static loop => Directory.Exists(Path.Combine(loop, "loop"))) : [];

    private static string? HolderOf(string file)
    {
        string[] parts = file.Split(':');   // inode, major, minor, number
        string listed = $"{int.Parse(parts[1], CultureInfo.InvariantCulture):x2}:{int.Parse(parts[2], CultureInfo.InvariantCulture):x2}:{parts[3]}";
        return FileLock.HoldersOf(listed).FirstOrDefault(static process =>
            int.TryParse(process, CultureInfo.InvariantCulture, out int id) && id > 0 && id != Environment.ProcessId && !FileLock.IsDead(id));
    }
}
