using System.Collections.Immutable;
using TierSpaces.Engine.Formats;
using TierSpaces.Engine.Primitives;

namespace TierSpaces.Engine.VirtualDisks;

/// <summary>A virtual disk to be made; every value is decided and checked by the caller.</summary>
public sealed record NewVirtualDiskSpec
{
    /// <summary>Name shown to users.</summary>
    public required string FriendlyName { get; init; }

    /// <summary>Simple or Mirror.</summary>
    public required string ResiliencySettingName { get; init; }

    /// <summary>Size in bytes, a multiple of columns × slab size.</summary>
    public required long SizeBytes { get; init; }

    /// <summary>Columns, 1 to 64.</summary>
    public required int NumberOfColumns { get; init; }

    /// <summary>Copies: 1 for Simple, 2 or 3 for Mirror.</summary>
    public required int NumberOfDataCopies { get; init; }

    /// <summary>Bytes of a strip.</summary>
    public required int Interleave { get; init; }

    /// <summary>Sector that clients address: 512 or 4096.</summary>
    public int LogicalSectorSize { get; init; } = 4096;

    /// <summary>Sector that clients should align to: 512 or 4096.</summary>
    public int PhysicalSectorSize { get; init; } = 4096;

    /// <summary>When rows get their slabs.</summary>
    public ProvisioningType ProvisioningType { get; init; } = ProvisioningType.Fixed;

    /// <summary>How blocks are verified.</summary>
    public ChecksumKind Checksum { get; init; } = ChecksumKind.CRC32C;

    /// <summary>Medium asked for, numbered as in Windows; 0: any.</summary>
    public ushort MediaTypeCode { get; init; }

    /// <summary>How far apart copies are kept.</summary>
    public FaultDomainLevel FaultDomainAwareness { get; init; } = FaultDomainLevel.PhysicalDisk;

    /// <summary>The only disks it may use; empty: all.</summary>
    public ImmutableArray<DiskNumber> AllowedDisks { get; init; } = [];

    /// <summary>Size of one copy of its write cache in bytes, whole slabs; 0: none.</summary>
    public long WriteCacheSize { get; init; }

    /// <summary>Cache pool of its write cache, if that is remote; none: its own pool. The size is in whole slabs of that pool then.</summary>
    public PoolId CachePool { get; init; }

    /// <summary>When its write cache is destaged.</summary>
    public DestageSettings Destage { get; init; } = DestageSettings.Default;

    /// <summary>Its tiers, the fastest first; empty for a disk without. Its size is the sum of theirs.</summary>
    public ImmutableArray<NewTierSpec> Tiers { get; init; } = [];

    /// <summary>Bytes of a slice of a tiered disk: a power of two, 256 KiB to 16 MiB, at most a slab.</summary>
    public int SliceSize { get; init; } = 1 << 20;

    /// <summary>Whether it waits for a user to connect it.</summary>
    public bool IsManualAttach { get; init; }

    /// <summary>Use, numbered as in Windows.</summary>
    public ushort Usage { get; init; } = 1;

    /// <summary>Use in words.</summary>
    public string OtherUsageDescription { get; init; } = "";
}
