using TierSpaces.Engine.Lanes.Native;
using TierSpaces.Engine.Primitives;

namespace TierSpaces.Engine.Devices;

/// <summary>Makes image files, and removes those it has made.</summary>
public static unsafe class DiskImage
{
    /// <summary>Sizes are multiples of this, in bytes, so that every sector size and direct access fit.</summary>
    public const int SizeUnit = 4096;

    /// <summary>Makes an image file that reads as zeros, readable by its owner only, and makes its name durable.</summary>
    /// <param name="path">Absolute path; nothing may be there.</param>
    /// <param name="size">Size in bytes, a positive multiple of <see cref="SizeUnit"/>.</param>
    /// <param name="preallocate">Takes the whole space now; else blocks are taken as they are written.</param>
    /// <exception cref="IOException">It could not be made; the message says why, HResult is the errno, and nothing is left behind.</exception>
    /// <exception cref="ArgumentException">The path or the size is unsuitable.</exception>
    public static void Create(string path, long size, bool preallocate)
    {
        if (!Path.IsPathFullyQualified(path))
        {
            throw new ArgumentException($"The path '{path}' of the image file is not absolute.", nameof(path));
        }

        if (size <= 0 || size % SizeUnit != 0)
        {
            throw new ArgumentException(
                $"The size {ByteText.Exact(size)} of the image file '{path}' is not a positive multiple of {ByteText.Exact(SizeUnit)}.", nameof(size));
        }

        int descriptor = Libc.OpenPath(path, Libc.OpenReadWrite | Libc.OpenCreate | Libc.OpenExclusive, Libc.OwnerOnly);
        if (descriptor < 0)
        {
            throw Failure(path, size, -descriptor);
        }

        int result = Fill(descriptor, path, size, preallocate);
        Libc.Close(descriptor);
        if (result < 0)
        {
            _ = Libc.UnlinkPath(path);
            throw Failure(path, size, -result);
        }
    }

    /// <summary>Removes an image file that <see cref="Create"/> has made, as far as that is possible.</summary>
    public static void Delete(string path)
    {
        _ = Libc.UnlinkPath(path);
        _ = Libc.SyncFolder(Path.GetDirectoryName(path)!);
    }

    /// <summary>Returns the reason why <see cref="Create"/> could not begin: the path exists, or its directory does not. Null if it could.</summary>
    public static IOException? WhyNotCreated(string path, long size) =>
        Path.Exists(path) ? Failure(path, size, Errno.EEXIST)
        : !Directory.Exists(Path.GetDirectoryName(path)) ? Failure(path, size, Errno.ENOENT)
        : null;

    private static int Fill(int descriptor, string path, long size, bool preallocate)
    {
        if (!HasRoom(descriptor, preallocate ? size : SizeUnit))
        {
            return -Errno.ENOSPC;
        }

        int result = preallocate
            ? Libc.CountOrError(Libc.Allocate(descriptor, 0, 0, size))
            : Libc.CountOrError(Libc.Truncate(descriptor, size));
        if (result >= 0)
        {
            result = Libc.CountOrError(Libc.Sync(descriptor));
        }

        return result < 0 ? result : Libc.SyncFolder(Path.GetDirectoryName(path)!);
    }

    /// <summary>Asked first, so that a host that is too small is refused without being filled to the brim for a moment.</summary>
    private static bool HasRoom(int descriptor, long size)
    {
        FileSystemStatus status;
        return Libc.FileSystem(descriptor, &status) != 0
            || status.Blocks == 0
            || (Int128)status.BlocksAvailable * status.BlockSize >= size;
    }

    private static IOException Failure(string path, long size, int errno) => new(errno switch
    {
        Errno.EEXIST => $"The image file '{path}' is already there. Choose another path, or register the existing file.",
        Errno.ENOENT or Errno.ENOTDIR => $"The folder of the image file '{path}' does not exist. Create it first.",
        Errno.EACCES or Errno.EPERM or Errno.EROFS => $"You may not create the image file '{path}': {Errno.Describe(errno)}.",
        Errno.ENOSPC or Errno.EDQUOT => $"The file system of '{path}' has no room for an image file of {ByteText.Exact(size)}. Free space there or choose another place.",
        Errno.EFBIG => $"The file system of '{path}' cannot hold a file of {ByteText.Exact(size)}. Choose a smaller size or another place.",
        Errno.EOPNOTSUPP => $"The file system of '{path}' cannot preallocate. Create a sparse image instead.",
        _ => $"Cannot create the image file '{path}': {Errno.Describe(errno)}.",
    }, errno);
}
