namespace TierSpaces.Host.Volumes;

/// <summary>The memory of the host of disks and mounts. Everything else is read from the disks.</summary>
internal sealed record VolumeState
{
    /// <summary>Numbers and settings of connected virtual disks.</summary>
    public DiskEntry[] Disks { get; init; } = [];

    /// <summary>Mounts in the order in which they were made.</summary>
    public MountEntry[] Mounts { get; init; } = [];

    /// <summary>File systems that were made in place of the requested ones.</summary>
    public FormatEntry[] Formats { get; init; } = [];

    /// <summary>Volumes that are being made. The remains of one when the host starts are removed.</summary>
    public CreationEntry[] Creations { get; init; } = [];

    /// <summary>Partitions that an administrator took offline: nothing of them is mounted.</summary>
    public OfflineEntry[] Offline { get; init; } = [];
}

/// <summary>A volume that is being made: written before the first step, removed after the last one.</summary>
/// <param name="VirtualDisk">Unique identifier of the virtual disk.</param>
/// <param name="Id">Identifier of the virtual disk that is made for it; null for a volume on a disk that was there before.</param>
/// <param name="Pool">Pool of that virtual disk.</param>
/// <param name="WasRaw">Whether the disk had no partition table before.</param>
internal sealed record CreationEntry(string VirtualDisk, Guid? Id, Guid Pool, bool WasRaw);

/// <summary>A partition that is offline.</summary>
/// <param name="VirtualDisk">Unique identifier of the virtual disk.</param>
/// <param name="Partition">Key of the partition.</param>
internal sealed record OfflineEntry(string VirtualDisk, string Partition);

/// <summary>A connected virtual disk.</summary>
/// <param name="VirtualDisk">Unique identifier.</param>
/// <param name="Number">Number of the disk, from 1.</param>
/// <param name="IsOffline">Whether an administrator took it offline: nothing of it is mounted or changed.</param>
/// <param name="IsReadOnly">Whether an administrator made it read-only.</param>
internal sealed record DiskEntry(string VirtualDisk, int Number, bool IsOffline, bool IsReadOnly);

/// <summary>A mount: written before the mount is made, removed after it is gone.</summary>
/// <param name="VirtualDisk">Unique identifier of the virtual disk.</param>
/// <param name="Partition">Key of the partition (<see cref="VolumePartition.Key"/>); empty for a device without a partition table.</param>
/// <param name="Path">Mount point, absolute.</param>
/// <param name="Letter">Drive letter; empty for an access path.</param>
/// <param name="MadeFolder">Whether the host made the folder, and removes it after the mount.</param>
internal sealed record MountEntry(string VirtualDisk, string Partition, string Path, string Letter, bool MadeFolder)
{
    /// <summary>The name that verbs take: the letter with a colon, or the path.</summary>
    public string AccessPath => Letter.Length > 0 ? Letter + ":" : Path;
}

/// <summary>A file system that was made in place of another one.</summary>
/// <param name="VirtualDisk">Unique identifier of the virtual disk.</param>
/// <param name="Partition">Key of the partition.</param>
/// <param name="Requested">File system that was requested, for example ReFS.</param>
internal sealed record FormatEntry(string VirtualDisk, string Partition, string Requested);
