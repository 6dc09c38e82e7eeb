using System.Runtime.InteropServices;

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

    [LibraryImport("libc", EntryPoint = "realpath", StringMarshalling = StringMarshalling.Utf8)]
    private static partial nint Resolve(string path, nint buffer);

    [LibraryImport("libc", EntryPoint = "free")]
    private static partial void Free(nint memory);
}
