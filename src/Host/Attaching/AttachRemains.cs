using System.Text;
using TierSpaces.Host.Native;

namespace TierSpaces.Host.Attaching;

/// <summary>
/// Clears away what a host that was killed has left of a device that it was making, before it could save the record: the folder of the attachment, and the
/// processes, the mount and the loop devices that are of this folder.
/// </summary>
internal static class AttachRemains
{
    /// <summary>Clears away a folder and all that belongs to it. Remains that cannot be cleared are logged, and stay.</summary>
    public static void Clear(string folder)
    {
        string inside = folder + Path.DirectorySeparatorChar;
        foreach (string place in Directory.Exists(folder) ? Directory.GetDirectories(folder).Where(BlockDevice.IsMountPoint) : [])
        {
            MountCalls.Abort(place);   // a connection that no one serves would let the steps below wait
        }

        Try(() =>
        {
            foreach (string loop in Directory.GetDirectories("/sys/block", "loop*"))
            {
                if (BlockDeviceUsers.BackingFileOf(loop)?.StartsWith(inside, StringComparison.Ordinal) == true)
                {
                    Tool.Run("losetup", "--detach", $"/dev/{Path.GetFileName(loop)}");
                }
            }
        });
        foreach (ProcessMark process in ProcessesOf(inside))
        {
            RunningProcess.End(process);
        }

        foreach (string place in Directory.Exists(folder) ? Directory.GetDirectories(folder) : [])
        {
            if (BlockDevice.IsMountPoint(place))
            {
                Try(() => Tool.Run("fusermount3", "-u", "-z", place));
            }
        }

        Try(() => Directory.Delete(folder, recursive: true));
    }

    private static IEnumerable<ProcessMark> ProcessesOf(string inside) => RunningProcess.Others()
        .Where(process => CommandOf(process).Contains(inside, StringComparison.Ordinal)).Select(RunningProcess.MarkOf).OfType<ProcessMark>();

    private static string CommandOf(int process)
    {
        try
        {
            string[] words = Encoding.UTF8.GetString(File.ReadAllBytes($"/proc/{process}/cmdline")).Split('\0');
            return Path.GetFileName(words[0]) is "nbdkit" or "nbdfuse" ? string.Join(' ', words) : "";
        }
        catch (Exception e) when (e is IOException or UnauthorizedAccessException)
        {
            return "";
        }
    }

    private static void Try(Action step)
    {
        try
        {
            step();
        }
        catch (Exception e) when (e is AttachException or IOException or UnauthorizedAccessException)
        {
            HostLog.Write($"remains of a device that a killed host was making stay for now: {e.Message}");
        }
    }
}
