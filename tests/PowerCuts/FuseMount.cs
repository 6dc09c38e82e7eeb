using System.Globalization;
using System.Runtime.InteropServices;
using TierSpaces.Engine.Lanes.Native;

namespace TierSpaces.PowerCuts;

/// <summary>Mounts of FUSE, made by root.</summary>
internal static partial class FuseMount
{
    private const ulong Flags = 2 | 4 | 8 | 1024;   // no set-user-id, no devices, no programs, no access times
    private const int Force = 1;
    private const int Detach = 2;

    /// <summary>Mounts FUSE on an empty folder; returns the descriptor that its server reads, which does not block.</summary>
    internal static int Make(string folder)
    {
        int descriptor = Libc.OpenPath("/dev/fuse", Libc.OpenReadWrite | Libc.OpenNonblocking);
        string options = string.Create(CultureInfo.InvariantCulture, $"fd={descriptor},rootmode=40000,user_id=0,group_id=0");
        return descriptor >= 0 && Mount("power-cuts", folder, "fuse", Flags, options) == 0
            ? descriptor
            : throw new IOException($"FUSE cannot be mounted on {folder}: {Errno.Describe(descriptor < 0 ? -descriptor : Marshal.GetLastPInvokeError())}");
    }

    /// <summary>Ends the connection, so that every request that waits for it fails, and takes the mount away.</summary>
    internal static void Remove(string folder)
    {
        _ = Unmount(folder, Force);
        _ = Unmount(folder, Detach);
    }

    [LibraryImport("libc", EntryPoint = "mount", StringMarshalling = StringMarshalling.Utf8, SetLastError = true)]
    private static partial int Mount(string source, string target, string type, ulong flags, string data);

    [LibraryImport("libc", EntryPoint = "umount2", StringMarshalling = StringMarshalling.Utf8, SetLastError = true)]
    private static partial int Unmount(string target, int flags);
}
