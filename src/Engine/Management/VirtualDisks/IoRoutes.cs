using TierSpaces.Engine.Caching;
using TierSpaces.Engine.Devices;
using TierSpaces.Engine.Formats;
using TierSpaces.Engine.Pools;
using TierSpaces.Engine.Tiering;

namespace TierSpaces.Engine.Management;

// Behind a write cache the cache counts each write for the reason of its destination. Without one the tier that took a write is the reason, or the medium
// that the virtual disk is on. Nothing is counted for this: the counters of cache, tiers and virtual disk are there.
//
// Invariants
//  1. A write counts for one reason.

/// <summary>Writes and reads of clients since the virtual disk was opened, by where they went and why.</summary>
public sealed record IoRoutes
{
    /// <summary>Writes that went to the write cache.</summary>
    public WriteCount Cached { get; init; }

    /// <summary>Writes to media as fast as a write cache that were the first into their slice or row: there was room for them.</summary>
    public WriteCount SsdAllocated { get; init; }

    /// <summary>Writes to such media that found their place there.</summary>
    public WriteCount SsdResident { get; init; }

    /// <summary>Writes that are too large for the write cache.</summary>
    public WriteCount BypassLarge { get; init; }

    /// <summary>Writes that found the write cache full.</summary>
    public WriteCount BypassFull { get; init; }

    /// <summary>Writes that came while the write cache takes none.</summary>
    public WriteCount WriteThrough { get; init; }

    /// <summary>Writes to slower media of a virtual disk without a write cache.</summary>
    public WriteCount Slow { get; init; }

    /// <summary>Bytes read from the write cache.</summary>
    public long CacheReadBytes { get; init; }

    /// <summary>Bytes read from media as fast as a write cache.</summary>
    public long SsdReadBytes { get; init; }

    /// <summary>Bytes read from slower media.</summary>
    public long SlowReadBytes { get; init; }

    /// <summary>Returns the routes of an open virtual disk.</summary>
    /// <param name="state">State of its pool.</param>
    /// <param name="description">The virtual disk.</param>
    /// <param name="disk">The snapshot of it.</param>
    internal static IoRoutes Of(PoolState state, VirtualDiskDescription description, VirtualDiskSnapshot disk)
    {
        IoRoutes below = description.IsTiered ? OfTiers(description, disk) : OfWhole(state, description, disk);
        return disk.WriteCache is not { } cache ? below : below with
        {
            Cached = cache.Cached,
            SsdAllocated = cache.SsdAllocated,
            SsdResident = cache.SsdResident,
            BypassLarge = cache.BypassLarge,
            BypassFull = cache.BypassFull,
            WriteThrough = cache.WriteThrough,
            Slow = default,
            CacheReadBytes = cache.HitBytes,
        };
    }

    private static IoRoutes OfTiers(VirtualDiskDescription description, VirtualDiskSnapshot disk)
    {
        IoRoutes sum = new();
        foreach (TierDescription tier in description.Tiers.Where(tier => tier.Number < disk.TierCounters.Count))
        {
            TierCounters counters = disk.TierCounters[tier.Number];
            WriteCount first = new(counters.FirstWrites, counters.FirstWriteBytes);
            WriteCount all = new(counters.WriteOperations, counters.WriteBytes);
            sum = IsFlash(tier.Media())
                ? sum with
                {
                    SsdAllocated = sum.SsdAllocated + first,
                    SsdResident = sum.SsdResident + (all - first),
                    SsdReadBytes = sum.SsdReadBytes + counters.ReadBytes,
                }
                : sum with { Slow = sum.Slow + all, SlowReadBytes = sum.SlowReadBytes + counters.ReadBytes };
        }

        return sum;
    }

    /// <summary>Of a virtual disk without tiers: it is on flash if it may be on nothing else.</summary>
    private static IoRoutes OfWhole(PoolState state, VirtualDiskDescription description, VirtualDiskSnapshot disk)
    {
        WriteCount writes = new(disk.Counters.WriteOperations, disk.Counters.WriteBytes);
        long readBytes = disk.WriteCache?.MissBytes ?? disk.Counters.ReadBytes;
        bool isOnFlash = IsFlash(description.Parts[0].Media()) || state.Disks.Values.All(static member => member.Description.IsFlash());
        return isOnFlash ? new IoRoutes { SsdResident = writes, SsdReadBytes = readBytes } : new IoRoutes { Slow = writes, SlowReadBytes = readBytes };
    }

    private static bool IsFlash(MediaType media) => media is MediaType.SSD or MediaType.SCM;
}
