namespace TierSpaces.Host.Volumes;

/// <summary>A place for a file system: a partition, or a device without a partition table.</summary>
/// <param name="Disk">The disk.</param>
/// <param name="Partition">The partition; null for the whole device.</param>
internal sealed record VolumeTarget(VolumeDisk Disk, VolumePartition? Partition)
{
    private const string NoPartition = "{00000000-0000-0000-0000-000000000000}";

    /// <summary>Its device.</summary>
    public string Node => Partition?.Node ?? Disk.Device;

    /// <summary>Name of it in records; empty for the whole device.</summary>
    public string Key => Partition?.Key ?? "";

    /// <summary>Its file system; null where none is recognized.</summary>
    public FoundFileSystem? FileSystem => Partition is { } partition ? partition.FileSystem : Disk.Contents.Whole;

    /// <summary>Bytes.</summary>
    public long Size => Partition?.Size ?? Disk.Size;

    /// <summary>Unique identifier: that of the partition with that of the disk, since a copied disk has the same partitions.</summary>
    public string UniqueId => (Partition is null ? NoPartition : Partition.Key) + Disk.UniqueId;

    /// <summary>Whether it may not be written to.</summary>
    public bool IsReadOnly => Disk.IsReadOnly || Partition?.IsReadOnly == true;

    /// <summary>Its name in messages.</summary>
    public string Name => Partition is null ? $"Disk {Disk.Number}" : $"Disk {Disk.Number}, partition {Partition.Number}";
}
