using System.Buffers.Binary;
using System.Globalization;
using System.Runtime.InteropServices;
using Microsoft.Win32.SafeHandles;
using TierSpaces.Contracts;
using TierSpaces.Engine.Formats;
using TierSpaces.Host.Native;

namespace TierSpaces.Host.Attaching;

/// <summary>
/// Asks the kernel: which device a file is on, which virtual disk that is, and where on it. ext4 and XFS answer with places of their device;
/// others with numbers of their own, which mean nothing below them, and are refused.
/// </summary>
internal sealed class FileMap(AttachManager attachments) : IFileMap
{
    private const int SectorBytes = 512;   // of sysfs, whatever the disk has
    private static readonly string[] fileSystems = ["ext4", "xfs"];

    /// <inheritdoc/>
    public FilePlace Find(string path)
    {
        var named = $"-FilePath '{path}'";
        using var file = Open(path, named);
        var status = FileStatus.Of(file, named);
        if (!status.IsRegular)
        {
            throw new StorageException(StorageErrors.InvalidParameter, $"{named} is no regular file.", "Name a file.", path);
        }

        RequireTelling(path, named, status);
        var volume = VolumeOf(path, named, status);
        return new FilePlace(volume.VirtualDisk, [.. FileExtents.Of(file, path).Select(piece => piece with { Offset = piece.Offset + volume.Range.Offset })]);
    }

    /// <inheritdoc/>
    public VolumePlace FindVolume(string path, string parameter)
    {
        var named = $"-{parameter} '{path}'";
        using var file = Open(path, named);
        return VolumeOf(path, named, FileStatus.Of(file, named));
    }

    private static SafeFileHandle Open(string path, string named)
    {
        var descriptor = Libc.Open(path, Libc.OpenNonBlocking | Libc.OpenCloseOnExec, 0);
        var error = Marshal.GetLastPInvokeError();
        return descriptor >= 0
            ? new SafeFileHandle(descriptor, ownsHandle: true)
            : throw new StorageException(
                error == Libc.EACCES ? StorageErrors.AccessDenied : StorageErrors.FileNotFound,
                $"{named} cannot be opened by the host: {Marshal.GetPInvokeErrorMessage(error)}.",
                error == Libc.EACCES ? "Let the user that the host runs as read it." : "Name what is there, on the machine that the host runs on.", path);
    }

    private static void RequireTelling(string path, string named, FileStatus status)
    {
        var (type, options) = MountInfo.Of(status);
        if (!fileSystems.Contains(type))
        {
            throw new StorageException(
                StorageErrors.NotSupported,
                type == "btrfs"
                    ? $"{named} is on btrfs, whose addresses are its own and no places of the disk."
                    : $"{named} is on {type}, which does not tell where on the disk a file lies.",
                "Files on ext4 and XFS can be pinned.", path);
        }

        if (options.Contains("rtdev=", StringComparison.Ordinal))
        {
            throw new StorageException(
                StorageErrors.NotSupported, $"{named} is on XFS with a real-time device; which of the two devices it is on is not told.",
                "Files on ext4 and on XFS of one device can be pinned.", path);
        }
    }

    private VolumePlace VolumeOf(string path, string named, FileStatus status)
    {
        var link = string.Create(CultureInfo.InvariantCulture, $"/sys/dev/block/{status.Major}:{status.Minor}");
        var device = Directory.Exists(link) ? Directory.ResolveLinkTarget(link, returnFinalTarget: true)?.FullName : null;
        if (device is null)
        {
            throw new StorageException(
                StorageErrors.InvalidParameter, $"{named} is on no block device.", "Name a path on a connected virtual disk.", path);
        }

        var isPartition = File.Exists(Path.Combine(device, "partition"));
        var start = isPartition ? NumberIn(device, "start") : 0;
        var length = NumberIn(device, "size");
        var name = "/dev/" + Path.GetFileName(isPartition ? Path.GetDirectoryName(device) : device);
        var disk = attachments.DiskOn(name) ?? throw new StorageException(
            StorageErrors.InvalidParameter, $"{named} is on {name}, which is no connected virtual disk of this host.",
            "Name what lies directly on a connected virtual disk, or on a partition of one.", path);
        return new VolumePlace(disk, new PinnedRange(start, length));
    }

    private static long NumberIn(string device, string name) =>
        long.Parse(File.ReadAllText(Path.Combine(device, name)), CultureInfo.InvariantCulture) * SectorBytes;
}

/// <summary>What the kernel says of an open file.</summary>
/// <param name="Mode">Kind and permissions.</param>
/// <param name="Major">Number of the device that it is on; a block device is on itself.</param>
/// <param name="Minor">Second number of that device.</param>
/// <param name="Mount">Number of the mount.</param>
internal sealed record FileStatus(int Mode, uint Major, uint Minor, ulong Mount)
{
    private const int KindMask = 0xF000;
    private const int RegularFile = 0x8000;
    private const int Device = 0x6000;

    /// <summary>Whether it has data of its own.</summary>
    public bool IsRegular => (Mode & KindMask) == RegularFile;

    /// <summary>Asks.</summary>
    /// <param name="file">The open file.</param>
    /// <param name="parameter">What named it, with its value, for errors.</param>
    /// <exception cref="StorageException">The kernel does not tell.</exception>
    public static FileStatus Of(SafeFileHandle file, string parameter)
    {
        Span<byte> answer = stackalloc byte[Libc.StatusBytes];
        if (Libc.Status(file, "", Libc.EmptyPath, Libc.BasicAndMount, answer) != 0)
        {
            throw new StorageException(
                StorageErrors.Failed, $"The kernel says nothing of {parameter}: {Marshal.GetPInvokeErrorMessage(Marshal.GetLastPInvokeError())}.",
                "Name a file of a local file system.", parameter);
        }

        return Read(answer);
    }

    /// <summary>Asks of what is at a path, without opening it; null when nothing is there, or the host may not look.</summary>
    /// <param name="path">The path.</param>
    /// <param name="follows">Whether a symbolic link stands for what it leads to.</param>
    public static FileStatus? Of(string path, bool follows)
    {
        Span<byte> answer = stackalloc byte[Libc.StatusBytes];
        return Libc.Status(Libc.CurrentFolder, path, follows ? 0 : Libc.NoFollow, Libc.BasicAndMount, answer) == 0 ? Read(answer) : null;
    }

    private static FileStatus Read(ReadOnlySpan<byte> answer)
    {
        int mode = MemoryMarshal.Read<ushort>(answer[28..]);
        var device = answer[((mode & KindMask) == Device ? 128 : 136)..];
        return new FileStatus(mode, MemoryMarshal.Read<uint>(device), MemoryMarshal.Read<uint>(device[4..]), MemoryMarshal.Read<ulong>(answer[144..]));
    }
}

/// <summary>The kernel's list of mounts.</summary>
internal static class MountInfo
{
    /// <summary>Type of the file system of a file, and its options; by the number of the mount, or of the device where the kernel does not tell that.</summary>
    public static (string Type, string Options) Of(FileStatus status) =>
        Of(File.ReadLines("/proc/self/mountinfo"), status.Mount, string.Create(CultureInfo.InvariantCulture, $"{status.Major}:{status.Minor}"));

    /// <summary>The same, of given lines.</summary>
    internal static (string Type, string Options) Of(IEnumerable<string> lines, ulong mount, string device)
    {
        var mounts = lines.Select(line => line.Split(' ')).ToArray();
        var number = mount.ToString(CultureInfo.InvariantCulture);
        var fields = mounts.FirstOrDefault(fields => fields[0] == number) ?? mounts.FirstOrDefault(fields => fields[2] == device);
        var end = fields is null ? -1 : Array.IndexOf(fields, "-");   // optional fields end there
        return end > 0 ? (fields![end + 1], fields[^1]) : ("an unknown file system", "");
    }
}

/// <summary>The extents of a file (FIEMAP).</summary>
internal static class FileExtents
{
    private const int HeaderBytes = 32;
    private const int ExtentBytes = 56;
    private const int ExtentsAtOnce = 512;
    private const uint FlagSync = 1;

    private const uint Last = 1;
    private const uint Unknown = 2;
    private const uint Delayed = 4;
    private const uint Encoded = 8;
    private const uint Encrypted = 0x80;
    private const uint Inline = 0x200;
    private const uint Tail = 0x400;

    /// <summary>Where the data of an open file lies, in the order of the file; bytes of the device that its file system is on.</summary>
    public static List<PinnedRange> Of(SafeFileHandle file, string path)
    {
        List<PinnedRange> pieces = [];
        var buffer = new byte[HeaderBytes + (ExtentsAtOnce * ExtentBytes)];
        var isWhole = false;
        for (ulong start = 0; !isWhole;)
        {
            Ask(file, path, start, buffer);
            isWhole = Take(path, buffer, pieces, ref start);
        }

        return pieces.Count > 0 ? pieces : throw new StorageException(
            StorageErrors.InvalidParameter, $"-FilePath '{path}' has no data on the disk: it is empty, or a hole.", "Write the file first.", path);
    }

    private static void Ask(SafeFileHandle file, string path, ulong start, byte[] buffer)
    {
        Array.Clear(buffer, 0, HeaderBytes);
        BinaryPrimitives.WriteUInt64LittleEndian(buffer, start);
        BinaryPrimitives.WriteUInt64LittleEndian(buffer.AsSpan(8), ulong.MaxValue - start);
        BinaryPrimitives.WriteUInt32LittleEndian(buffer.AsSpan(16), FlagSync);
        BinaryPrimitives.WriteUInt32LittleEndian(buffer.AsSpan(24), ExtentsAtOnce);
        if (Libc.Control(file, Libc.MapExtents, buffer) != 0)
        {
            throw new StorageException(
                StorageErrors.NotSupported,
                $"Where -FilePath '{path}' lies is not told: {Marshal.GetPInvokeErrorMessage(Marshal.GetLastPInvokeError())}.",
                "Name a file on ext4 or XFS.", path);
        }
    }

    /// <summary>Takes the extents of an answer; true when they are the last.</summary>
    internal static bool Take(string path, ReadOnlySpan<byte> answer, List<PinnedRange> pieces, ref ulong start)
    {
        var count = (int)BinaryPrimitives.ReadUInt32LittleEndian(answer[20..]);
        for (var i = 0; i < count; i++)
        {
            var extent = answer.Slice(HeaderBytes + (i * ExtentBytes), ExtentBytes);
            var length = BinaryPrimitives.ReadUInt64LittleEndian(extent[16..]);
            var flags = BinaryPrimitives.ReadUInt32LittleEndian(extent[40..]);
            RequirePlace(path, flags);
            pieces.Add(new PinnedRange((long)BinaryPrimitives.ReadUInt64LittleEndian(extent[8..]), (long)length));
            start = BinaryPrimitives.ReadUInt64LittleEndian(extent) + length;
            if ((flags & Last) != 0)
            {
                return true;
            }
        }

        return count == 0;
    }

    // Encrypted data has a place like any other; the kernel calls it encoded as well.
    private static void RequirePlace(string path, uint flags)
    {
        var (reason, action) =
            (flags & (Inline | Tail)) != 0 ? ("lies in the inode, with the metadata of its file system", "Files of a block and more can be pinned.")
            : (flags & (Unknown | Delayed)) != 0 ? ("has data that has no place on the disk yet", "Run 'sync', then pin it.")
            : (flags & Encoded) != 0 && (flags & Encrypted) == 0 ? ("is compressed by its file system", "Write it anew without compression.")
            : ("", "");
        if (reason.Length > 0)
        {
            throw new StorageException(StorageErrors.NotSupported, $"-FilePath '{path}' {reason}.", action, path);
        }
    }
}
