using TierSpaces.Engine.Caching;
using TierSpaces.Engine.Devices;
using TierSpaces.Engine.Formats;
using TierSpaces.Engine.Pools;
using TierSpaces.Engine.Primitives;
using TierSpaces.Engine.Tiering;
using TierSpaces.Engine.VirtualDisks;

namespace TierSpaces.Engine.Management;

/// <summary>Current status of a physical disk: registered here, or a missing member of a pool that is open.</summary>
public sealed record PhysicalDiskStatus
{
    /// <summary>Identity: the label's for a member, else the registration's.</summary>
    public required Guid UniqueId { get; init; }

    /// <summary>Position in the list, stable while the disk is registered.</summary>
    public required int DeviceId { get; init; }

    /// <summary>Name.</summary>
    public required string FriendlyName { get; init; }

    /// <summary>URI, or empty while the disk is missing.</summary>
    public string Uri { get; init; } = "";

    /// <summary>URIs of the paths of a registered disk, the first one first.</summary>
    public IReadOnlyList<string> Uris { get; init; } = [];

    /// <summary>Paths that work.</summary>
    public IReadOnlyList<string> WorkingUris { get; init; } = [];

    /// <summary>Size in bytes.</summary>
    public long SizeBytes { get; init; }

    /// <summary>Bytes in use by the pool, its metadata included.</summary>
    public long AllocatedBytes { get; init; }

    /// <summary>Bytes of virtual disks on it.</summary>
    public long VirtualDiskBytes { get; init; }

    /// <summary>Medium.</summary>
    public MediaType MediaType { get; init; }

    /// <summary>Bus.</summary>
    public BusType BusType { get; init; }

    /// <summary>Logical sector.</summary>
    public int LogicalSectorSize { get; init; } = 512;

    /// <summary>Physical sector.</summary>
    public int PhysicalSectorSize { get; init; } = 4096;

    /// <summary>Revolutions per minute.</summary>
    public uint SpindleSpeed { get; init; }

    /// <summary>Whether completed writes may be volatile.</summary>
    public bool IsWriteCacheEnabled { get; init; }

    /// <summary>Serial number.</summary>
    public string SerialNumber { get; init; } = "";

    /// <summary>Model.</summary>
    public string Model { get; init; } = "";

    /// <summary>Manufacturer.</summary>
    public string Manufacturer { get; init; } = "";

    /// <summary>Firmware.</summary>
    public string FirmwareVersion { get; init; } = "";

    /// <summary>Text of the user.</summary>
    public string Description { get; init; } = "";

    /// <summary>Where it is: as its pool remembers, else as the user or its enclosure says.</summary>
    public DiskPlace Place { get; init; } = DiskPlace.Unknown;

    /// <summary>Remarks on a change of it, for the user.</summary>
    public IReadOnlyList<string> Remarks { get; init; } = [];

    /// <summary>Latency profile of an emulated disk.</summary>
    public string LatencyProfile { get; init; } = "";

    /// <summary>Usage.</summary>
    public DiskUsage Usage { get; init; } = DiskUsage.AutoSelect;

    /// <summary>Health.</summary>
    public HealthStatus Health { get; init; }

    /// <summary>OK, Lost Communication, or what is wrong.</summary>
    public string OperationalStatus { get; init; } = "OK";

    /// <summary>Reason why the disk is not OK, and the action that the host takes; empty when it is.</summary>
    public string StatusReason { get; init; } = "";

    /// <summary>Reason why the disk may not be pooled; null when it may.</summary>
    public ManagementError? CannotPool { get; init; }

    /// <summary>Kind of that reason.</summary>
    public CannotPoolKind CannotPoolKind { get; init; } = CannotPoolKind.Other;

    /// <summary>The same in words.</summary>
    public string CannotPoolReason { get; init; } = "";

    /// <summary>Whether the user accepts a RAID below the disk.</summary>
    public bool IsForced { get; init; }

    /// <summary>Signatures of other software that the last verb erased.</summary>
    public IReadOnlyList<DiskSignature> ErasedSignatures { get; init; } = [];

    /// <summary>Pool it is a member of.</summary>
    public Guid? PoolId { get; init; }

    /// <summary>Its number among the members of that pool.</summary>
    public DiskNumber? Member { get; init; }

    /// <summary>Whether it holds the pool's metadata.</summary>
    public bool HoldsMetadata { get; init; }

    /// <summary>I/O counters of the disk since it was opened; null while it is not open.</summary>
    public IoCounters? Counters { get; init; }
}

/// <summary>Current status of a pool.</summary>
public sealed record StoragePoolStatus
{
    /// <summary>Identity.</summary>
    public required Guid UniqueId { get; init; }

    /// <summary>Settings.</summary>
    public required PoolDescription Description { get; init; }

    /// <summary>Health.</summary>
    public HealthStatus Health { get; init; }

    /// <summary>Whether the pool is open; one that is not is shown as it was last known.</summary>
    public bool IsOpen { get; init; }

    /// <summary>Whether it is not open because another host holds its lease, or did.</summary>
    public bool AwaitsLease { get; init; }

    /// <summary>Operations that the pool can do.</summary>
    public PoolOperationalStatus OperationalStatus { get; init; }

    /// <summary>Reason why the pool is not OK; empty when it is.</summary>
    public string StatusReason { get; init; } = "";

    /// <summary>Bytes of slabs, data and redundancy.</summary>
    public long SizeBytes { get; init; }

    /// <summary>Bytes of slabs in use.</summary>
    public long AllocatedBytes { get; init; }

    /// <summary>Pages of the metadata area in use, and the most that there may be; null while the pool is not open or no metadata disk is present.</summary>
    public (long Used, long Most)? MetadataPages { get; init; }

    /// <summary>Time between two verifications of a virtual disk, zero for never; null while the pool is not open.</summary>
    public TimeSpan? ScrubInterval { get; init; }

    /// <summary>Largest write cache that a Simple virtual disk of one row could have now, in bytes; 0: none, or the pool is not open.</summary>
    public long WriteCacheSizeMax { get; init; }

    /// <summary>Bytes of its slabs that hold remote write caches of virtual disks of other pools.</summary>
    public long RemoteCacheBytes { get; init; }

    /// <summary>Greatest logical sector of its disks.</summary>
    public int LogicalSectorSize { get; init; } = 512;

    /// <summary>Greatest physical sector of its disks.</summary>
    public int PhysicalSectorSize { get; init; } = 4096;
}

/// <summary>Current status of a virtual disk.</summary>
public sealed record VirtualDiskStatus
{
    /// <summary>Description.</summary>
    public required VirtualDiskDescription Description { get; init; }

    /// <summary>Pool.</summary>
    public required Guid PoolId { get; init; }

    /// <summary>Bytes of data that have slabs.</summary>
    public long AllocatedBytes { get; init; }

    /// <summary>Bytes of slabs in use; redundancy, log and write cache included.</summary>
    public long FootprintBytes { get; init; }

    /// <summary>Health.</summary>
    public HealthStatus Health { get; init; }

    /// <summary>OK, Stressed, Degraded, Error, No Redundancy, Detached.</summary>
    public string OperationalStatus { get; init; } = "OK";

    /// <summary>Reason why the virtual disk is not OK, for people; empty when it is.</summary>
    public string StatusReason { get; init; } = "";

    /// <summary>Names of the missing physical disks with copies of it; empty while it is not open.</summary>
    public IReadOnlyList<string> MissingDisks { get; init; } = [];

    /// <summary>Reason why the virtual disk is detached; empty while it is not.</summary>
    public string DetachedReason { get; init; } = "";

    /// <summary>Socket of its export; empty while it is not connected.</summary>
    public string SocketPath { get; init; } = "";

    /// <summary>Number of the data lane that the virtual disk is on, from 1; 0 while it is not open.</summary>
    public int Lane { get; init; }

    /// <summary>I/O counters of the virtual disk; null while it is not open.</summary>
    public IoCounters? Counters { get; init; }

    /// <summary>Its write cache; null while it is not open or has none.</summary>
    public WriteCacheStatus? WriteCache { get; init; }

    /// <summary>Name of the pool that its write cache is in; empty without one.</summary>
    public string CachePoolName { get; init; } = "";

    /// <summary>Remarks on the decisions that the last verb made about the virtual disk, for the user; empty otherwise.</summary>
    public IReadOnlyList<string> Remarks { get; init; } = [];

    /// <summary>Counters of the spaces of the virtual disk; null while it is not open.</summary>
    public Resiliency.SpaceCounters? SpaceCounters { get; init; }

    /// <summary>
    /// Blocks that were taken without proof since it was opened, of regions that were written to before an unclean stop: after a power cut with a value that
    /// matches no checksum, without checksums where copies differed.
    /// </summary>
    public long BlocksTakenWithoutProof { get; init; }

    /// <summary>Where the requests of its clients went and why; null while it is not open.</summary>
    public IoRoutes? Routes { get; init; }

    /// <summary>Its regions; null while it is not open, or without an integrity log.</summary>
    public RegionCounts? Regions { get; init; }
}

/// <summary>
/// Regions of a virtual disk at one moment: parts of its rows that are marked together before the first write. Bytes are data without redundancy.
/// </summary>
/// <param name="Count">Regions of its rows.</param>
/// <param name="Bytes">Bytes of them.</param>
/// <param name="Dirty">Regions marked dirty.</param>
/// <param name="DirtyBytes">Bytes of them.</param>
/// <param name="Unresolved">Regions that were dirty at an unclean stop and are not made equal yet.</param>
/// <param name="UnresolvedBytes">Bytes of them.</param>
/// <param name="Limit">Most regions that may be marked dirty at once.</param>
public readonly record struct RegionCounts(
    long Count, long Bytes, long Dirty, long DirtyBytes, long Unresolved, long UnresolvedBytes, long Limit)
{
    /// <summary>Returns the sum of two counts.</summary>
    /// <param name="left">One.</param>
    /// <param name="right">The other.</param>
    public static RegionCounts operator +(RegionCounts left, RegionCounts right) => new(
        left.Count + right.Count, left.Bytes + right.Bytes, left.Dirty + right.Dirty, left.DirtyBytes + right.DirtyBytes,
        left.Unresolved + right.Unresolved, left.UnresolvedBytes + right.UnresolvedBytes, left.Limit + right.Limit);
}

/// <summary>Writes that went one way.</summary>
/// <param name="Writes">Number of writes.</param>
/// <param name="Bytes">Bytes of them.</param>
public readonly record struct WriteCount(long Writes, long Bytes)
{
    /// <summary>Returns the sum of two counts.</summary>
    /// <param name="left">One.</param>
    /// <param name="right">The other.</param>
    public static WriteCount operator +(WriteCount left, WriteCount right) => new(left.Writes + right.Writes, left.Bytes + right.Bytes);

    /// <summary>Returns the difference of two counts.</summary>
    /// <param name="left">All.</param>
    /// <param name="right">The part to leave out.</param>
    public static WriteCount operator -(WriteCount left, WriteCount right) => new(left.Writes - right.Writes, left.Bytes - right.Bytes);
}

/// <summary>Current status of a write cache; counters since it was opened, sizes in bytes of one copy.</summary>
public sealed record WriteCacheStatus
{
    /// <summary>Name of its state.</summary>
    public required string State { get; init; }

    /// <summary>Reason of the state; empty if the state needs none.</summary>
    public string StateReason { get; init; } = "";

    /// <summary>Bytes that are not destaged yet.</summary>
    public long DirtyBytes { get; init; }

    /// <summary>Bytes that can be written to it now.</summary>
    public long AvailableBytes { get; init; }

    /// <summary>Bytes of the virtual disk whose newest version is in it.</summary>
    public long HeldBytes { get; init; }

    /// <summary>Bytes destaged.</summary>
    public long DestagedBytes { get; init; }

    /// <summary>Times that part of it was given free.</summary>
    public long Evictions { get; init; }

    /// <summary>Bytes given free.</summary>
    public long EvictedBytes { get; init; }

    /// <summary>Bytes read from it.</summary>
    public long HitBytes { get; init; }

    /// <summary>Bytes read from the backing store.</summary>
    public long MissBytes { get; init; }

    /// <summary>Writes that went to it.</summary>
    public WriteCount Cached { get; init; }

    /// <summary>Writes past it that were the first into their place, on media as fast as it.</summary>
    public WriteCount SsdAllocated { get; init; }

    /// <summary>Writes past it because the backing store is as fast.</summary>
    public WriteCount SsdResident { get; init; }

    /// <summary>Writes that are too large for it.</summary>
    public WriteCount BypassLarge { get; init; }

    /// <summary>Writes that found it full.</summary>
    public WriteCount BypassFull { get; init; }

    /// <summary>Writes that came while it takes none.</summary>
    public WriteCount WriteThrough { get; init; }

    /// <summary>Writes and unmaps that waited for their range to leave it.</summary>
    public long WaitOverlaps { get; init; }

    /// <summary>Bytes that no copy could give: errors until they are written or unmapped.</summary>
    public long LostBytes { get; init; }

    /// <summary>Time that reading it took at the opening, in nanoseconds.</summary>
    public long ReplayNs { get; init; }

    internal static WriteCacheStatus Of(WriteCache cache)
    {
        WriteCacheCounters counters = cache.Counters;
        return new WriteCacheStatus
        {
            State = cache.State.ToString(),
            StateReason = cache.StateReason,
            DirtyBytes = cache.DirtyBytes,
            AvailableBytes = cache.AvailableBytes,
            HeldBytes = cache.HeldBytes,
            DestagedBytes = counters.DestagedBytes,
            Evictions = counters.Evictions,
            EvictedBytes = counters.EvictedBytes,
            HitBytes = counters.HitBytes,
            MissBytes = counters.MissBytes,
            Cached = Of(counters, WriteReason.Cache),
            SsdAllocated = Of(counters, WriteReason.SsdAllocated),
            SsdResident = Of(counters, WriteReason.SsdResident),
            BypassLarge = Of(counters, WriteReason.BypassLarge),
            BypassFull = Of(counters, WriteReason.BypassFull),
            WriteThrough = Of(counters, WriteReason.WriteThrough),
            WaitOverlaps = counters.WaitOverlap,
            LostBytes = counters.LostBytes,
            ReplayNs = cache.ReplayNs,
        };
    }

    private static WriteCount Of(WriteCacheCounters counters, WriteReason reason) => new(counters.Writes(reason), counters.WriteBytes(reason));
}

/// <summary>Current status of a storage tier: a template, from which tiers are made, or a tier of a virtual disk. Sizes are bytes.</summary>
public sealed record StorageTierStatus
{
    /// <summary>Identity.</summary>
    public required Guid UniqueId { get; init; }

    /// <summary>Name.</summary>
    public required string FriendlyName { get; init; }

    /// <summary>Pool.</summary>
    public required Guid PoolId { get; init; }

    /// <summary>Virtual disk that it is part of; null for a template.</summary>
    public Guid? VirtualDisk { get; init; }

    /// <summary>Whether it is a template.</summary>
    public bool IsTemplate => VirtualDisk is null;

    /// <summary>Whether it is the fastest of several tiers.</summary>
    public bool IsFastest { get; init; }

    /// <summary>Size; 0 for a template, as are the next.</summary>
    public long SizeBytes { get; init; }

    /// <summary>Bytes of data that have slabs.</summary>
    public long AllocatedBytes { get; init; }

    /// <summary>Bytes of slabs in use, redundancy and log included.</summary>
    public long FootprintBytes { get; init; }

    /// <summary>Bytes of slices that are on it.</summary>
    public long MappedBytes { get; init; }

    /// <summary>Counters of the tier; null for a template and while its virtual disk is not open.</summary>
    public TierCounters? Counters { get; init; }

    /// <summary>Bytes of slices that can still be put on it.</summary>
    public long FreeBytes => Math.Max(0, SizeBytes - MappedBytes);

    /// <summary>Bytes of data in a slab of its pool.</summary>
    public long SlabBytes { get; init; }

    /// <summary>Kind of medium, as Windows numbers it; 0 for any.</summary>
    public ushort MediaTypeCode { get; init; }

    /// <summary>Layout.</summary>
    public required string ResiliencySettingName { get; init; }

    /// <summary>Columns; 0: as many as the disks will allow.</summary>
    public int NumberOfColumns { get; init; }

    /// <summary>Copies of the data.</summary>
    public int NumberOfDataCopies { get; init; }

    /// <summary>Disks that may fail.</summary>
    public int PhysicalDiskRedundancy { get; init; }

    /// <summary>Bytes of a strip.</summary>
    public long Interleave { get; init; }

    /// <summary>Level of the fault domains that hold the copies.</summary>
    public FaultDomainLevel FaultDomainAwareness { get; init; }

    /// <summary>Level of the fault domains that no two columns share.</summary>
    public FaultDomainLevel ColumnIsolation { get; init; }

    /// <summary>Time at which rows get their slabs: at creation or on first write.</summary>
    public ProvisioningType ProvisioningType { get; init; }

    /// <summary>Use, as Windows numbers it.</summary>
    public ushort Usage { get; init; }

    /// <summary>Text of the user.</summary>
    public string Description { get; init; } = "";
}

/// <summary>Sizes a new virtual disk of one layout may have in a pool.</summary>
/// <param name="Min">Smallest, in bytes.</param>
/// <param name="Max">Largest of a fixed one.</param>
/// <param name="Divisor">Unit.</param>
public readonly record struct SupportedSize(long Min, long Max, long Divisor);

/// <summary>A run of slabs on one disk for one column and copy of a virtual disk.</summary>
/// <param name="VirtualDisk">Virtual disk.</param>
/// <param name="PhysicalDisk">Physical disk.</param>
/// <param name="Column">Column.</param>
/// <param name="Copy">Copy.</param>
/// <param name="VirtualOffset">Offset in the virtual disk of the first byte of its row.</param>
/// <param name="PhysicalOffset">Offset on the disk.</param>
/// <param name="Size">Bytes.</param>
/// <param name="IsMissing">Whether its disk is missing.</param>
/// <param name="IsStale">Whether the copy missed writes.</param>
public sealed record PhysicalExtent(
    Guid VirtualDisk, Guid PhysicalDisk, int Column, int Copy, long VirtualOffset, long PhysicalOffset, long Size, bool IsMissing, bool IsStale)
{
    /// <summary>The tier it belongs to, its offset being one in that; null where the virtual disk has none.</summary>
    public Guid? Tier { get; init; }
}

/// <summary>Place of a column and copy of a slice of a tiered virtual disk.</summary>
/// <param name="Slice">Number of the slice.</param>
/// <param name="TierName">Friendly name of the tier that it is on.</param>
/// <param name="DiskName">Friendly name of the physical disk.</param>
/// <param name="Extent">The extent; its offset is that of the slice in the virtual disk.</param>
public sealed record SliceExtent(int Slice, string TierName, string DiskName, PhysicalExtent Extent);
