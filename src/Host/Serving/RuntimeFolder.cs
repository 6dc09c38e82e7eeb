using System.Security.Cryptography;
using System.Text;
using TierSpaces.Contracts;
using TierSpaces.Engine.Devices;
using TierSpaces.Engine.Lanes.Native;

namespace TierSpaces.Host.Serving;

/// <summary>
/// Chooses the folder of memory that outlives the host's process but not the machine.
/// <list type="number">
/// <item>The folder is new, of mode 0700 and of a random name, in the first of these that is a file system in memory: <c>/run</c> for root or
/// <c>$XDG_RUNTIME_DIR</c> for another user, and <c>/dev/shm</c>; without one it is <c>run</c> in the home.</item>
/// <item>The home remembers the path, so that the next host finds what a killed one left. A path that does not lead to a folder of this
/// user alone is given up, and another one is made: no other user can choose where the host writes.</item>
/// <item>A host that stops in good order removes the folder if it is empty.</item>
/// </list>
/// </summary>
internal static class RuntimeFolder
{
    /// <summary>File of the home that holds the path.</summary>
    public static string RecordOf(HostPaths paths) => Path.Combine(paths.State, "runtime");

    /// <summary>Returns the folder of a home; it exists.</summary>
    /// <param name="paths">The home.</param>
    /// <param name="parents">Parents in which a new one may be made, the best first; those that cannot be used are skipped.</param>
    /// <exception cref="IOException">No folder can be made.</exception>
    public static string Take(HostPaths paths, IEnumerable<string> parents)
    {
        using PrivateFolder state = PrivateFolder.Open(paths.State);
        return Known(paths) is { } known && IsUsable(known) ? known : Make(paths, parents);
    }

    /// <summary>Removes the folder of a home if nothing is left in it.</summary>
    public static void Leave(HostPaths paths)
    {
        try
        {
            if (Known(paths) is { } known && IsUsable(known) && Directory.GetFileSystemEntries(known).Length == 0)
            {
                Directory.Delete(known);
                File.Delete(RecordOf(paths));
            }
        }
        catch (Exception e) when (e is IOException or UnauthorizedAccessException)
        {
            HostLog.Write($"the folder of shared memory stays: {e.Message}");
        }
    }

    /// <summary>Folders in memory on this machine, the best first.</summary>
    public static IEnumerable<string> ParentsInMemory()
    {
        string? runtime = Libc.EffectiveUser() == 0 ? "/run" : Environment.GetEnvironmentVariable("XDG_RUNTIME_DIR");
        return new[] { runtime, "/dev/shm" }.OfType<string>().Where(IsInMemory);
    }

    private static string Make(HostPaths paths, IEnumerable<string> parents)
    {
        foreach (string parent in parents)
        {
            string name = $"tierspaces-{Convert.ToHexString(RandomNumberGenerator.GetBytes(8)).ToLowerInvariant()}";
            string path = Path.Combine(parent, name);
            if (TryOpen(path, PrivateFolder.Open))
            {
                File.WriteAllText(RecordOf(paths), path);
                return path;
            }
        }

        string inHome = Path.Combine(paths.Home, "run");
        using PrivateFolder folder = PrivateFolder.Open(inHome);
        File.WriteAllText(RecordOf(paths), inHome);
        return inHome;
    }

    private static string? Known(HostPaths paths)
    {
        string record = RecordOf(paths);
        string path = File.Exists(record) ? File.ReadAllText(record, Encoding.UTF8) : "";
        return Path.IsPathFullyQualified(path) ? path : null;
    }

    private static bool IsUsable(string path) => TryOpen(path, PrivateFolder.OpenExisting);

    private static bool TryOpen(string path, Func<string, PrivateFolder> open)
    {
        try
        {
            open(path).Dispose();
            return true;
        }
        catch (IOException)
        {
            return false;
        }
    }

    private static bool IsInMemory(string path)
    {
        try
        {
            return Directory.Exists(path) && new DriveInfo(path).DriveFormat is "tmpfs" or "ramfs";
        }
        catch (Exception e) when (e is IOException or UnauthorizedAccessException or ArgumentException)
        {
            return false;
        }
    }
}
