namespace TierSpaces.Contracts;

/// <summary>A storage pool: what Get-StoragePool returns.</summary>
[WindowsClass(
    "MSFT_StoragePool", "FriendlyName", "OperationalStatus", "HealthStatus", "IsPrimordial", "IsReadOnly", "Size:bytes",
    "AllocatedSize:bytes")]
public sealed record StoragePoolInfo
{
    public string FriendlyName { get; init; } = "";

    public string Name { get; init; } = "";

    /// <summary>Identifier of the object everywhere.</summary>
    public string UniqueId { get; init; } = "";

    /// <summary>Identifier of the object on this machine.</summary>
    public string ObjectId { get; init; } = "";

    public string Usage { get; init; } = "";

    public string? OtherUsageDescription { get; init; }

    public bool IsPrimordial { get; init; }

    public string HealthStatus { get; init; } = "";

    public string[] OperationalStatus { get; init; } = [];

    public string? OtherOperationalStatusDescription { get; init; }

    /// <summary>In bytes.</summary>
    public ulong Size { get; init; }

    /// <summary>In bytes.</summary>
    public ulong AllocatedSize { get; init; }

    /// <summary>In bytes.</summary>
    public ulong? LogicalSectorSize { get; init; }

    /// <summary>In bytes.</summary>
    public ulong? PhysicalSectorSize { get; init; }

    public string? ProvisioningTypeDefault { get; init; }

    public string[]? SupportedProvisioningTypes { get; init; }

    public string? ResiliencySettingNameDefault { get; init; }

    public bool IsReadOnly { get; init; }

    public string? ReadOnlyReason { get; init; }

    public bool? IsClustered { get; init; }

    public bool? SupportsDeduplication { get; init; }

    /// <summary>In percent.</summary>
    public ushort[]? ThinProvisioningAlertThresholds { get; init; }

    public bool? ClearOnDeallocate { get; init; }

    public bool? IsPowerProtected { get; init; }

    public string? RepairPolicy { get; init; }

    public bool? EnclosureAwareDefault { get; init; }

    public string? FaultDomainAwarenessDefault { get; init; }

    public string? RetireMissingPhysicalDisks { get; init; }

    public string? Version { get; init; }

    public ulong? WriteCacheSizeDefault { get; init; }

    public ulong? WriteCacheSizeMin { get; init; }

    public ulong? WriteCacheSizeMax { get; init; }

    public string? MediaTypeDefault { get; init; }

    public ulong? MetadataLength { get; init; }

    public ulong? MinimumAllocationSize { get; init; }

    public string? PassThroughIds { get; init; }

    public string? PassThroughServer { get; init; }

    public string? PassThroughNamespace { get; init; }

    public string? PassThroughClass { get; init; }

    /// <summary>Ours: days between two verifications of each virtual disk, 0 for none on a schedule; null while the pool is not open.</summary>
    public double? ScrubIntervalDays { get; init; }

    /// <summary>Ours: pages of the metadata area that disks, virtual disks and their rows take; null while the pool is not open.</summary>
    public ulong? MetadataPagesUsed { get; init; }

    /// <summary>Ours: pages of the metadata area that they may take; null while the pool is not open.</summary>
    public ulong? MetadataPages { get; init; }

    /// <summary>
    /// Ours: version of the format on its disks, 1 (its metadata disks vote), 2 (every member votes), 3 (the host that serves it holds a lease) or
    /// 4 (write caches have summaries); null while the pool is not open.
    /// </summary>
    public ushort? FormatVersion { get; init; }

    /// <summary>Ours: bytes that it provides as remote cache pool to virtual disks of other pools, all copies.</summary>
    public ulong? LentWriteCacheSize { get; init; }

    /// <summary>Ours: maximum of <see cref="LentWriteCacheSize"/>; 18446744073709551615 for no limit.</summary>
    public ulong? LentWriteCacheSizeMax { get; init; }
}
