using TierSpaces.Engine.Formats;
using TierSpaces.Engine.Pools;
using TierSpaces.Engine.Primitives;
using TierSpaces.Engine.Resiliency;
using TierSpaces.Engine.VirtualDisks;

namespace TierSpaces.Engine.Management;

// Write caches in other pools than the data. A cache pool has users that are not its own virtual disks:
//
//  - these users are affected by events and changes of its disks too;
//  - a virtual disk whose cache is in a pool that is not open is detached, and attached when that pool opens;
//  - a ring that no virtual disk names any more is freed as soon as the owner pool is open, so that its records are known;
//  - a pool is not removed while it is the cache pool of a remote cache.

/// <summary>Write caches of virtual disks in other pools than the disk's own.</summary>
internal sealed class RemoteCaches(SubsystemCore core)
{
    /// <summary>The other pool that a new virtual disk's write cache is to be in; null: its own.</summary>
    internal Pool? CachePoolFor(ManagedPool owner, VirtualDiskRequest request)
    {
        if (request.CachePool is not { } id || id == owner.Id.Value)
        {
            return null;
        }

        ManagedPool cachePool = core.Pools.TakeOpen(id);
        cachePool.RequireWritable();
        return cachePool.Pool;
    }

    /// <summary>
    /// The pool that a virtual disk's write cache is in, or would be. One that is not known any more, and that nothing of the disk is in, is its own
    /// from now on.
    /// </summary>
    internal ManagedPool CachePoolOf(ManagedPool owner, VirtualDiskDescription disk, Action<string> remark)
    {
        if (!disk.IsCacheElsewhere)
        {
            return owner;
        }

        if (disk.CacheSpace == SpaceId.None && core.Pools.Find(disk.CachePool) is null)
        {
            remark($"The storage pool that the write cache of virtual disk '{disk.FriendlyName}' was in ({disk.CachePool}) is not known any more: it is made in storage pool '{owner.State!.Pool!.FriendlyName}'.");
            return owner;
        }

        ManagedPool cachePool = core.Pools.TakeOpen(disk.CachePool.Value);
        cachePool.RequireWritable();
        return cachePool;
    }

    /// <summary>Frees the slabs of remote caches that no virtual disk names any more.</summary>
    internal async LaneTask<Nothing> GiveBackUnnamed()
    {
        foreach (ManagedPool managed in core.Pools.All.ToArray())
        {
            if (managed.Pool is { HasLostQuorum: false } cachePool && !cachePool.State.Pool!.IsReadOnly)
            {
                foreach (SpaceId ring in RemoteRooms.UnnamedRings(cachePool, core.Pools.FindOpen))
                {
                    await GiveBackUnnamed(cachePool, ring);
                }
            }
        }

        return default;
    }

    // A virtual disk that takes no requests may be so because it is not known which cache its record names: that is known when it is opened again.
    private async LaneTask<Nothing> GiveBackUnnamed(Pool cachePool, SpaceId ring)
    {
        SpaceDescription space = cachePool.State.Space(ring)!.Description;
        bool isUndecided = core.Pools.Find(space.OwnerPool) is not { Pool: { HasLostQuorum: false } } ownerPool
            || (ownerPool.VirtualDisks.TryGetValue(space.Owner, out ManagedVirtualDisk? owner) && owner.Status.Fault != IoError.None);
        if (!isUndecided && (await RemoteRooms.GiveBack(cachePool, ring)).Succeeded)
        {
            core.Notice($"Storage pool {cachePool.State.Pool!.FriendlyName} has freed the space of a write cache of another pool: no virtual disk uses it any more.");
        }

        return default;
    }

    /// <summary>Throws if a pool that is to be removed has remote caches of other pools.</summary>
    internal void RequireNoRemoteCaches(ManagedPool managed)
    {
        string[] dependents = [.. core.Pools.Dependents(managed.State!)];
        if (dependents.Length > 0)
        {
            throw new ManagementException(
                ManagementError.PoolHasVirtualDisks, $"Storage pool '{managed.State!.Pool!.FriendlyName}' is in use by {string.Join(", ", dependents)}.",
                "Give those virtual disks no write cache first (Set-VirtualDisk -WriteCacheSize 0), or remove them, with both pools open.");
        }
    }
}
