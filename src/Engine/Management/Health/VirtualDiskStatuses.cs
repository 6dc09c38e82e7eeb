using TierSpaces.Engine.Formats;
using TierSpaces.Engine.Pools;
using TierSpaces.Engine.Primitives;
using TierSpaces.Engine.Resiliency;
using TierSpaces.Engine.VirtualDisks;

namespace TierSpaces.Engine.Management;

/// <summary>Statuses of virtual disks, as functions of a snapshot.</summary>
internal static class VirtualDiskStatuses
{
    /// <summary>Returns the status of a virtual disk of a pool that is known.</summary>
    internal static VirtualDiskStatus Of(SubsystemSnapshot now, ManagedPoolSnapshot managed, VirtualDiskDescription description)
    {
        PoolState state = managed.State!;
        VirtualDiskSnapshot? disk = managed.VirtualDisks.GetValueOrDefault(description.Id);
        long slab = state.Pool!.Slabs.DataBytes;
        VirtualDiskCondition condition = disk is null || managed.Pool is null
            ? VirtualDiskCondition.OfClosed(managed, description.Id) : VirtualDiskCondition.Of(now, managed, managed.Pool, disk);
        (HealthStatus health, string status, string detached) = condition.State;
        return new VirtualDiskStatus
        {
            Description = description,
            PoolId = managed.Id.Value,
            AllocatedBytes = description.Parts.Sum(part => (state.Space(part.DataSpace)?.MappedRows ?? 0) * part.RowBytes(slab)),
            FootprintBytes = description.Spaces.Select(state.Space)
                .Sum(static space => (space?.MappedRows ?? 0) * (long)(space?.Description.Positions ?? 0)) * slab,
            Health = health,
            OperationalStatus = status,
            StatusReason = condition.Reason,
            MissingDisks = [.. condition.Missing.Select(static missing => missing.FriendlyName)],
            DetachedReason = detached,
            SocketPath = disk?.SocketPath ?? "",
            Lane = disk?.Lane ?? 0,
            Counters = disk?.Counters,
            SpaceCounters = disk?.SpaceCounters,
            BlocksTakenWithoutProof = disk?.SpaceCounters.Repair.BlocksAdopted ?? 0,
            Routes = disk is null ? null : IoRoutes.Of(state, description, disk),
            Regions = disk is { Regions.Length: > 0 } ? RegionsOf(description, state, slab, disk) : null,
            WriteCache = disk?.WriteCache,
            CachePoolName = description.CacheSpace != SpaceId.None ? now.NameOf(description.IsCacheElsewhere ? description.CachePool : managed.Id) : "",
        };
    }

    private static RegionCounts RegionsOf(VirtualDiskDescription description, PoolState state, long slab, VirtualDiskSnapshot disk) => disk.Regions
        .Select(regions => regions.Count(description.Part(regions.Part) is { } part ? (state.Space(part.DataSpace)?.MappedRows ?? 0) * part.RowBytes(slab) : 0))
        .Aggregate(default(RegionCounts), static (sum, counts) => sum + counts);
}
