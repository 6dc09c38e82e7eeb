using TierSpaces.Contracts;
using TierSpaces.Engine.Management;
using TierSpaces.Host.Verbs.Mapping;

namespace TierSpaces.Host.Volumes;

/// <summary>A connected virtual disk with a block device, with what lies on it.</summary>
internal sealed record VolumeDisk
{
    /// <summary>The virtual disk.</summary>
    public required VirtualDiskStatus Status { get; init; }

    /// <summary>Number and settings.</summary>
    public required DiskEntry Entry { get; init; }

    /// <summary>Block device, for example <c>/dev/loop3</c>.</summary>
    public required string Device { get; init; }

    /// <summary>Stable link to it.</summary>
    public required string Path { get; init; }

    /// <summary>Content, as last read.</summary>
    public DiskContents Contents { get; init; } = DiskContents.Blank;

    /// <summary>Number, from 1.</summary>
    public int Number => Entry.Number;

    /// <summary>Unique identifier: that of the virtual disk.</summary>
    public string UniqueId => Identifiers.OfVirtualDisk(Status.Description.Id.Value);

    /// <summary>Name: that of the virtual disk.</summary>
    public string FriendlyName => Status.Description.FriendlyName;

    /// <summary>Bytes of its block device. One that is in use keeps its size while its virtual disk grows.</summary>
    public required long Size { get; init; }

    /// <summary>The way to make its block device as large as the virtual disk; null if it is.</summary>
    public string? SizeAdvice => Size >= Status.Description.SizeBytes ? null
        : $"Disconnect-VirtualDisk '{FriendlyName}' and Connect-VirtualDisk '{FriendlyName}' give the block device the new size.";

    /// <summary>Bytes of a logical sector.</summary>
    public int SectorSize => Status.Description.LogicalSectorSize;

    /// <summary>Whether writes are refused: by an administrator here, or because the virtual disk is read-only.</summary>
    public bool IsReadOnly => Entry.IsReadOnly || Status.Description.IsReadOnly;

    /// <summary>Geometry of its slowest part.</summary>
    public StripeGeometry Stripe => StripeGeometry.Of(Status.Description);

    /// <summary>Volumes on it: one for each partition of data, or the file system of a device without a partition table.</summary>
    public IEnumerable<VolumeTarget> Volumes => Contents.Whole is not null
        ? [new VolumeTarget(this, null)]
        : Contents.Partitions.Where(PartitionType.HoldsData).Select(partition => new VolumeTarget(this, partition));
}

/// <summary>Content of a disk.</summary>
internal sealed record DiskContents
{
    /// <summary>Nothing.</summary>
    public static readonly DiskContents Blank = new();

    /// <summary>Partition table; Unknown (RAW) where there is none.</summary>
    public PartitionStyle Style { get; init; }

    /// <summary>Identifier of a GPT, in braces and lower case; null without.</summary>
    public string? Guid { get; init; }

    /// <summary>Signature of an MBR; null without.</summary>
    public uint? Signature { get; init; }

    /// <summary>First and last byte that partitions may use, the last one exclusive.</summary>
    public (long First, long End) Usable { get; init; }

    /// <summary>Partitions by offset.</summary>
    public IReadOnlyList<VolumePartition> Partitions { get; init; } = [];

    /// <summary>File system of a device without a partition table; null where there is none.</summary>
    public FoundFileSystem? Whole { get; init; }

    /// <summary>Other content that was recognized on a device without a partition table, for example LVM2_member; null for none.</summary>
    public string? Foreign { get; init; }

    /// <summary>Reason why the device could not be read; null when it could.</summary>
    public string? Fault { get; init; }

    /// <summary>Whether there is neither a partition table nor anything else.</summary>
    public bool IsBlank => Style == PartitionStyle.Unknown && Whole is null && Foreign is null && Fault is null;
}

/// <summary>A file system that was found.</summary>
/// <param name="Type">Its name in Linux, for example ext4.</param>
/// <param name="Label">Label; empty for none.</param>
/// <param name="Uuid">Its identifier.</param>
/// <param name="BlockSize">Bytes of a block as far as they are known without a mount; 0 when not.</param>
internal sealed record FoundFileSystem(string Type, string Label, string Uuid, uint BlockSize);
