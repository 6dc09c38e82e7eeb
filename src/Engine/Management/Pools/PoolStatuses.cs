using TierSpaces.Engine.Formats;
using TierSpaces.Engine.Pools;

namespace TierSpaces.Engine.Management;

/// <summary>Statuses of pools.</summary>
internal static class PoolStatuses
{
    /// <summary>Returns the status of a pool that is known.</summary>
    internal static StoragePoolStatus Of(ManagedPool managed)
    {
        PoolState state = managed.State!;
        DiskDescription[] disks = [.. state.Disks.Values.Select(disk => disk.Description)];
        long slab = state.Pool!.Slabs.DataBytes;
        return new StoragePoolStatus
        {
            UniqueId = managed.Id.Value,
            Description = state.Pool,
            Health = managed.Pool?.HealthStatus ?? HealthStatus.Unhealthy,
            OperationalStatus = managed.Pool?.OperationalStatus ?? PoolOperationalStatus.Incomplete,
            StatusReason = managed.Pool?.StatusReason ?? managed.Reason,
            SizeBytes = disks.Sum(disk => disk.SlabCount * slab),
            RemoteCacheBytes = RemoteCachePlan.RemoteBytes(state),
            AllocatedBytes = state.Disks.Values.Sum(disk => disk.UsedSlabs * slab),
            MetadataPages = managed.Pool?.MetadataPages is { Most: > 0 } pages ? pages : null,
            ScrubInterval = managed.Pool is { } open ? ScrubService.IntervalOf(open) : null,
            WriteCacheSizeMax = managed.Pool is { } pool ? WriteCachePlan.LargestOfSimple(pool) : 0,
            LogicalSectorSize = disks.Length == 0 ? 512 : disks.Max(disk => disk.LogicalSectorSize),
            PhysicalSectorSize = disks.Length == 0 ? 4096 : disks.Max(disk => disk.PhysicalSectorSize),
        };
    }
}
