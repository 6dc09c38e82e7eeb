namespace TierSpaces.Contracts;

/// <summary>Creates a virtual disk in a storage pool.</summary>
[Verb("New-VirtualDisk", "Creates a virtual disk in a storage pool.", DefaultSet = "ByFriendlyName", ChangesState = true)]
public sealed record NewVirtualDiskRequest : StorageRequest<VirtualDiskInfo>
{
    [VerbParameter(
        "Friendly name of the pool; wildcards are accepted.", Sets = "ByFriendlyName", Required = true, Position = 0,
        Pipeline = PipelineBinding.ByPropertyName)]
    public string[]? StoragePoolFriendlyName { get; init; }

    [VerbParameter("Friendly name of the new virtual disk.", Required = true, Aliases = "VirtualDiskFriendlyName")]
    public string? FriendlyName { get; init; }

    [VerbParameter(
        "Unique identifier of the pool; wildcards are accepted.", Sets = "ByUniqueId", Required = true,
        Pipeline = PipelineBinding.ByPropertyName, Aliases = "StoragePoolId")]
    public string[]? StoragePoolUniqueId { get; init; }

    [VerbParameter(
        "Name of the pool; wildcards are accepted.", Sets = "ByName", Required = true,
        Pipeline = PipelineBinding.ByPropertyName)]
    public string[]? StoragePoolName { get; init; }

    [VerbParameter(
        "The objects themselves, named by unique identifier or friendly name.", Sets = "InputObject (cdxml)",
        Required = true, Pipeline = PipelineBinding.ByValue, ObjectClass = "MSFT_StoragePool")]
    public string[]? InputObject { get; init; }

    [VerbParameter("Specifies the usage of the object.", Except = "Unknown")]
    public VirtualDiskUsage? Usage { get; init; }

    [VerbParameter("Describes the usage when it is Other.", Aliases = "VirtualDiskOtherUsageDescription")]
    public string? OtherUsageDescription { get; init; }

    [VerbParameter("Simple, Mirror or Parity.", Suggestions = "Simple, Mirror, Parity")]
    public string? ResiliencySettingName { get; init; }

    [VerbParameter("Size in bytes; KB, MB, GB, TB and PB are accepted. Rounded up to whole rows.", Kind = ParameterKind.Size)]
    public ulong? Size { get; init; }

    [VerbParameter("As large as the pool allows.")]
    public bool UseMaximumSize { get; init; }

    [VerbParameter("Fixed (all slabs at creation) or Thin (slabs on first write).")]
    public ProvisioningType? ProvisioningType { get; init; }

    [VerbParameter(
        "Unit of allocation in bytes.", Kind = ParameterKind.Size,
        WithoutEffect = "the unit of allocation is the slab of the pool.")]
    public ulong? AllocationUnitSize { get; init; }

    [VerbParameter("Kind of medium.", Except = "Unspecified")]
    public MediaType? MediaType { get; init; }

    [VerbParameter("Indicates whether the copies of a block are in different enclosures: the same as -FaultDomainAwareness StorageEnclosure.")]
    public bool? IsEnclosureAware { get; init; }

    [VerbParameter(
        "Type of the fault domains that hold at most one copy of a block; default is that of the pool.")]
    public FaultDomainType? FaultDomainAwareness { get; init; }

    [VerbParameter(
        "Type of the fault domains that hold at most one disk of a row.")]
    public FaultDomainType? ColumnIsolation { get; init; }

    [VerbParameter("Allocates on these physical disks only.", ObjectClass = "MSFT_PhysicalDisk")]
    public string[]? PhysicalDisksToUse { get; init; }

    [VerbParameter("Disks that may fail without loss of data: 0, 1 or 2.")]
    public ushort? PhysicalDiskRedundancy { get; init; }

    [VerbParameter("Copies of the data: 1, 2 or 3.")]
    public ushort? NumberOfDataCopies { get; init; }

    [VerbParameter("Columns that data is striped over.")]
    public ushort? NumberOfColumns { get; init; }

    [VerbParameter("Chooses the number of columns from the disks that are there, at most 8; 17 with Parity that survives two disks.")]
    public bool AutoNumberOfColumns { get; init; }

    [VerbParameter(
        "Groups of a local reconstruction code.", Refused = "Local reconstruction codes are not available.", Default = "1")]
    public ushort? NumberOfGroups { get; init; }

    [VerbParameter(
        "Size of one strip in bytes: a power of two from 16 KB to 16 MB (default 256 KB).", Kind = ParameterKind.Size)]
    public ulong? Interleave { get; init; }

    [VerbParameter("Templates of the tiers, of different media.", ObjectClass = "MSFT_StorageTier")]
    public string[]? StorageTiers { get; init; }

    [VerbParameter(
        "Sizes of the tiers in bytes, in the order of StorageTiers; each is rounded up to whole slices.", Kind = ParameterKind.Size)]
    public ulong[]? StorageTierSizes { get; init; }

    [VerbParameter(
        "Size of each copy of the write cache in bytes, rounded up to whole slabs; 0 for none.", Kind = ParameterKind.Size)]
    public ulong? WriteCacheSize { get; init; }

    [VerbParameter("Lets the pool choose the size of the write cache, whatever its default is.")]
    public bool AutoWriteCacheSize { get; init; }

    [VerbParameter(
        "Size of the read cache in bytes.", Kind = ParameterKind.Size, Refused = "Read caches are not available.",
        Default = "0")]
    public ulong? ReadCacheSize { get; init; }

    [VerbParameter(
        "Adds the virtual disk to a failover cluster.", Refused = "Failover clusters have no counterpart.",
        IsUndocumented = true)]
    public bool? AddToCluster { get; init; }

    [VerbParameter("Indicates whether the virtual disk stays detached until it is connected by hand.", IsUndocumented = true)]
    public bool? IsManualAttach { get; init; }

    [VerbParameter(
        "Allocates on the disks in these fault domains only.", ObjectClass = "MSFT_StorageFaultDomain",
        IsUndocumented = true)]
    public string[]? StorageFaultDomainsToUse { get; init; }

    [VerbParameter(
        "Logical sector size in bytes, 512 or 4096; default is the greatest physical sector of the pool.",
        Kind = ParameterKind.Size, IsOurs = true, Suggestions = "512, 4096")]
    public ulong? LogicalSectorSize { get; init; }

    [VerbParameter(
        "Size in bytes of the slices that move between tiers: a power of two from 256 KB to 16 MB (default 1 MB).",
        Kind = ParameterKind.Size, IsOurs = true)]
    public ulong? SliceSize { get; init; }

    [VerbParameter(
        "Friendly name or unique identifier of another pool that the write cache is put in.", NamedClass = "MSFT_StoragePool", IsOurs = true)]
    public string? CachePool { get; init; }

    [VerbParameter("Checksum kept of every block, CRC32C unless said otherwise.", IsOurs = true)]
    public ChecksumKind? Checksum { get; init; }
}
