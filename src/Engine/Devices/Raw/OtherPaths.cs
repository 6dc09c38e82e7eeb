using System.Globalization;
using TierSpaces.Engine.Devices.Identity;
using TierSpaces.Engine.Lanes.Native;

namespace TierSpaces.Engine.Devices.Raw;

// An image file can be reached as a file and by loop devices over it. The lock on one of these paths says nothing about the others, so a process that opens one
// looks whether another process has the lock of any other. Both lock first and look then: of two that come at the same time one is refused at least.

/// <summary>Finds processes that use an image file by another path.</summary>
internal static class OtherPaths
{
    /// <summary>Returns the living process, other than this one, that has a path to an image file locked, and the path; null if there is none.</summary>
    /// <param name="file">What names the file (<see cref="Hardware.OfFile"/>).</param>
    internal static (string Process, string Path)? FindUser(string file)
    {
        if (HolderOf(file) is { } direct)
        {
            return (direct, "the image file");
        }

        foreach (string loop in Loops())
        {
            int descriptor = Libc.OpenPath(loop, Libc.OpenReadOnly | Libc.OpenNonblocking);
            if (descriptor < 0)
            {
                continue;
            }

            bool isSame = Hardware.OfBackingFile(descriptor, out _) == file;
            string? holder = isSame && Libc.StatusOf(descriptor, out FileStatus status) >= 0 ? HolderOf(Hardware.OfFile(status)) : null;
            Libc.Close(descriptor);
            if (holder is not null)
            {
                return (holder, loop);
            }
        }

        return null;
    }

    private static IEnumerable<string> Loops() => Directory.Exists("/sys/block")
        ? Directory.EnumerateDirectories("/sys/block", "loop*").Where(static loop => Directory.Exists(Path.Combine(loop, "loop")))
            .Select(static loop => $"/dev/{Path.GetFileName(loop)}")
        : [];

    private static string? HolderOf(string file)
    {
        string[] parts = file.Split(':');   // inode, major, minor, number
        string listed = $"{int.Parse(parts[1], CultureInfo.InvariantCulture):x2}:{int.Parse(parts[2], CultureInfo.InvariantCulture):x2}:{parts[3]}";
        return FileLock.HoldersOf(listed).FirstOrDefault(static process =>
            int.TryParse(process, CultureInfo.InvariantCulture, out int id) && id > 0 && id != Environment.ProcessId && !FileLock.IsDead(id));
    }
}
