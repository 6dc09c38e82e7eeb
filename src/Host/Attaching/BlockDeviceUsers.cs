using System.Diagnostics;

namespace TierSpaces.Host.Attaching;

/// <summary>
/// Finds what has a block device open, or a partition of it, and shares it with others: other loop devices, and programs. A user that has it for itself alone
/// is found by <see cref="BlockDevice.IsInUse"/>.
/// </summary>
internal static class BlockDeviceUsers
{
    private static readonly TimeSpan s_patience = TimeSpan.FromSeconds(1);
    private static readonly TimeSpan s_ownPatience = TimeSpan.FromSeconds(15);

    /// <summary>
    /// Names a user of a device in words; null if there is none. A program that opens the device only for a moment, as those do that look for new partitions,
    /// is waited for: up to one second, and up to 15 s where the host itself has started it.
    /// </summary>
    public static string? Of(string device)
    {
        if (!Directory.Exists($"/sys/class/block/{Path.GetFileName(device)}"))
        {
            return null;   // it is gone
        }

        for (Stopwatch watch = Stopwatch.StartNew(); ; Thread.Sleep(20))
        {
            string? loop = LoopOn(device);
            int? process = loop is null ? ProcessWith(device) : null;
            bool isOver = watch.Elapsed > (process is { } one && RunningProcess.ParentOf(one) == Environment.ProcessId ? s_ownPatience : s_patience);
            if ((loop is null && process is null) || isOver)
            {
                return loop ?? (process is { } user ? Describe(user) : null);
            }
        }
    }

    private static string? LoopOn(string device)
    {
        foreach (string loop in Directory.GetDirectories("/sys/block", "loop*"))
        {
            if (BackingFileOf(loop) is { } file && BlockDevice.IsOn(file, device))
            {
                return $"the loop device /dev/{Path.GetFileName(loop)}";
            }
        }

        return null;
    }

    /// <summary>Returns the backing file of a loop device; null while it has none.</summary>
    /// <param name="loop">Its folder in /sys/block.</param>
    internal static string? BackingFileOf(string loop)
    {
        try
        {
            return File.ReadAllText(Path.Combine(loop, "loop", "backing_file")).TrimEnd('\n');
        }
        catch (Exception e) when (e is IOException or UnauthorizedAccessException)
        {
            return null;
        }
    }

    private static int? ProcessWith(string device) => RunningProcess.Others().Where(process => HasOpen(process, device)).Select(static process => (int?)process)
        .FirstOrDefault();

    private static bool HasOpen(int process, string device)
    {
        try
        {
            return Directory.EnumerateFileSystemEntries($"/proc/{process}/fd")
                .Any(descriptor => new FileInfo(descriptor).LinkTarget is { } file && BlockDevice.IsOn(file, device));
        }
        catch (Exception e) when (e is IOException or UnauthorizedAccessException)
        {
            return false;   // it has ended, or belongs to another user and this is not root
        }
    }

    /// <summary>Number and name of a process.</summary>
    internal static string Describe(int process) => $"process {process} ({NameOf(process)})";

    private static string NameOf(int process)
    {
        try
        {
            return File.ReadAllText($"/proc/{process}/comm").TrimEnd('\n');
        }
        catch (IOException)
        {
            return "ended";
        }
    }
}
