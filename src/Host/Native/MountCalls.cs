using System.Globalization;
using System.Runtime.InteropServices;
using TierSpaces.Engine.Lanes.Native;

namespace TierSpaces.Host.Native;

/// <summary>Mounts of FUSE, made without a helper: root's.</summary>
internal static partial class MountCalls
{
    private const string FuseDevice = "/dev/fuse";
    private const ulong Flags = 2 | 4 | 8 | 1024;   // no set-user-id, no devices, no programs, no access times
    private const int Force = 1;
    private const int Detach = 2;
    private const int NoFollow = 8;

    /// <summary>Opens a connection to the kernel's FUSE, which does not block, and mounts it. Returns its descriptor.</summary>
    /// <param name="path">An empty folder.</param>
    /// <exception cref="IOException">The kernel refuses; nothing is left behind.</exception>
    public static int MountFuse(string path)
    {
        int descriptor = Libc.OpenPath(FuseDevice, Libc.OpenReadWrite | Libc.OpenNonblocking);
        if (descriptor < 0)
        {
            throw new IOException($"{FuseDevice} cannot be opened: {Errno.Describe(-descriptor)}");
        }

        string options = string.Create(CultureInfo.InvariantCulture, $"fd={descriptor},rootmode=40000,user_id=0,group_id=0");
        if (Mount("tierspaces", path, "fuse", Flags, options) == 0)
        {
            return descriptor;
        }

        int errno = Marshal.GetLastPInvokeError();
        _ = Libc.Close(descriptor);
        throw new IOException($"FUSE cannot be mounted on {path}: {Errno.Describe(errno)}");
    }

    /// <summary>Unmounts; false while it is in use.</summary>
    public static bool TryUnmount(string path) => Unmount(path, NoFollow) == 0;

    /// <summary>Takes a mount out of sight at once; it ends when nothing uses it any more.</summary>
    public static void UnmountLater(string path) => _ = Unmount(path, Detach | NoFollow);

    /// <summary>Ends the connection of a FUSE mount: whatever waits for it gets an error. The mount stays.</summary>
    public static void Abort(string path) => _ = Unmount(path, Force | NoFollow);

    [LibraryImport("libc", EntryPoint = "mount", StringMarshalling = StringMarshalling.Utf8, SetLastError = true)]
    private static partial int Mount(string source, string target, string type, ulong flags, string data);

    [LibraryImport("libc", EntryPoint = "umount2", StringMarshalling = StringMarshalling.Utf8, SetLastError = true)]
    private static partial int Unmount(string target, int flags);
}
