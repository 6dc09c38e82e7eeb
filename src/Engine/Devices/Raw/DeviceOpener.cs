using TierSpaces.Engine.Devices.Identity;
using TierSpaces.Engine.Lanes.Native;
using TierSpaces.Engine.Primitives;

namespace TierSpaces.Engine.Devices.Raw;

/// <summary>
/// Opens files and block devices and finds out how to use them. For writing a file is locked with flock, and a device is
/// opened with O_EXCL as well, which also keeps mounts and other storage drivers out. For reading alone the lock is shared with other readers. The path is
/// looked up once, without opening what it names (O_PATH); kind and access are then those of that one file, whatever the path leads to meanwhile.
/// </summary>
internal static unsafe class DeviceOpener
{
    private const int DefaultAlignment = 4096;

    /// <summary>Opens a path; messages name <paramref name="uri"/>.</summary>
    /// <exception cref="DiskOpenException">It could not be opened; nothing was changed.</exception>
    internal static OpenedDevice Open(string uri, string path, bool wantBlockDevice, DiskUse use = DiskUse.ReadWrite)
    {
        int named = Libc.OpenPath(path, Libc.OpenNameOnly);
        if (named < 0)
        {
            throw Failure(uri, -named, "look at");
        }

        int descriptor;
        try
        {
            RequireKind(uri, named, wantBlockDevice);
            descriptor = OpenNamed(uri, $"/proc/self/fd/{named}", wantBlockDevice, use);
        }
        finally
        {
            Libc.Close(named);
        }

        try
        {
            if (FileLock.Take(descriptor, use) is < 0 and int error)
            {
                throw Failure(uri, -error, "lock");
            }

            RequireNoOtherPath(uri, descriptor, use);
            return Examine(uri, descriptor, use);
        }
        catch
        {
            Libc.Close(descriptor);
            throw;
        }
    }

    private static void RequireNoOtherPath(string uri, int descriptor, DiskUse use)
    {
        if (use == DiskUse.Read || Libc.StatusOf(descriptor, out FileStatus status) < 0)
        {
            return;
        }

        string file = status.IsBlockDevice ? Hardware.OfBackingFile(descriptor, out _) : Hardware.OfFile(status);
        if (file.Length > 0 && OtherPaths.FindUser(file) is { } user)
        {
            throw new DiskOpenException(
                DiskOpenFailure.InUse, $"'{uri}' is in use: process {user.Process} has {user.Path} open, which leads to the same image. Release it there first.");
        }
    }

    private static int OpenNamed(string uri, string path, bool wantBlockDevice, DiskUse use)
    {
        int descriptor = use == DiskUse.Read ? Libc.OpenPath(path, Libc.OpenReadOnly)
            : wantBlockDevice ? FileLock.OpenExclusively(path) : Libc.OpenPath(path, Libc.OpenReadWrite);
        return descriptor >= 0 ? descriptor : throw Failure(uri, -descriptor, use == DiskUse.Read ? "read" : "open", use);
    }

    /// <summary>Size of an open device or file in bytes, or a negative errno.</summary>
    internal static long SizeOf(int descriptor, bool isBlockDevice)
    {
        if (isBlockDevice)
        {
            long size;
            int result = Libc.CountOrError(Libc.Control(descriptor, Libc.BlockGetSize64, &size));
            return result < 0 ? result : size;
        }

        int answer = Libc.StatusOf(descriptor, out FileStatus status);
        return answer < 0 ? answer : status.Size;
    }

    private static void RequireKind(string uri, int named, bool wantBlockDevice)
    {
        int result = Libc.StatusOf(named, out FileStatus status);
        if (result < 0)
        {
            throw Failure(uri, -result, "look at");
        }

        if (wantBlockDevice ? !status.IsBlockDevice : !status.IsRegularFile)
        {
            throw new DiskOpenException(
                DiskOpenFailure.Unsuitable,
                wantBlockDevice
                    ? $"'{uri}' is not a block device. Name a device such as block:/dev/sdb, or an image as file:/path."
                    : $"'{uri}' is not a regular file. Name an image file, or a device as block:/dev/sdb.");
        }
    }

    private static OpenedDevice Examine(string uri, int descriptor, DiskUse use)
    {
        if (Libc.StatusOf(descriptor, out FileStatus status) is < 0 and int error)
        {
            throw Failure(uri, -error, "look at");
        }

        bool isBlockDevice = status.IsBlockDevice;
        long size = SizeOf(descriptor, isBlockDevice);
        if (size < 0)
        {
            throw Failure(uri, (int)-size, "measure");
        }

        FileSystemStatus system;
        long fileSystem = !isBlockDevice && Libc.FileSystem(descriptor, &system) == 0 ? system.Type : 0;
        string key = isBlockDevice
            ? $"block:{status.DeviceMajor}:{status.DeviceMinor}"
            : $"inode:{status.ContainerMajor}:{status.ContainerMinor}:{status.Inode}";
        (DiskAccess access, string reason) = ChooseAccess(descriptor, fileSystem);
        (int memory, int offset) = Alignments(descriptor, isBlockDevice, status);
        if (access == DiskAccess.Direct && (offset > DefaultAlignment || size % offset != 0))
        {
            ClearDirect(descriptor);
            access = DiskAccess.Buffered;
            reason = $"direct access here needs units of {ByteText.Exact(offset)}";
        }

        bool honoursSync = isBlockDevice || fileSystem is FileSystemStatus.Ext4 or FileSystemStatus.Xfs or FileSystemStatus.Btrfs;
        return new OpenedDevice(descriptor, isBlockDevice, size, key, access, reason, memory, offset, honoursSync, use == DiskUse.Read);
    }

    private static (DiskAccess Access, string Reason) ChooseAccess(int descriptor, long fileSystem)
    {
        if (fileSystem is FileSystemStatus.Tmpfs or FileSystemStatus.Ramfs)
        {
            return (DiskAccess.Memory, "the file is in memory");
        }

        int flags = Libc.FileControl(descriptor, Libc.GetFlags, 0);
        int result = Libc.CountOrError(Libc.FileControl(descriptor, Libc.SetFlags, flags | Libc.OpenDirect));
        return result >= 0
            ? (DiskAccess.Direct, "direct access")
            : (DiskAccess.Buffered, $"direct access refused: {Errno.Describe(-result)}");
    }

    private static void ClearDirect(int descriptor)
    {
        int flags = Libc.FileControl(descriptor, Libc.GetFlags, 0);
        _ = Libc.FileControl(descriptor, Libc.SetFlags, flags & ~Libc.OpenDirect);
    }

    /// <summary>Returns the alignments that direct access needs: from statx (Linux 6.1), else from the device, else a page.</summary>
    private static (int Memory, int Offset) Alignments(int descriptor, bool isBlockDevice, in FileStatus status)
    {
        if ((status.Mask & FileStatus.DirectIoMask) != 0 && status.DirectIoOffsetAlignment != 0)
        {
            return ((int)status.DirectIoMemoryAlignment, (int)status.DirectIoOffsetAlignment);
        }

        int sector;
        return isBlockDevice && Libc.Control(descriptor, Libc.BlockGetLogicalSector, &sector) == 0
            ? (sector, sector)
            : (DefaultAlignment, DefaultAlignment);
    }

    private static DiskOpenException Failure(string uri, int errno, string attempt, DiskUse use = DiskUse.ReadWrite) => errno switch
    {
        Errno.ENOENT or Errno.ENOTDIR or Errno.ENXIO or Errno.ENODEV => new(
            DiskOpenFailure.NotFound, $"There is no disk at '{uri}': {Errno.Describe(errno)}."),
        Errno.EACCES or Errno.EPERM or Errno.EROFS => new(
            DiskOpenFailure.PermissionDenied,
            use == DiskUse.Read ? $"You may not read '{uri}': {Errno.Describe(errno)}."
                : $"You may not write to '{uri}': {Errno.Describe(errno)}. A disk is opened for reading and writing."),
        Errno.EBUSY or Errno.EAGAIN or Errno.ETXTBSY => new(
            DiskOpenFailure.InUse, $"'{uri}' is in use: this or another process has it open, or it is mounted. Release it there first."),
        Errno.ETIMEDOUT => new(
            DiskOpenFailure.StillHeld,
            $"'{uri}' is still locked by a process that has exited. The kernel usually releases the lock within a minute; retry then."),
        _ => new(DiskOpenFailure.Failed, $"Cannot {attempt} '{uri}': {Errno.Describe(errno)}."),
    };
}
