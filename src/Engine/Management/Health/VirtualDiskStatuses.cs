using TierSpaces.Engine.Caching;
using TierSpaces.Engine.Formats;
using TierSpaces.Engine.Pools;
using TierSpaces.Engine.Primitives;
using TierSpaces.Engine.Resiliency;
using TierSpaces.Engine.VirtualDisks;

namespace TierSpaces.Engine.Management;

/// <summary>Reads the statuses of virtual disks, on the lane.</summary>
internal sealed class VirtualDiskStatuses(SubsystemCore core, JobRunner runner)
{
    /// <summary>Returns the status of a virtual disk of a pool that is known.</summary>
    internal VirtualDiskStatus Of(ManagedPool managed, VirtualDiskId id)
    {
        VirtualDiskDescription description = managed.State!.VirtualDisk(id)!;
        ManagedVirtualDisk? disk = managed.VirtualDisks.GetValueOrDefault(id);
        long slab = managed.State.Pool!.Slabs.DataBytes;
        VirtualDiskCondition condition = disk is null || managed.Pool is null
            ? VirtualDiskCondition.OfClosed(managed, id) : VirtualDiskCondition.Of(core, managed, disk, runner.RepairOf(managed, disk));
        (HealthStatus health, string status, string detached) = condition.State;
        return new VirtualDiskStatus
        {
            Description = description,
            PoolId = managed.Id.Value,
            AllocatedBytes = description.Parts.Sum(part => (managed.State.Space(part.DataSpace)?.MappedRows ?? 0) * part.RowBytes(slab)),
            FootprintBytes = description.Spaces.Select(managed.State.Space)
                .Sum(static space => (space?.MappedRows ?? 0) * (long)(space?.Description.Positions ?? 0)) * slab,
            Health = health,
            OperationalStatus = status,
            StatusReason = condition.Reason,
            DetachedReason = detached,
            SocketPath = disk?.SocketPath ?? "",
            Counters = disk?.Open.Disk.Counters,
            SpaceCounters = disk?.Open.SpaceCounters,
            WriteCache = disk?.Open.Cache is { } cache ? WriteCacheStatus.Of(cache) : null,
            CachePoolName = description.CacheSpace != SpaceId.None ? core.Pools.NameOf(description.IsCacheElsewhere ? description.CachePool : managed.Id) : "",
        };
    }
}
