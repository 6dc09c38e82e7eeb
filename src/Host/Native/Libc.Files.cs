using System.Runtime.InteropServices;
using Microsoft.Win32.SafeHandles;

namespace TierSpaces.Host.Native;

/// <summary>What tells where a file lies.</summary>
internal static partial class Libc
{
    /// <summary>ioctl: the extents of a file (FS_IOC_FIEMAP).</summary>
    public const nuint MapExtents = 0xC020660B;

    /// <summary>statx: of the descriptor itself.</summary>
    public const int EmptyPath = 0x1000;

    /// <summary>statx: of a symbolic link itself.</summary>
    public const int NoFollow = 0x100;

    /// <summary>statx: of a path from the current folder on.</summary>
    public const int CurrentFolder = -100;

    /// <summary>statx: everything that stat knows, and the mount.</summary>
    public const uint BasicAndMount = 0x7ff | 0x1000;

    /// <summary>Bytes of struct statx.</summary>
    public const int StatusBytes = 256;

    /// <summary>Not permitted.</summary>
    public const int EACCES = 13;

    /// <summary>ioctl with a buffer that is read and written.</summary>
    [LibraryImport("libc", EntryPoint = "ioctl", SetLastError = true)]
    public static partial int Control(SafeFileHandle file, nuint request, Span<byte> buffer);

    /// <summary>What the file system says of an open file; the structure is the same on every architecture.</summary>
    [LibraryImport("libc", EntryPoint = "statx", SetLastError = true, StringMarshalling = StringMarshalling.Utf8)]
    public static partial int Status(SafeFileHandle file, string path, int flags, uint mask, Span<byte> buffer);

    /// <summary>The same of a path.</summary>
    [LibraryImport("libc", EntryPoint = "statx", SetLastError = true, StringMarshalling = StringMarshalling.Utf8)]
    public static partial int Status(int folder, string path, int flags, uint mask, Span<byte> buffer);
}
