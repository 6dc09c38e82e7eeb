using TierSpaces.Engine.Caching;
using TierSpaces.Engine.Formats;
using TierSpaces.Engine.Primitives;
using TierSpaces.Engine.VirtualDisks;

namespace TierSpaces.Engine.Management;

/// <summary>
/// State of an open virtual disk by which control code decides without waiting for its lane. Making one takes time in proportion to its tiers.
/// </summary>
internal sealed record OpenDiskStatus
{
    /// <summary>Error for which the virtual disk takes no requests, or None.</summary>
    internal IoError Fault { get; private init; }

    /// <summary>The same error in words.</summary>
    internal string FaultReason { get; private init; } = "";

    /// <summary>Whether its integrity log is back on a disk of the pool: it takes writes once it is reopened.</summary>
    internal bool HasReturnedLog { get; private init; }

    /// <summary>Whether it takes no requests, or no writes, and is opened again when a disk has joined.</summary>
    internal bool IsToBeReopened => Fault != IoError.None || HasReturnedLog;

    /// <summary>State of its write cache; null without one.</summary>
    internal WriteCacheState? CacheState { get; private init; }

    /// <summary>Whether the disks of its write cache are missed, and may come back.</summary>
    internal bool AwaitsCacheDisks { get; private init; }

    /// <summary>The other pool that its write cache is in; null without one there.</summary>
    internal PoolId? RemotePool { get; private init; }

    /// <summary>Number of its tiers; 0 for a virtual disk without tiers.</summary>
    internal int Tiers { get; private init; }

    /// <summary>Whether it has tiers.</summary>
    internal bool IsTiered => Tiers > 0;

    /// <summary>Whether it has tiers that slices can move between.</summary>
    internal bool HasSeveralTiers => Tiers > 1;

    /// <summary>Whether its write cache is lost, or absent because its pool is not open.</summary>
    internal bool IsCacheGone => CacheState is WriteCacheState.Lost or WriteCacheState.Absent;

    /// <summary>Returns the status of a virtual disk now.</summary>
    internal static OpenDiskStatus Of(OpenVirtualDisk open) => new()
    {
        Fault = open.Fault,
        FaultReason = open.FaultReason,
        HasReturnedLog = open.HasReturnedLog,
        CacheState = open.Cache?.State,
        AwaitsCacheDisks = open.Cache is { AwaitsDisks: true },
        RemotePool = open.Remote?.Pool.Id,
        Tiers = open.Tiering?.Store.Tiers ?? 0,
    };
}
