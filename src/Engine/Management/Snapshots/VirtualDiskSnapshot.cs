using System.Collections.Immutable;
using TierSpaces.Engine.Caching;
using TierSpaces.Engine.Devices;
using TierSpaces.Engine.Formats;
using TierSpaces.Engine.Primitives;
using TierSpaces.Engine.Resiliency;
using TierSpaces.Engine.Tiering;
using TierSpaces.Engine.Pools;
using TierSpaces.Engine.VirtualDisks;

namespace TierSpaces.Engine.Management;

// What changes of an open virtual disk outside the state of its pool, copied on the lane: faults, caches, logs, counters. What its rows say is computed from
// the state of the pool outside.

/// <summary>An open virtual disk at one moment.</summary>
internal sealed class VirtualDiskSnapshot
{
    private readonly (int Part, long[] Addresses)[] _lost;

    /// <summary>Copies a virtual disk, on the lane.</summary>
    /// <param name="disk">The virtual disk.</param>
    /// <param name="repair">Its repair that is under way.</param>
    internal VirtualDiskSnapshot(ManagedVirtualDisk disk, JobStatus? repair)
    {
        OpenVirtualDisk open = disk.Open;
        Description = open.Description;
        Fault = open.Fault;
        FaultReason = open.FaultReason;
        AwaitsDecision = disk.AwaitsDecision;
        LacksLog = open.LacksLog;
        FullDisk = open.FullDisk;
        RemotePool = open.Remote?.Pool.Id;
        FullRemoteDisk = open.Remote?.Rings.FullDisk ?? -1;
        RingBytesToResync = open.RingBytesToResync;
        IsCacheDegraded = open.Cache is { IsDegraded: true };
        CacheState = open.Cache?.State;
        HasLostCache = disk.HasLostCache;
        LosesBlocks = open.Cache is { HasLostBlocks: true };
        WriteCache = open.Cache is { } cache ? WriteCacheStatus.Of(cache) : null;
        _lost = [.. open.Parts.Where(static part => part.Space.LostBlocks.Count > 0).Select(static part => (part.Number, part.Space.LostBlocks.ToArray()))];
        IsRepairStopped = disk.IsResyncStopped;
        NextRepairNs = disk.RepairNotBeforeNs;
        Repair = repair;
        IsExported = disk.IsExported;
        SocketPath = disk.SocketPath;
        ExportProblem = disk.ExportProblem;
        Counters = open.Disk.Counters.Copy();
        SpaceCounters = open.SpaceCounters;
        HasSeveralTiers = disk.HasSeveralTiers;
        if (open.Tiers is { } tiers)
        {
            Slices = tiers.Map;
            TierOrder = tiers.Order;
            TierCounters = [.. Enumerable.Range(0, tiers.Tiers).Select(tier => tiers.CountersOf(tier)!.Copy())];
        }
    }

    /// <summary>The virtual disk as it is open.</summary>
    internal VirtualDiskDescription Description { get; }

    /// <summary>Error for which the virtual disk takes no requests, or None.</summary>
    internal IoError Fault { get; }

    /// <summary>The same error in words.</summary>
    internal string FaultReason { get; }

    /// <summary>Whether it is detached until a commit is decided.</summary>
    internal bool AwaitsDecision { get; }

    /// <summary>Whether no copy of its integrity log is there.</summary>
    internal bool LacksLog { get; }

    /// <summary>Number of a disk whose host file system is full; −1: none.</summary>
    internal int FullDisk { get; }

    /// <summary>The other pool that its write cache is in, while both are open; else null.</summary>
    internal PoolId? RemotePool { get; }

    /// <summary>Number of a disk of that pool whose host file system is full; 0 or −1: none.</summary>
    internal int FullRemoteDisk { get; }

    /// <summary>Bytes of copies of rings that could be made whole now.</summary>
    internal long RingBytesToResync { get; }

    /// <summary>Whether a copy of its write cache is stale.</summary>
    internal bool IsCacheDegraded { get; }

    /// <summary>State of its write cache; null without one.</summary>
    internal WriteCacheState? CacheState { get; }

    /// <summary>Whether its write cache takes no writes although it is to.</summary>
    internal bool HasLostCache { get; }

    /// <summary>Whether its write cache has lost blocks.</summary>
    internal bool LosesBlocks { get; }

    /// <summary>Its write cache; null without one.</summary>
    internal WriteCacheStatus? WriteCache { get; }

    /// <summary>Whether no copy has some of its data.</summary>
    internal bool HasLost => _lost.Length > 0;

    /// <summary>Whether a user stopped its repair.</summary>
    internal bool IsRepairStopped { get; }

    /// <summary>Time at which the next repair begins, on the lane's clock.</summary>
    internal long NextRepairNs { get; }

    /// <summary>Its repair that is under way.</summary>
    internal JobStatus? Repair { get; }

    /// <summary>Whether it is exported.</summary>
    internal bool IsExported { get; }

    /// <summary>Socket of its export; empty without one.</summary>
    internal string SocketPath { get; }

    /// <summary>Reason why the virtual disk is not exported although it should be; empty otherwise.</summary>
    internal string ExportProblem { get; }

    /// <summary>Counters of its requests.</summary>
    internal IoCounters Counters { get; }

    /// <summary>Counters of its spaces.</summary>
    internal SpaceCounters SpaceCounters { get; }

    /// <summary>Whether it has tiers that slices can move between.</summary>
    internal bool HasSeveralTiers { get; }

    /// <summary>Places of its slices; empty without tiers.</summary>
    internal SliceMapState Slices { get; } = SliceMapState.Empty;

    /// <summary>Numbers of its tiers, fastest first; empty without tiers.</summary>
    internal ImmutableArray<int> TierOrder { get; } = [];

    /// <summary>Counters of its tiers by number; empty without tiers.</summary>
    internal IReadOnlyList<TierCounters> TierCounters { get; } = [];

    /// <summary>The blocks that no copy could give and that were not written since, as ranges of the virtual disk in their order.</summary>
    internal List<(long Offset, long Length)> LostRanges() => LostBlockRanges.Of(_lost, Description, Slices);
}
