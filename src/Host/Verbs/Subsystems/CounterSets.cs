using TierSpaces.Engine.Devices;
using TierSpaces.Engine.Formats;
using TierSpaces.Engine.Management;
using TierSpaces.Engine.Resiliency;
using TierSpaces.Host.Verbs.Mapping;

namespace TierSpaces.Host.Verbs.Subsystems;

// Invariants
//  1. Every value follows from what the engine has counted. A counter that the engine does not count is left out; docs/counters.md has the reason.
//  2. Sets and counters are named as the classes and properties of Windows.

/// <summary>The performance counter classes of Windows Storage Spaces, as far as their values are known here.</summary>
internal static class CounterSets
{
    /// <summary>The beginning of the names of the Windows classes.</summary>
    public const string Prefix = "Win32_PerfFormattedData_Counters_";

    private const double NsPerMillisecond = 1e6;
    private const double NsPerSecond = 1e9;

    private static readonly CounterSet s_drt = new CounterSet<RegionCounts>("StorageSpacesDrt", RegionsOf,
    [
        ("CleanBytes", static s => s.Now.Bytes - s.Now.DirtyBytes - s.Now.UnresolvedBytes),
        ("CleanCount", static s => s.Now.Count - s.Now.Dirty - s.Now.Unresolved),
        ("DirtyBytes", static s => s.Now.DirtyBytes),
        ("DirtyCount", static s => s.Now.Dirty),
        ("Limit", static s => s.Now.Limit),
        ("SynchronizingBytes", static s => s.Now.UnresolvedBytes),
        ("SynchronizingCount", static s => s.Now.Unresolved),
    ]);

    private static readonly CounterSet s_tier = new CounterSet<IoCounters>("StorageSpacesTier", TiersOf,
    [
        ("TierReadBytesAverage", static s => s.Average(static io => io.ReadBytes, static io => io.ReadOperations)),
        ("TierReadBytesPersec", static s => s.Rate(static io => io.ReadBytes)),
        ("TierReadLatency", static s => s.Average(static io => io.ReadNsTotal, static io => io.ReadOperations) / NsPerMillisecond),
        ("TierReadsAverage", static s => s.Rate(static io => io.ReadNsTotal) / NsPerSecond),
        ("TierReadsPersec", static s => s.Rate(static io => io.ReadOperations)),
        ("TierTransferBytesAverage", static s => s.Average(static io => io.ReadBytes + io.WriteBytes, static io => io.ReadOperations + io.WriteOperations)),
        ("TierTransferBytesPersec", static s => s.Rate(static io => io.ReadBytes + io.WriteBytes)),
        ("TierTransferLatency", static s => s.Average(static io => io.LatencyNsTotal, static io => io.ReadOperations + io.WriteOperations) / NsPerMillisecond),
        ("TierTransfersAverage", static s => s.Rate(static io => io.LatencyNsTotal) / NsPerSecond),
        ("TierTransfersPersec", static s => s.Rate(static io => io.ReadOperations + io.WriteOperations)),
        ("TierTransfersCurrent", static s => s.Now.Queue),
        ("TierWriteBytesAverage", static s => s.Average(static io => io.WriteBytes, static io => io.WriteOperations)),
        ("TierWriteBytesPersec", static s => s.Rate(static io => io.WriteBytes)),
        ("TierWriteLatency", static s => s.Average(static io => io.WriteNsTotal, static io => io.WriteOperations) / NsPerMillisecond),
        ("TierWritesAverage", static s => s.Rate(static io => io.WriteNsTotal) / NsPerSecond),
        ("TierWritesPersec", static s => s.Rate(static io => io.WriteOperations)),
    ]);

    private static readonly CounterSet s_virtualDisk = new CounterSet<DiskExtents>("StorageSpacesVirtualDisk", ExtentsOf,
    [
        ("VirtualDiskActive", static s => s.Now.Extents.Active.Count),
        ("VirtualDiskActiveBytes", static s => s.Now.Extents.Active.Bytes),
        ("VirtualDiskMissing", static s => s.Now.Extents.Missing.Count),
        ("VirtualDiskMissingBytes", static s => s.Now.Extents.Missing.Bytes),
        ("VirtualDiskNeedReallocation", static s => s.Now.Extents.Retired.Count),
        ("VirtualDiskNeedReallocationBytes", static s => s.Now.Extents.Retired.Bytes),
        ("VirtualDiskNeedRegeneration", static s => s.Now.Extents.Stale.Count),
        ("VirtualDiskNeedRegenerationBytes", static s => s.Now.Extents.Stale.Bytes),
        ("VirtualDiskReasonMissing", static s => s.Now.Extents.Missing.Count),
        ("VirtualDiskReasonMissingBytes", static s => s.Now.Extents.Missing.Bytes),
        ("VirtualDiskReasonRetired", static s => s.Now.Extents.Retired.Count),
        ("VirtualDiskReasonRetiredBytes", static s => s.Now.Extents.Retired.Bytes),
        ("VirtualDiskRegenerationOutstandingBytes", static s => s.Now.Repairs.Sum(static job => job.BytesTotal - job.BytesProcessed)),
        ("VirtualDiskRegenerationProcessedBytes", static s => s.Now.Repairs.Sum(static job => job.BytesProcessed)),
        ("VirtualDiskRegenerationTotalBytes", static s => s.Now.Repairs.Sum(static job => job.BytesTotal)),
        ("VirtualDiskScrubBytesPersec", static s => s.Rate(static disk => disk.ScrubbedBytes)),
        ("VirtualDiskStale", static s => s.Now.Extents.Stale.Count),
        ("VirtualDiskStaleBytes", static s => s.Now.Extents.Stale.Bytes),
        ("VirtualDiskTotal", static s => s.Now.Extents.Total.Count),
        ("VirtualDiskTotalBytes", static s => s.Now.Extents.Total.Bytes),
        ("VirtualDiskUnmappedBytes", static s => Math.Max(0, s.Now.Disk.Description.SizeBytes - s.Now.Disk.AllocatedBytes)),
    ]);

    private static readonly CounterSet s_io = new CounterSet<IoCounters>("StorageSpacesVirtualDiskIo", TrafficOf,
    [
        ("VirtualDiskFlushLatencyms", static s => s.Average(static io => io.FlushNsTotal, static io => Sum(io.FlushLatencies)) / NsPerMillisecond),
        ("VirtualDiskReadBytesPersec", static s => s.Rate(static io => io.ReadBytes)),
        ("VirtualDiskReadLatencyms", static s => s.Average(static io => io.ReadNsTotal, static io => Sum(io.ReadLatencies)) / NsPerMillisecond),
        ("VirtualDiskWriteBytesPersec", static s => s.Rate(static io => io.WriteBytes)),
        ("VirtualDiskWriteLatencyms", static s => s.Average(static io => io.WriteNsTotal, static io => Sum(io.WriteLatencies)) / NsPerMillisecond),
    ]);

    private static readonly CounterSet s_map = new CounterSet<SpaceRowCounters>("StorageSpacesVirtualDiskMap", RowsOf,
    [
        ("VirtualDiskMapBytesAverage", static s => s.Average(static rows => rows.BytesMade, static rows => rows.RowsMade)),
        ("VirtualDiskMapBytesPersec", static s => s.Rate(static rows => rows.BytesMade)),
        ("VirtualDiskMapExtentsAverage", static s => s.Average(static rows => rows.SlabsMade, static rows => rows.RowsMade)),
        ("VirtualDiskMapExtentsPersec", static s => s.Rate(static rows => rows.SlabsMade)),
        ("VirtualDiskMapLatencyms", static s => s.Average(static rows => rows.MakeNsTotal, static rows => rows.RowsMade) / NsPerMillisecond),
        ("VirtualDiskMapsPersec", static s => s.Rate(static rows => rows.RowsMade)),
    ]);

    private static readonly CounterSet s_cache = new CounterSet<CacheTraffic>("StorageSpacesWriteCache", CachesOf,
    [
        ("CacheAdvances", static s => s.Now.Status.Evictions),
        ("CacheDataBytes", static s => s.Now.Status.HeldBytes),
        ("CacheDataPercent", static s => 100.0 * s.Now.Status.HeldBytes / s.Now.Size),
        ("CacheSize", static s => s.Now.Size),
        ("CacheUsedBytes", static s => s.Now.Status.DirtyBytes),
        ("CacheUsedPercent", static s => 100.0 * s.Now.Status.DirtyBytes / s.Now.Size),
        ("EvictCacheBytesPersec", static s => s.Rate(static cache => cache.Status.EvictedBytes)),
        ("EvictCacheDestagedBytesPersec", static s => s.Rate(static cache => cache.Status.DestagedBytes)),
        ("ReadBypassBytesPersec", static s => s.Rate(static cache => cache.Status.MissBytes)),
        ("ReadBypassPercent", static s => s.Percent(static cache => cache.Status.MissBytes, static cache => cache.ReadBytes)),
        ("ReadCacheBytesPersec", static s => s.Rate(static cache => cache.Status.HitBytes)),
        ("ReadCachePercent", static s => s.Percent(static cache => cache.Status.HitBytes, static cache => cache.ReadBytes)),
        ("WriteBypassBytesPersec", static s => s.Rate(static cache => cache.PassedBytes)),
        ("WriteBypassPercent", static s => s.Percent(static cache => cache.PassedBytes, static cache => cache.WriteBytes)),
        ("WriteCacheBytesPersec", static s => s.Rate(static cache => cache.Status.Cached.Bytes)),
        ("WriteCachePercent", static s => s.Percent(static cache => cache.Status.Cached.Bytes, static cache => cache.WriteBytes)),
    ]);

    /// <summary>The sets, by name.</summary>
    public static CounterSet[] All { get; } = [s_drt, s_tier, s_virtualDisk, s_io, s_map, s_cache];

    private static IEnumerable<CounterInstance<IoCounters>> TrafficOf(Catalogue all, IReadOnlySet<Guid> disks) =>
        DisksOf(all, disks).Where(static disk => disk.Counters is not null).Select(static disk => Instance(disk, disk.Counters!));

    private static IEnumerable<CounterInstance<RegionCounts>> RegionsOf(Catalogue all, IReadOnlySet<Guid> disks) =>
        DisksOf(all, disks).Where(static disk => disk.Regions is not null).Select(static disk => Instance(disk, disk.Regions!.Value));

    private static IEnumerable<CounterInstance<SpaceRowCounters>> RowsOf(Catalogue all, IReadOnlySet<Guid> disks) =>
        DisksOf(all, disks).Where(static disk => disk.SpaceCounters is not null).Select(static disk => Instance(disk, disk.SpaceCounters!.Rows));

    private static IEnumerable<CounterInstance<CacheTraffic>> CachesOf(Catalogue all, IReadOnlySet<Guid> disks) => DisksOf(all, disks)
        .Where(static disk => disk.WriteCache is not null && disk.Description.WriteCacheSize > 0)
        .Select(static disk => Instance(disk, new CacheTraffic(disk.WriteCache!, disk.Description.WriteCacheSize)));

    private static IEnumerable<CounterInstance<DiskExtents>> ExtentsOf(Catalogue all, IReadOnlySet<Guid> disks) =>
        DisksOf(all, disks).Where(static disk => disk.Counters is not null).Select(disk => Instance(disk, new DiskExtents(all.Now, disk)));

    private static IEnumerable<CounterInstance<IoCounters>> TiersOf(Catalogue all, IReadOnlySet<Guid> disks) => all.Tiers.All
        .Where(tier => tier.Counters is not null && tier.VirtualDisk is { } disk && disks.Contains(disk))
        .Select(static tier => new CounterInstance<IoCounters>(tier.FriendlyName, Identifiers.OfPoolOrDisk(tier.UniqueId), tier.Counters!.Io));

    private static IEnumerable<VirtualDiskStatus> DisksOf(Catalogue all, IReadOnlySet<Guid> disks) =>
        all.VirtualDisks.All.Where(disk => disks.Contains(disk.Description.Id.Value));

    private static CounterInstance<T> Instance<T>(VirtualDiskStatus disk, T counted) =>
        new(disk.Description.FriendlyName, Identifiers.OfVirtualDisk(disk.Description.Id.Value), counted);

    private static double Sum(ReadOnlySpan<long> classes)
    {
        long sum = 0;
        foreach (long count in classes)
        {
            sum += count;
        }

        return sum;
    }

    /// <summary>A number of extents.</summary>
    /// <param name="Count">Extents.</param>
    /// <param name="Bytes">Bytes of them.</param>
    private readonly record struct ExtentCount(long Count, long Bytes)
    {
        public ExtentCount With(PhysicalExtent extent, bool isOne) => isOne ? new(Count + 1, Bytes + extent.Size) : this;
    }

    /// <summary>Extents of a virtual disk.</summary>
    private sealed class ExtentCounts
    {
        public ExtentCounts(SubsystemSnapshot now, Guid disk)
        {
            HashSet<Guid> retired =
                [.. now.PhysicalDisks.Where(static physical => physical.Usage == DiskUsage.Retired).Select(static physical => physical.UniqueId)];
            foreach (PhysicalExtent extent in now.Extents(disk))
            {
                Total = Total.With(extent, true);
                Active = Active.With(extent, extent is { IsMissing: false, IsStale: false });
                Missing = Missing.With(extent, extent.IsMissing);
                Stale = Stale.With(extent, extent is { IsMissing: false, IsStale: true });
                Retired = Retired.With(extent, retired.Contains(extent.PhysicalDisk));
            }
        }

        public ExtentCount Total { get; }

        /// <summary>Extents that are neither missing nor stale.</summary>
        public ExtentCount Active { get; }

        /// <summary>Extents on disks that are not there.</summary>
        public ExtentCount Missing { get; }

        /// <summary>Extents that missed writes, on disks that are there.</summary>
        public ExtentCount Stale { get; }

        /// <summary>Extents on retired disks.</summary>
        public ExtentCount Retired { get; }
    }

    /// <summary>A write cache at one moment.</summary>
    private sealed record CacheTraffic(WriteCacheStatus Status, long Size)
    {
        /// <summary>Bytes of writes past the cache.</summary>
        public long PassedBytes =>
            Status.SsdAllocated.Bytes + Status.SsdResident.Bytes + Status.BypassLarge.Bytes + Status.BypassFull.Bytes + Status.WriteThrough.Bytes;

        /// <summary>Bytes of writes.</summary>
        public long WriteBytes => Status.Cached.Bytes + PassedBytes;

        /// <summary>Bytes of reads.</summary>
        public long ReadBytes => Status.HitBytes + Status.MissBytes;
    }

    /// <summary>A virtual disk at one moment, with the jobs on it.</summary>
    private sealed class DiskExtents
    {
        private readonly Lazy<ExtentCounts> _extents;

        public DiskExtents(SubsystemSnapshot now, VirtualDiskStatus disk)
        {
            Disk = disk;
            Guid id = disk.Description.Id.Value;
            _extents = new Lazy<ExtentCounts>(() => new ExtentCounts(now, id));   // those of the first moment are not needed
            Repairs = [.. now.Jobs.Where(job => job.Kind == JobKind.Repair && job.VirtualDisk == id && !job.HasEnded)];
            ScrubbedBytes = now.Jobs.Where(job => job.Kind == JobKind.Scrub && job.VirtualDisk == id).Sum(static job => job.BytesProcessed);
        }

        public VirtualDiskStatus Disk { get; }

        public ExtentCounts Extents => _extents.Value;

        /// <summary>Its repairs under way.</summary>
        public JobStatus[] Repairs { get; }

        /// <summary>Bytes that its verifications have gone through.</summary>
        public long ScrubbedBytes { get; }
    }
}
