using System.Collections.Immutable;
using TierSpaces.Engine.Caching;
using TierSpaces.Engine.Devices;
using TierSpaces.Engine.Formats;
using TierSpaces.Engine.Pools;
using TierSpaces.Engine.Primitives;
using TierSpaces.Engine.Resiliency;
using TierSpaces.Engine.Tiering;
using TierSpaces.Engine.VirtualDisks;

namespace TierSpaces.Engine.Management;

// The state of an open virtual disk outside the state of its pool, copied on its lane: faults, caches, logs, counters. Facts of its rows are computed
// from the state of the pool.

/// <summary>Regions of one part of a virtual disk at one moment.</summary>
/// <param name="Part">Number of the part.</param>
/// <param name="DataBytes">Bytes of data in a region.</param>
/// <param name="Dirty">Regions marked dirty.</param>
/// <param name="Unresolved">Regions that were dirty at an unclean stop and are not made equal yet.</param>
/// <param name="Limit">Most regions that may be marked dirty at once.</param>
internal readonly record struct PartRegions(int Part, long DataBytes, int Dirty, int Unresolved, int Limit)
{
    internal static PartRegions Of(OpenPart part) => new(
        part.Number, part.Space.RegionDataBytes, part.Space.DirtyRegions, part.Space.UnresolvedRegions, part.Space.DirtyRegionsMax);

    /// <summary>Counts them.</summary>
    /// <param name="bytes">Bytes of data of the rows of the part.</param>
    internal RegionCounts Count(long bytes) =>
        new(bytes / DataBytes, bytes, Dirty, Dirty * DataBytes, Unresolved, Unresolved * DataBytes, Limit);
}

/// <summary>The part of a snapshot that the lane of a virtual disk takes. It does not change.</summary>
internal sealed class OpenDiskSnapshot
{
    private OpenDiskSnapshot(OpenDiskStatus status) => Status = status;

    /// <summary>Its faults, and the state of its write cache.</summary>
    internal OpenDiskStatus Status { get; }

    /// <summary>Whether no copy of its integrity log is there.</summary>
    internal bool LacksLog { get; private init; }

    /// <summary>Number of a disk whose host file system is full; −1: none.</summary>
    internal int FullDisk { get; private init; } = -1;

    /// <summary>Number of a disk of the other pool that its write cache is in whose host file system is full; 0 or −1: none.</summary>
    internal int FullRemoteDisk { get; private init; } = -1;

    /// <summary>Bytes of copies of rings that could be made whole now.</summary>
    internal long RingBytesToResync { get; private init; }

    /// <summary>Whether a copy of its write cache is stale.</summary>
    internal bool IsCacheDegraded { get; private init; }

    /// <summary>Whether its write cache has lost blocks.</summary>
    internal bool LosesBlocks { get; private init; }

    /// <summary>Its write cache; null without one.</summary>
    internal WriteCacheStatus? WriteCache { get; private init; }

    /// <summary>Addresses of the blocks that no copy could give, by the number of the part.</summary>
    internal ImmutableArray<(int Part, long[] Addresses)> Lost { get; private init; } = [];

    /// <summary>Counters of its requests.</summary>
    internal IoCounters Counters { get; private init; } = new();

    /// <summary>Counters of its spaces.</summary>
    internal SpaceCounters SpaceCounters { get; private init; } = new();

    /// <summary>Regions of its parts that have an integrity log.</summary>
    internal ImmutableArray<PartRegions> Regions { get; private init; } = [];

    /// <summary>Places of its slices; empty without tiers.</summary>
    internal SliceMapState Slices { get; private init; } = SliceMapState.Empty;

    /// <summary>Numbers of its tiers, fastest first; empty without tiers.</summary>
    internal ImmutableArray<int> TierOrder { get; private init; } = [];

    /// <summary>Counters of its tiers by number; empty without tiers.</summary>
    internal IReadOnlyList<TierCounters> TierCounters { get; private init; } = [];

    /// <summary>Takes the snapshot, on the lane of the virtual disk.</summary>
    internal static OpenDiskSnapshot Of(OpenVirtualDisk open) => new(OpenDiskStatus.Of(open))
    {
        LacksLog = open.LacksLog,
        FullDisk = open.FullDisk,
        FullRemoteDisk = open.Remote?.Rings.FullDisk ?? -1,
        RingBytesToResync = open.RingBytesToResync,
        IsCacheDegraded = open.Cache is { IsDegraded: true },
        LosesBlocks = open.Cache is { HasLostBlocks: true },
        WriteCache = open.Cache is { } cache ? WriteCacheStatus.Of(cache) : null,
        Lost = [.. open.Parts.Where(static part => part.Space.LostBlocks.Count > 0).Select(static part => (part.Number, part.Space.LostBlocks.ToArray()))],
        Counters = open.Disk.Counters.Copy(),
        SpaceCounters = open.SpaceCounters,
        Regions = [.. open.Parts.Where(static part => part.Space.DirtyRegionsMax > 0).Select(PartRegions.Of)],
        Slices = open.Tiers?.Map ?? SliceMapState.Empty,
        TierOrder = open.Tiers?.Order ?? [],
        TierCounters = open.Tiers is { } tiers ? [.. Enumerable.Range(0, tiers.Tiers).Select(tier => tiers.CountersOf(tier)!.Copy())] : [],
    };
}
