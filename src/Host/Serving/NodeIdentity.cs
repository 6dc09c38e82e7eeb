using System.Security.Cryptography;
using System.Text;
using TierSpaces.Engine.Devices;
using TierSpaces.Engine.Lanes.Native;

namespace TierSpaces.Host.Serving;

// The file holds a random id, and a hash of what tells this folder on this machine from a copy of it: id of the installation, id of the hardware where it can
// be read, inode of the folder. A host that finds another hash is a copy, or was moved, and takes a new id: two hosts with one id could take each other's
// pools for their own. A file of an earlier release has no hash; it gets one.

/// <summary>Identity of a host among all that may reach the same disks.</summary>
internal static class NodeIdentity
{
    private const string FileName = "node";
    private const int IdBytes = 16;

    /// <summary>Identity of the running kernel; empty where it cannot be read.</summary>
    internal static Guid Boot => Guid.TryParse(ReadLine("/proc/sys/kernel/random/boot_id"), out Guid boot) ? boot : Guid.Empty;

    /// <summary>Name of the machine, at most 64 characters.</summary>
    internal static string MachineName => Environment.MachineName[..Math.Min(64, Environment.MachineName.Length)];

    /// <summary>Returns the identity that the state folder holds, or a new one, which it holds then.</summary>
    internal static Guid Take(HostState state, string folder)
    {
        string here = string.Join('\n', ReadLine("/etc/machine-id"), ReadLine("/sys/class/dmi/id/product_uuid"), InodeOf(folder));
        byte[] place = SHA256.HashData(Encoding.UTF8.GetBytes(here));
        byte[]? known = state.ReadFile(FileName);
        bool isHere = known is { Length: IdBytes } || (known is { Length: IdBytes + SHA256.HashSizeInBytes } && known.AsSpan(IdBytes).SequenceEqual(place));
        Guid id = isHere ? new Guid(known.AsSpan(0, IdBytes)) : Guid.NewGuid();
        if (!isHere || known!.Length == IdBytes)
        {
            state.WriteFile(FileName, [.. id.ToByteArray(), .. place]);
        }

        return id;
    }

    private static string InodeOf(string folder) => Libc.StatusOfPath(folder, follow: true, out FileStatus status) < 0 ? "" : $"{status.Inode}";

    private static string ReadLine(string path)
    {
        try
        {
            return File.ReadLines(path).FirstOrDefault("");
        }
        catch (Exception e) when (e is IOException or UnauthorizedAccessException)
        {
            return "";
        }
    }
}
