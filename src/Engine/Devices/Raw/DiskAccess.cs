namespace TierSpaces.Engine.Devices.Raw;

/// <summary>Path of requests to a file or device.</summary>
public enum DiskAccess
{
    /// <summary>Past the page cache (O_DIRECT), through the lane's backend.</summary>
    Direct,

    /// <summary>Through the page cache, because the file system refuses direct access.</summary>
    Buffered,

    /// <summary>The file lives in memory (tmpfs): read and written by plain calls on the lane, which is fastest.</summary>
    Memory,
}

/// <summary>An open, locked file or device and its properties.</summary>
/// <param name="Descriptor">The open descriptor.</param>
/// <param name="IsBlockDevice">A block device, else a regular file.</param>
/// <param name="SizeBytes">Size when it was opened.</param>
/// <param name="Key">Identity of the device: inode or major:minor.</param>
/// <param name="Access">Path of requests to it.</param>
/// <param name="AccessReason">Reason for that path, in words.</param>
/// <param name="MemoryAlignment">Alignment that direct access needs of buffers, a power of two.</param>
/// <param name="OffsetAlignment">Alignment that direct access needs of offsets and lengths, a power of two.</param>
/// <param name="HonoursSyncFlag">RWF_DSYNC makes a write durable; else a flush follows it.</param>
/// <param name="IsReadOnly">Opened for reading alone.</param>
internal sealed record OpenedDevice(
    int Descriptor,
    bool IsBlockDevice,
    long SizeBytes,
    string Key,
    DiskAccess Access,
    string AccessReason,
    int MemoryAlignment,
    int OffsetAlignment,
    bool HonoursSyncFlag,
    bool IsReadOnly)
{
    /// <summary>
    /// Whether its status may take any time: a regular file on a file system that may ask a daemon or a server for it. The kernel has the size of a block
    /// device, of a file in memory, and of an open file on ext4, XFS and Btrfs, the file systems that honour the flag, in its own memory.
    /// </summary>
    internal bool IsForeign => !IsBlockDevice && Access != DiskAccess.Memory && !HonoursSyncFlag;
}
