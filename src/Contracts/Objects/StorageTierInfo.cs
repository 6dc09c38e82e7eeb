namespace TierSpaces.Contracts;

/// <summary>A storage tier: a template of a pool, or a tier of a virtual disk. Returned by Get-StorageTier.</summary>
[WindowsClass(
    "MSFT_StorageTier", "FriendlyName", "TierClass", "MediaType", "ResiliencySettingName",
    "FaultDomainRedundancy=PhysicalDiskRedundancy", "Size:bytes", "FootprintOnPool:bytes", "StorageEfficiency=AllocatedSize/FootprintOnPool")]
public sealed record StorageTierInfo
{
    public string FriendlyName { get; init; } = "";

    /// <summary>Identifier of the object everywhere.</summary>
    public string UniqueId { get; init; } = "";

    /// <summary>Identifier of the object on this machine.</summary>
    public string ObjectId { get; init; } = "";

    public string TierClass { get; init; } = "";

    public string MediaType { get; init; } = "";

    /// <summary>In bytes; 0 of a template.</summary>
    public ulong Size { get; init; }

    /// <summary>In bytes.</summary>
    public ulong AllocatedSize { get; init; }

    /// <summary>In bytes, redundancy included.</summary>
    public ulong FootprintOnPool { get; init; }

    public string ResiliencySettingName { get; init; } = "";

    /// <summary>Empty while a template leaves it to the disks that there are.</summary>
    public ushort? NumberOfColumns { get; init; }

    public ushort? NumberOfDataCopies { get; init; }

    public ushort? PhysicalDiskRedundancy { get; init; }

    public ushort? NumberOfGroups { get; init; }

    public ulong? Interleave { get; init; }

    public string? ParityLayout { get; init; }

    public string ProvisioningType { get; init; } = "";

    public ulong? AllocationUnitSize { get; init; }

    public string? ColumnIsolation { get; init; }

    public string? FaultDomainAwareness { get; init; }

    public string Usage { get; init; } = "";

    public string? Description { get; init; }

    public string? PassThroughIds { get; init; }

    public string? PassThroughServer { get; init; }

    public string? PassThroughNamespace { get; init; }

    public string? PassThroughClass { get; init; }

    /// <summary>Ours. Pool the tier is in.</summary>
    public string StoragePoolUniqueId { get; init; } = "";

    /// <summary>Ours. Virtual disk the tier is part of; null of a template.</summary>
    public string? VirtualDiskUniqueId { get; init; }

    /// <summary>Ours. Bytes of slices that are on the tier; null of a template.</summary>
    public ulong? MappedSize { get; init; }

    /// <summary>Ours. Bytes of slices that can still be put on the tier; null of a template.</summary>
    public ulong? FreeSize { get; init; }
}
