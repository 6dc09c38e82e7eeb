using System.Diagnostics;
using System.Globalization;

namespace TierSpaces.Host.Attaching;

/// <summary>
/// Finds what has a block device open, or a partition of it, without having it for itself alone: other loop devices, and programs. Whatever has it for itself is
/// found by <see cref="BlockDevice.IsInUse"/>.
/// </summary>
internal static class DeviceUsers
{
    private static readonly TimeSpan s_patience = TimeSpan.FromSeconds(1);

    /// <summary>
    /// Names a user of a device in words; null if there is none. A program that opens the device only for a moment, as those do that look for new partitions, is
    /// waited for, up to one second.
    /// </summary>
    public static string? Of(string device)
    {
        for (Stopwatch watch = Stopwatch.StartNew(); ; Thread.Sleep(20))
        {
            string? user = LoopOn(device) ?? ProgramWith(device);
            if (user is null || watch.Elapsed > s_patience)
            {
                return user;
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

    private static string? ProgramWith(string device)
    {
        foreach (string process in Directory.GetDirectories("/proc"))
        {
            if (int.TryParse(Path.GetFileName(process), NumberStyles.None, CultureInfo.InvariantCulture, out int number)
                && number != Environment.ProcessId && HasOpen(process, device))
            {
                return $"process {number} ({NameOf(process)})";
            }
        }

        return null;
    }

    private static bool HasOpen(string process, string device)
    {
        try
        {
            return Directory.EnumerateFileSystemEntries(Path.Combine(process, "fd"))
                .Any(descriptor => new FileInfo(descriptor).LinkTarget is { } file && BlockDevice.IsOn(file, device));
        }
        catch (Exception e) when (e is IOException or UnauthorizedAccessException)
        {
            return false;   // it has ended, or belongs to another user and this is not root
        }
    }

    private static string NameOf(string process)
    {
        try
        {
            return File.ReadAllText(Path.Combine(process, "comm")).TrimEnd('\n');
        }
        catch (IOException)
        {
            return "ended";
        }
    }
}
