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

/// <summary>An open virtual disk at one moment: the last snapshot that its lane has taken, and what the control lane notes about it.</summary>
internal sealed class VirtualDiskSnapshot
{
    private readonly OpenDiskSnapshot _open;

    /// <summary>Copies a virtual disk, on the control lane.</summary>
    /// <param name="disk">The virtual disk.</param>
    /// <param name="lane">Number of its lane.</param>
    /// <param name="repair">Its repair that is under way.</param>
    internal VirtualDiskSnapshot(ManagedVirtualDisk disk, int lane, JobStatus? repair)
    {
        _open = disk.LastSnapshot;
        Description = disk.Description;
        Lane = lane;
        AwaitsDecision = disk.AwaitsDecision;
        IsRepairStopped = disk.Repairs.IsStopped;
        NextRepairNs = disk.Repairs.NotBeforeNs;
        Repair = repair;
        IsExported = disk.IsExported;
        SocketPath = disk.SocketPath;
        ExportProblem = disk.ExportProblem;
    }

    /// <summary>The virtual disk as it is open.</summary>
    internal VirtualDiskDescription Description { get; }

    /// <summary>Number of its lane, from 1.</summary>
    internal int Lane { get; }

    /// <summary>Error for which the virtual disk takes no requests, or None.</summary>
    internal IoError Fault => _open.Status.Fault;

    /// <summary>The same error in words.</summary>
    internal string FaultReason => _open.Status.FaultReason;

    /// <summary>Whether it is detached until a commit is decided.</summary>
    internal bool AwaitsDecision { get; }

    /// <summary>Whether no copy of its integrity log is there.</summary>
    internal bool LacksLog => _open.LacksLog;

    /// <summary>Number of a disk whose host file system is full; −1: none.</summary>
    internal int FullDisk => _open.FullDisk;

    /// <summary>The other pool that its write cache is in, while both are open; else null.</summary>
    internal PoolId? RemotePool => _open.Status.RemotePool;

    /// <summary>Number of a disk of that pool whose host file system is full; 0 or −1: none.</summary>
    internal int FullRemoteDisk => _open.FullRemoteDisk;

    /// <summary>Bytes of copies of rings that could be made whole now.</summary>
    internal long RingBytesToResync => _open.RingBytesToResync;

    /// <summary>Whether a copy of its write cache is stale.</summary>
    internal bool IsCacheDegraded => _open.IsCacheDegraded;

    /// <summary>State of its write cache; null without one.</summary>
    internal WriteCacheState? CacheState => _open.Status.CacheState;

    /// <summary>Reason why its write cache takes no writes although it is to; null when it does, or when there is none.</summary>
    internal string? LostCacheReason => CacheState is WriteCacheState.Retiring or WriteCacheState.WriteThrough ? WriteCache?.StateReason ?? "" : null;

    /// <summary>Reason why its write cache has lost data; null when it has not.</summary>
    internal string? LostBlocksReason => _open.LosesBlocks ? WriteCache!.StateReason : null;

    /// <summary>Its write cache; null without one, or when it is not known yet.</summary>
    internal WriteCacheStatus? WriteCache => _open.WriteCache;

    /// <summary>Whether no copy has some of its data.</summary>
    internal bool HasLost => _open.Lost.Length > 0;

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
    internal IoCounters Counters => _open.Counters;

    /// <summary>Counters of its spaces.</summary>
    internal SpaceCounters SpaceCounters => _open.SpaceCounters;

    /// <summary>Regions of its parts that have an integrity log.</summary>
    internal ImmutableArray<PartRegions> Regions => _open.Regions;

    /// <summary>Places of its slices; empty without tiers.</summary>
    internal SliceMapState Slices => _open.Slices;

    /// <summary>Numbers of its tiers, fastest first; empty without tiers.</summary>
    internal ImmutableArray<int> TierOrder => _open.TierOrder;

    /// <summary>Counters of its tiers by number; empty without tiers.</summary>
    internal IReadOnlyList<TierCounters> TierCounters => _open.TierCounters;

    /// <summary>The blocks that no copy could give and that were not written since, as ranges of the virtual disk in their order.</summary>
    internal List<(long Offset, long Length)> LostRanges() => LostBlockRanges.Of([.. _open.Lost], Description, Slices);
}
