namespace TierSpaces.Contracts;

/// <summary>A virtual disk: what Get-VirtualDisk returns.</summary>
[WindowsClass(
    "MSFT_VirtualDisk", "FriendlyName", "ResiliencySettingName", "FaultDomainRedundancy=PhysicalDiskRedundancy",
    "OperationalStatus", "HealthStatus", "Size:bytes", "FootprintOnPool:bytes", "StorageEfficiency=AllocatedSize/FootprintOnPool")]
public sealed record VirtualDiskInfo
{
    public string FriendlyName { get; init; } = "";

    public string Name { get; init; } = "";

    /// <summary>Identifier of the object everywhere.</summary>
    public string UniqueId { get; init; } = "";

    /// <summary>Identifier of the object on this machine.</summary>
    public string ObjectId { get; init; } = "";

    public string? NameFormat { get; init; }

    public string? UniqueIdFormat { get; init; }

    public string? UniqueIdFormatDescription { get; init; }

    public string Usage { get; init; } = "";

    public string? OtherUsageDescription { get; init; }

    public string HealthStatus { get; init; } = "";

    public string[] OperationalStatus { get; init; } = [];

    public string? OtherOperationalStatusDescription { get; init; }

    public string ResiliencySettingName { get; init; } = "";

    /// <summary>In bytes.</summary>
    public ulong Size { get; init; }

    /// <summary>In bytes.</summary>
    public ulong AllocatedSize { get; init; }

    /// <summary>In bytes.</summary>
    public ulong LogicalSectorSize { get; init; }

    /// <summary>In bytes.</summary>
    public ulong PhysicalSectorSize { get; init; }

    /// <summary>In bytes.</summary>
    public ulong FootprintOnPool { get; init; }

    public string ProvisioningType { get; init; } = "";

    public ushort? NumberOfDataCopies { get; init; }

    public ushort PhysicalDiskRedundancy { get; init; }

    public string? ParityLayout { get; init; }

    public ushort? NumberOfColumns { get; init; }

    public ulong? Interleave { get; init; }

    public bool? RequestNoSinglePointOfFailure { get; init; }

    public string? Access { get; init; }

    public bool? IsSnapshot { get; init; }

    public bool IsManualAttach { get; init; }

    public bool? IsDeduplicationEnabled { get; init; }

    public bool? IsEnclosureAware { get; init; }

    public ushort? NumberOfAvailableCopies { get; init; }

    public string? DetachedReason { get; init; }

    public ulong? WriteCacheSize { get; init; }

    public ulong? AllocationUnitSize { get; init; }

    public string? ColumnIsolation { get; init; }

    public string? FaultDomainAwareness { get; init; }

    public bool? IsTiered { get; init; }

    public ulong? MaxIoBandwidth { get; init; }

    public ulong? MaxIops { get; init; }

    public string? MediaType { get; init; }

    public ushort? MinimumLogicalDataCopies { get; init; }

    public ushort? NumberOfGroups { get; init; }

    public ulong? ReadCacheSize { get; init; }

    public bool? TrackValidData { get; init; }

    public ulong? WriteCacheReserveSize { get; init; }

    public string? PassThroughIds { get; init; }

    public string? PassThroughServer { get; init; }

    public string? PassThroughNamespace { get; init; }

    public string? PassThroughClass { get; init; }

    /// <summary>Ours. Pool the virtual disk is in.</summary>
    public string? StoragePoolUniqueId { get; init; }

    /// <summary>Ours. Checksum kept of every block: CRC32C or None.</summary>
    public string? Checksum { get; init; }

    /// <summary>Ours. Bytes of the slices that move between its tiers; null without tiers.</summary>
    public ulong? SliceSize { get; init; }

    /// <summary>Ours. Heat that a slice must have to be brought to a faster tier, in requests; null without tiers.</summary>
    public uint? MinimumHeat { get; init; }

    /// <summary>Ours. Hours without a request after which a slice goes to the slowest tier, 0 for never; null without tiers.</summary>
    public uint? DemoteColdAfter { get; init; }

    /// <summary>Ours. Hours after which a request counts half as heat; null without tiers.</summary>
    public uint? HeatHalfLife { get; init; }

    /// <summary>Ours. URI of the export of the virtual disk; null while detached.</summary>
    public string? NbdUri { get; init; }

    /// <summary>Ours. URI at which the virtual disk is served over TCP, too; null where it listens at no address.</summary>
    public string? ListenUri { get; init; }

    /// <summary>Ours. Block device; null while detached, and where only the URI is served.</summary>
    public string? DevicePath { get; init; }

    /// <summary>Ours. KernelNbd, Fuse, NbdFuse or NbdUri; null while detached.</summary>
    public string? AttachMethod { get; init; }

    /// <summary>Ours. Reason why there is no block device, or why a better method was not taken; null when there is none.</summary>
    public string? AttachReason { get; init; }

    /// <summary>Ours. Number of the data lane of the host that serves the virtual disk, from 1; 0 while it is not open.</summary>
    public int Lane { get; init; }

    /// <summary>Ours. Writes smaller than a sector that had to read first.</summary>
    public ulong ReadModifyWrites { get; init; }

    /// <summary>
    /// Ours. Blocks that were taken without proof since the virtual disk was opened, of regions that were written to before an unclean stop: after a power cut
    /// with a value that matches no checksum, without checksums where copies differed.
    /// </summary>
    public ulong BlocksTakenWithoutProof { get; init; }
}
