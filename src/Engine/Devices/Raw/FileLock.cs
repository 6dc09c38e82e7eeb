using System.Globalization;
using TierSpaces.Engine.Devices.Identity;
using TierSpaces.Engine.Lanes.Native;

namespace TierSpaces.Engine.Devices.Raw;

// The lock on an open file (flock): exclusive for writers, shared for openers that only read. It belongs to the open file itself, so it also keeps
// out a second opener in this process. It lasts until every request in flight on the file has ended: a killed host's last writes cannot land after
// the next host has the disk. Handles of a disk share its open file: the last of them and the owner to be closed releases the lock.
//
// A killed process keeps the lock for some 50 ms more, until the kernel has taken its ring apart; for a minute if the kernel is busy with files
// that other processes have deleted. /proc/locks names the holder. If that is no living process, the kernel is about to release the lock and the
// opener waits: two seconds for all disks of one process, then the caller has to retry. In a container, dead holders and holders outside it are
// not listed: then the wait is short. So it is where this process is named: a program that it is starting has, until it begins, a copy of every open file,
// and with it the locks of those that were closed meanwhile.

/// <summary>The lock of a disk.</summary>
internal static class FileLock
{
    private const int PatienceMs = 2000;
    private const int PatienceWithUnknownMs = 300;
    private const int PatienceWithOwnMs = 1000;   // a machine under load lets programs begin late
    private const int StepMs = 5;

    private static volatile string? s_awaited;   // a dead holder that has been waited for

    /// <summary>Takes the lock: 0 or a negative errno, ETIMEDOUT where the holder is dead. Does not wait for one that lives.</summary>
    internal static int Take(int descriptor, DiskUse use = DiskUse.ReadWrite) => Take(descriptor, Holder, use);

    /// <inheritdoc cref="Take(int, DiskUse)"/>
    /// <param name="descriptor">The open file.</param>
    /// <param name="holderOf">Returns the holder of the lock on a file from /proc/locks; null if none is listed.</param>
    /// <param name="use">For reading alone the lock is shared.</param>
    internal static int Take(int descriptor, Func<int, string?> holderOf, DiskUse use = DiskUse.ReadWrite)
    {
        string? holder = null;   // as last named: the list may miss one while others come and go
        for (int waitedMs = 0; ; waitedMs += StepMs)
        {
            int result = Try(descriptor, use);
            if (result != -Errno.EAGAIN)
            {
                return result;
            }

            holder = holderOf(descriptor) ?? holder;
            bool isDead = int.TryParse(holder, CultureInfo.InvariantCulture, out int process) && IsDead(process);
            int patienceMs = holder is null ? PatienceWithUnknownMs : isDead && holder != s_awaited ? PatienceMs
                : process == Environment.ProcessId ? PatienceWithOwnMs : 0;
            if (waitedMs >= patienceMs)
            {
                s_awaited = isDead ? holder : s_awaited;
                result = Try(descriptor, use);   // the lock may have been released since, and then no holder is listed
                return result == -Errno.EAGAIN && isDead ? -Errno.ETIMEDOUT : result;
            }

            Pause();
        }
    }

    /// <summary>Opens a block device exclusively. Returns a descriptor or a negative errno. Waits a little for a dying holder.</summary>
    internal static int OpenExclusively(string path)
    {
        for (int waitedMs = 0; ; waitedMs += StepMs)
        {
            int result = Libc.OpenPath(path, Libc.OpenReadWrite | Libc.OpenExclusive);
            if (result != -Errno.EBUSY || waitedMs >= PatienceWithUnknownMs)
            {
                return result;
            }

            Pause();
        }
    }

    private static int Try(int descriptor, DiskUse use) =>
        Libc.CountOrError(Libc.Lock(descriptor, (use == DiskUse.Read ? Libc.LockShared : Libc.LockExclusive) | Libc.LockNonblocking));

#pragma warning disable RS0030 // on a thread for blocking calls
    private static void Pause() => Thread.Sleep(StepMs);
#pragma warning restore RS0030

    private static string? Holder(int descriptor)
    {
        if (Libc.StatusOf(descriptor, out FileStatus status) < 0)
        {
            return null;
        }

        // "1: FLOCK  ADVISORY  WRITE 23986 fe:00:3530772 0 EOF"; the kernel writes the device in hexadecimal.
        return HoldersOf($"{status.ContainerMajor:x2}:{status.ContainerMinor:x2}:{status.Inode}").FirstOrDefault();
    }

    /// <summary>Processes that have a lock on a file, named as in /proc/locks.</summary>
    internal static IEnumerable<string> HoldersOf(string file) => SysfsNode.ReadLines("/proc/locks")
        .Select(static line => line.Split(' ', StringSplitOptions.RemoveEmptyEntries))
        .Where(fields => fields.Length > 5 && fields[1] == "FLOCK" && fields[5] == file)
        .Select(static fields => fields[4]);

    /// <summary>No such process, or one that has ended and waits to be noticed by its parent.</summary>
    internal static bool IsDead(int process)
    {
        string status = SysfsNode.ReadText($"/proc/{process}/stat");
        int afterName = status.LastIndexOf(')') + 2;
        return status.Length == 0 || (afterName < status.Length && status[afterName] is 'Z' or 'X');
    }
}
