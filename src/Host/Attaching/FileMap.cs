using System.Globalization;
using Microsoft.Win32.SafeHandles;
using TierSpaces.Contracts;
using TierSpaces.Engine.Formats;
using TierSpaces.Engine.Lanes.Native;

namespace TierSpaces.Host.Attaching;

/// <summary>
/// Asks the kernel: which device a file is on, which virtual disk that is, and where on it. ext4 and XFS answer with places of their device;
/// others with numbers of their own, which mean nothing below them, and are refused.
/// </summary>
internal sealed class FileMap(AttachManager attachments) : IFileMap
{
    private const int SectorBytes = 512;   // of sysfs, whatever the disk has
    private static readonly string[] s_fileSystems = ["ext4", "xfs"];

    /// <inheritdoc/>
    public FilePlace Find(string path)
    {
        string named = $"-FilePath '{path}'";
        using SafeFileHandle file = Open(path, named);
        FileStatus status = StatusOf(file, named);
        if (!status.IsRegularFile)
        {
            throw new StorageException(StorageErrors.InvalidParameter, $"{named} is no regular file.", "Name a file.", path);
        }

        RequireTelling(path, named, status);
        VolumePlace volume = VolumeOf(path, named, status);
        return new FilePlace(volume.VirtualDisk, [.. FileExtentMap.Of(file, path).Select(piece => piece with { Offset = piece.Offset + volume.Range.Offset })]);
    }

    /// <inheritdoc/>
    public VolumePlace FindVolume(string path, string parameter)
    {
        string named = $"-{parameter} '{path}'";
        using SafeFileHandle file = Open(path, named);
        return VolumeOf(path, named, StatusOf(file, named));
    }

    private static SafeFileHandle Open(string path, string named)
    {
        int descriptor = Libc.OpenPath(path, Libc.OpenNonblocking);
        return descriptor >= 0
            ? new SafeFileHandle(descriptor, ownsHandle: true)
            : throw new StorageException(
                descriptor == -Errno.EACCES ? StorageErrors.AccessDenied : StorageErrors.FileNotFound,
                $"{named} cannot be opened by the host: {Errno.Describe(-descriptor)}.",
                descriptor == -Errno.EACCES ? "Let the user that the host runs as read it." : "Name what is there, on the machine that the host runs on.",
                path);
    }

    private static FileStatus StatusOf(SafeFileHandle file, string named)
    {
        int result = Libc.StatusOf((int)file.DangerousGetHandle(), out FileStatus status);
        GC.KeepAlive(file);
        return result == 0 ? status : throw new StorageException(
            StorageErrors.Failed, $"The kernel says nothing of {named}: {Errno.Describe(-result)}.", "Name a file of a local file system.", named);
    }

    private static void RequireTelling(string path, string named, FileStatus status)
    {
        (string? type, string? options) = MountInfo.Of(status);
        if (!s_fileSystems.Contains(type))
        {
            throw new StorageException(
                StorageErrors.NotSupported,
                type == "btrfs"
                    ? $"{named} is on btrfs, whose addresses are its own and no places of the disk."
                    : $"{named} is on {type}, which does not report the places of a file on the disk.",
                "Files on ext4 and XFS can be pinned.", path);
        }

        if (options.Contains("rtdev=", StringComparison.Ordinal))
        {
            throw new StorageException(
                StorageErrors.NotSupported, $"{named} is on XFS with a real-time device, and XFS does not report which of its two devices has the file.",
                "Files on ext4 and on XFS of one device can be pinned.", path);
        }
    }

    private VolumePlace VolumeOf(string path, string named, FileStatus status)
    {
        string link = string.Create(CultureInfo.InvariantCulture, $"/sys/dev/block/{status.Volume.Major}:{status.Volume.Minor}");
        string? device = Directory.Exists(link) ? Directory.ResolveLinkTarget(link, returnFinalTarget: true)?.FullName : null;
        if (device is null)
        {
            throw new StorageException(
                StorageErrors.InvalidParameter, $"{named} is on no block device.", "Name a path on a connected virtual disk.", path);
        }

        bool isPartition = File.Exists(Path.Combine(device, "partition"));
        long start = isPartition ? NumberIn(device, "start") : 0;
        long length = NumberIn(device, "size");
        string name = "/dev/" + Path.GetFileName(isPartition ? Path.GetDirectoryName(device) : device);
        string disk = attachments.DiskOn(name) ?? throw new StorageException(
            StorageErrors.InvalidParameter, $"{named} is on {name}, which is no connected virtual disk of this host.",
            "Name what lies directly on a connected virtual disk, or on a partition of one.", path);
        return new VolumePlace(disk, new PinnedRange(start, length));
    }

    private static long NumberIn(string device, string name) =>
        long.Parse(File.ReadAllText(Path.Combine(device, name)), CultureInfo.InvariantCulture) * SectorBytes;
}
