using System.Runtime.InteropServices;
using System.Text;
using TierSpaces.Engine.Lanes.Native;

namespace TierSpaces.Host.Native;

/// <summary>System calls on mounted file systems, which only the host makes. They may wait for a disk.</summary>
internal static partial class FileSystemCalls
{
    /// <summary>statvfs of 64-bit Linux.</summary>
    [StructLayout(LayoutKind.Sequential, Size = 112)]
    public struct Status
    {
        /// <summary>Bytes of a transfer.</summary>
        public ulong BlockSize;

        /// <summary>Bytes of an allocation unit.</summary>
        public ulong FragmentSize;

        /// <summary>Allocation units.</summary>
        public ulong Blocks;

        /// <summary>Free ones.</summary>
        public ulong BlocksFree;

        /// <summary>Free ones that users may take.</summary>
        public ulong BlocksAvailable;
    }

    /// <summary>statvfs; 0, or -1 where the path is not there.</summary>
    [LibraryImport("libc", EntryPoint = "statvfs", StringMarshalling = StringMarshalling.Utf8)]
    public static partial int StatusOf(string path, out Status status);

    /// <summary>Returns the absolute path without links and dot segments; null where nothing is there.</summary>
    public static string? RealPath(string path)
    {
        nint resolved = Resolve(path, 0);
        string? text = Marshal.PtrToStringUTF8(resolved);
        Free(resolved);
        return text;
    }

    /// <summary>Sets the label of a mounted file system.</summary>
    /// <returns>True.</returns>
    /// <exception cref="IOException">The file system does not take it.</exception>
    public static unsafe bool SetLabel(string path, string label)
    {
        const nuint setLabel = 0x41009432;   // FS_IOC_SETFSLABEL
        byte[] text = new byte[256];
        Encoding.UTF8.GetBytes(label, text);
        int descriptor = Libc.OpenPath(path, Libc.OpenNonblocking);
        if (descriptor < 0)
        {
            throw new IOException($"{path} cannot be opened: {Errno.Describe(-descriptor)}");
        }

        fixed (byte* bytes = text)
        {
            int result = Libc.CountOrError(Libc.Control(descriptor, setLabel, bytes));
            _ = Libc.Close(descriptor);
            return result >= 0 ? true : throw new IOException($"the kernel does not take the label: {Errno.Describe(-result)}");
        }
    }

    [LibraryImport("libc", EntryPoint = "realpath", StringMarshalling = StringMarshalling.Utf8)]
    private static partial nint Resolve(string path, nint buffer);

    [LibraryImport("libc", EntryPoint = "free")]
    private static partial void Free(nint memory);
}
