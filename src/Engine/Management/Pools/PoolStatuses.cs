using TierSpaces.Engine.Formats;
using TierSpaces.Engine.Pools;

namespace TierSpaces.Engine.Management;

/// <summary>Statuses of pools, as functions of a snapshot.</summary>
internal static class PoolStatuses
{
    /// <summary>Returns the status of a pool that is known.</summary>
    internal static StoragePoolStatus Of(ManagedPoolSnapshot managed)
    {
        PoolState state = managed.State!;
        PoolSnapshot? pool = managed.Pool;
        DiskDescription[] disks = [.. state.Disks.Values.Select(disk => disk.Description)];
        long slab = state.Pool!.Slabs.DataBytes;
        PoolOperationalStatus status = managed.IsBeingOpened ? PoolOperationalStatus.InService
            : pool is null ? managed.ClosedStatus : PoolCondition.StatusOf(pool);
        return new StoragePoolStatus
        {
            UniqueId = managed.Id.Value,
            Description = state.Pool,
            Health = pool is null && status != PoolOperationalStatus.InService ? HealthStatus.Unhealthy : PoolCondition.HealthOf(status),
            IsOpen = pool is not null,
            AwaitsLease = managed.AwaitsLease,
            OperationalStatus = status,
            StatusReason = WithCopies(pool is null || managed.IsBeingOpened ? managed.Reason : PoolCondition.ReasonOf(pool), managed.Copies),
            SizeBytes = disks.Sum(disk => disk.SlabCount * slab),
            RemoteCacheBytes = RemoteCachePlan.RemoteBytes(state),
            AllocatedBytes = state.Disks.Values.Sum(disk => disk.UsedSlabs * slab),
            MetadataPages = pool?.MetadataPages is { Most: > 0 } pages ? pages : null,
            ScrubInterval = pool is null ? null : ScrubService.IntervalOf(pool),
            WriteCacheSizeMax = pool is null ? 0 : WriteCachePlan.LargestOfSimple(pool),
            LogicalSectorSize = disks.Length == 0 ? 512 : disks.Max(disk => disk.LogicalSectorSize),
            PhysicalSectorSize = disks.Length == 0 ? 4096 : disks.Max(disk => disk.PhysicalSectorSize),
        };
    }

    private static string WithCopies(string reason, string copies) =>
        copies.Length == 0 || reason.Length == 0 ? reason + copies : $"{reason.TrimEnd('.')}. {copies}";
}
