namespace TierSpaces.Contracts;

/// <summary>Makes a volume in one step: virtual disk, partition, file system, mount.</summary>
[Verb(
    "New-Volume", "Makes a volume in one step, from a storage pool or a disk to a mounted path. Where a step fails, what was made is taken away again.",
    DefaultSet = "ByStoragePool", ChangesState = true,
    WhenInterrupted = "the host goes on: it makes the volume, or takes away what it has made of it. Get-Volume shows a volume that is made.")]
public sealed record NewVolumeRequest : StorageRequest<VolumeInfo>
{
    private const string PoolSets = "ByStoragePool,ByStoragePoolFriendlyName,ByStoragePoolName,ByStoragePoolUniqueId";

    [VerbParameter(
        "Specifies the storage pool.",
        Sets = "ByStoragePool", Required = true, Position = 0, Pipeline = PipelineBinding.ByValue, ObjectClass = "MSFT_StoragePool")]
    public string? StoragePool { get; init; }

    [VerbParameter("Specifies the friendly name of the storage pool.", Sets = "ByStoragePoolFriendlyName", Required = true)]
    public string? StoragePoolFriendlyName { get; init; }

    [VerbParameter("Specifies the name of the storage pool.", Sets = "ByStoragePoolName", Required = true)]
    public string? StoragePoolName { get; init; }

    [VerbParameter("Specifies the unique identifier of the storage pool.", Sets = "ByStoragePoolUniqueId", Required = true)]
    public string? StoragePoolUniqueId { get; init; }

    [VerbParameter(
        "Specifies the disk: blank, or with a partition table and no partitions.",
        Sets = "ByDisk", Required = true, Position = 0, Pipeline = PipelineBinding.ByValue, ObjectClass = "MSFT_Disk")]
    public string? Disk { get; init; }

    [VerbParameter("Specifies the number of the disk.", Sets = "ByDiskNumber", Required = true, Position = 0)]
    public uint? DiskNumber { get; init; }

    [VerbParameter("Specifies the block device of the disk, or the stable link to it.", Sets = "ByDiskPath", Required = true, Kind = ParameterKind.Path)]
    public string? DiskPath { get; init; }

    [VerbParameter("Specifies the unique identifier of the disk.", Sets = "ByDiskUniqueId", Required = true)]
    public string? DiskUniqueId { get; init; }

    [VerbParameter(
        "Specifies the label of the volume, and the name of the virtual disk that is made for it. A label that the file system has no room for is "
        + "cut, with a warning.",
        Required = true)]
    public string? FriendlyName { get; init; }

    [VerbParameter(
        "Specifies the file system: ext4, xfs or btrfs; NTFS where ntfs-3g is installed. ReFS, CSVFS_NTFS, CSVFS_ReFS, and NTFS elsewhere, are made "
        + "as a local file system, and a warning says so. The default value is ext4.",
        Suggestions = "ext4,xfs,btrfs,NTFS,ReFS,CSVFS_NTFS,CSVFS_ReFS")]
    public string? FileSystem { get; init; }

    [VerbParameter(
        "Specifies the folder that the volume is mounted at: empty, or not there yet. The default value is the folder of the friendly name below the "
        + "volume root.",
        Kind = ParameterKind.Path)]
    public string? AccessPath { get; init; }

    [VerbParameter("Specifies the drive letter, A to Z: the volume is mounted at the folder of that name below the volume root.")]
    public string? DriveLetter { get; init; }

    [VerbParameter(
        "Specifies the bytes of an allocation unit; Get-SupportedClusterSizes returns the sizes. The default value is 4096. A size of NTFS or ReFS that the "
        + "file system made in place of them, or without -FileSystem, does not have has no effect, and a warning says so.")]
    public uint? AllocationUnitSize { get; init; }

    [VerbParameter(
        "Specifies the size of the virtual disk in bytes. KB, MB, GB, TB and PB are accepted. It is rounded up to whole rows.",
        Sets = PoolSets, Kind = ParameterKind.Size)]
    public ulong? Size { get; init; }

    [VerbParameter("Indicates that the virtual disk is as large as the pool allows.", Sets = PoolSets)]
    public bool UseMaximumSize { get; init; }

    [VerbParameter("Specifies the resiliency: Simple, Mirror or Parity.", Sets = PoolSets, Suggestions = "Simple, Mirror, Parity")]
    public string? ResiliencySettingName { get; init; }

    [VerbParameter("Specifies Fixed (all slabs at creation) or Thin (slabs on first write).", Sets = PoolSets)]
    public ProvisioningType? ProvisioningType { get; init; }

    [VerbParameter("Specifies the kind of medium.", Sets = PoolSets, Except = "Unspecified")]
    public MediaType? MediaType { get; init; }

    [VerbParameter("Specifies the number of disks that may fail without loss of data: 0, 1 or 2.", Sets = PoolSets)]
    public ushort? PhysicalDiskRedundancy { get; init; }

    [VerbParameter("Specifies the number of columns that data is striped over.", Sets = PoolSets)]
    public ushort? NumberOfColumns { get; init; }

    [VerbParameter(
        "Specifies the groups of a local reconstruction code.",
        Sets = PoolSets, Refused = "Local reconstruction codes are not available.", Default = "1")]
    public ushort? NumberOfGroups { get; init; }

    [VerbParameter("Specifies the templates of the tiers, of different media.", Sets = PoolSets, ObjectClass = "MSFT_StorageTier")]
    public string[]? StorageTiers { get; init; }

    [VerbParameter("Specifies the friendly names of the templates of the tiers.", Sets = PoolSets, NamedClass = "MSFT_StorageTier")]
    public string[]? StorageTierFriendlyNames { get; init; }

    [VerbParameter(
        "Specifies the sizes of the tiers in bytes, in the order of the tiers. Each is rounded up to whole slices.",
        Sets = PoolSets, Kind = ParameterKind.Size)]
    public ulong[]? StorageTierSizes { get; init; }

    [VerbParameter(
        "Specifies the size of each copy of the write cache in bytes, rounded up to whole slabs; 0 for none.",
        Sets = PoolSets, Kind = ParameterKind.Size)]
    public ulong? WriteCacheSize { get; init; }

    [VerbParameter(
        "Specifies the size of the read cache in bytes.",
        Sets = PoolSets, Kind = ParameterKind.Size, Refused = "Read caches are not available.", Default = "0")]
    public ulong? ReadCacheSize { get; init; }

    [VerbParameter("Specifies the number of copies of the data: 1, 2 or 3.", Sets = PoolSets, IsUndocumented = true)]
    public ushort? NumberOfDataCopies { get; init; }

    [VerbParameter(
        "Specifies the fault domains on whose disks alone the virtual disk is allocated.",
        Sets = PoolSets, ObjectClass = "MSFT_StorageFaultDomain", IsUndocumented = true)]
    public string[]? StorageFaultDomainsToUse { get; init; }

    [VerbParameter("Specifies the same by friendly name.", Sets = PoolSets, NamedClass = "MSFT_StorageFaultDomain", IsUndocumented = true)]
    public string[]? StorageFaultDomainsToUseFriendlyNames { get; init; }
}
