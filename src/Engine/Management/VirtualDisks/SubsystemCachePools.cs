using TierSpaces.Engine.Caching;
using TierSpaces.Engine.Formats;
using TierSpaces.Engine.Pools;
using TierSpaces.Engine.Primitives;
using TierSpaces.Engine.VirtualDisks;

namespace TierSpaces.Engine.Management;

// Write caches in other pools than the data. A pool that lends room for them has users that are not its own virtual disks:
//
//  - what its disks do, and what becomes of them, concerns those too;
//  - a virtual disk whose cache is in a pool that is not open is detached, and attached when that pool opens;
//  - room that was lent and that no virtual disk names any more is given back as soon as the home pool is open to say so;
//  - a pool is not removed while it lends.
public sealed partial class StorageSubsystem
{
    /// <summary>The open virtual disks that have slabs in a pool: its own, and those of other pools that it lends room for their cache.</summary>
    private IEnumerable<(ManagedPool Home, ManagedVirtualDisk Disk)> UsersOf(ManagedPool managed) => _pools.Values.SelectMany(home =>
        home.VirtualDisks.Values.Where(disk => home == managed || (managed.Pool is not null && disk.Open.Lent?.Pool == managed.Pool)).Select(disk => (home, disk)));

    private Pool? FindPool(PoolId id) => _pools.GetValueOrDefault(id)?.Pool;

    private string NameOfPool(PoolId id) => _pools.GetValueOrDefault(id)?.State?.Pool?.FriendlyName ?? id.ToString();

    /// <summary>The other pool that a new virtual disk's write cache is to be in; null: its own.</summary>
    private Pool? LenderFor(ManagedPool home, VirtualDiskRequest request)
    {
        if (request.CachePool is not { } id || id == home.Id.Value)
        {
            return null;
        }

        ManagedPool lender = OpenPool(id);
        RequireWritable(lender);
        return lender.Pool;
    }

    /// <summary>
    /// The pool that a virtual disk's write cache is in, or would be. One that is not known any more, and that nothing of the disk is in, is its own
    /// from now on.
    /// </summary>
    private ManagedPool CachePoolOf(ManagedPool home, VirtualDiskDescription disk, Action<string> remark)
    {
        if (!disk.IsCacheElsewhere)
        {
            return home;
        }

        if (disk.CacheSpace == SpaceId.None && !_pools.ContainsKey(disk.CachePool))
        {
            remark($"The storage pool that the write cache of virtual disk '{disk.FriendlyName}' was in ({disk.CachePool}) is not known any more: it is made in storage pool '{home.State!.Pool!.FriendlyName}'.");
            return home;
        }

        ManagedPool lender = OpenPool(disk.CachePool.Value);
        RequireWritable(lender);
        return lender;
    }

    /// <summary>Attaches the virtual disks that have waited for a pool which has just been opened.</summary>
    private async LaneTask<Nothing> AttachWaiting(ManagedPool lender)
    {
        foreach (ManagedPool home in _pools.Values.ToArray())
        {
            foreach (ManagedVirtualDisk disk in home.VirtualDisks.Values.ToArray())
            {
                if (disk.Open is { Cache.State: WriteCacheState.Absent } waiting && waiting.Description.CachePool == lender.Id)
                {
                    await ReopenOnceDecided(home, disk);
                }
            }
        }

        return default;
    }

    /// <summary>Gives room back that pools have lent and that no virtual disk names any more.</summary>
    private async LaneTask<Nothing> GiveBackUnnamed()
    {
        foreach (ManagedPool managed in _pools.Values.ToArray())
        {
            if (managed.Pool is { HasLostQuorum: false } lender && !lender.State.Pool!.IsReadOnly)
            {
                foreach (SpaceId ring in CacheLoans.UnnamedRings(lender, FindPool))
                {
                    await GiveBackUnnamed(lender, ring);
                }
            }
        }

        return default;
    }

    // A virtual disk that takes no requests may be so because it is not known which cache its record names: that is known when it is opened again.
    private async LaneTask<Nothing> GiveBackUnnamed(Pool lender, SpaceId ring)
    {
        SpaceDescription space = lender.State.Space(ring)!.Description;
        bool isUndecided = _pools.GetValueOrDefault(space.Home) is not { Pool: { HasLostQuorum: false } } home
            || (home.VirtualDisks.TryGetValue(space.Owner, out ManagedVirtualDisk? owner) && owner.Open.Fault != IoError.None);
        if (!isUndecided && (await CacheLoans.GiveBack(lender, ring)).Succeeded)
        {
            _options.Notice($"Room in storage pool {lender.State.Pool!.FriendlyName} that was lent for a write cache, and that no virtual disk names, is free.");
        }

        return default;
    }

    /// <summary>What a pool lends, one name a cache: virtual disk and pool.</summary>
    private IEnumerable<string> Borrowers(PoolState lender, Func<SpaceState, bool>? which = null) => lender.Spaces.Values
        .Where(space => space.Description.IsLent && which?.Invoke(space) != false)
        .Select(space => space.Description)
        .Select(ring =>
        {
            string disk = _pools.GetValueOrDefault(ring.Home)?.State?.VirtualDisk(ring.Owner)?.FriendlyName ?? ring.Owner.ToString();
            return $"the write cache of virtual disk '{disk}' of storage pool '{NameOfPool(ring.Home)}'";
        }).Order(StringComparer.Ordinal);

    private void RequireNotLending(ManagedPool managed)
    {
        string[] borrowers = [.. Borrowers(managed.State!)];
        if (borrowers.Length > 0)
        {
            throw new RefusedException(
                Refusal.PoolHasVirtualDisks, $"Storage pool '{managed.State!.Pool!.FriendlyName}' is in use by {string.Join(", ", borrowers)}.",
                "Give those virtual disks no write cache first (Set-VirtualDisk -WriteCacheSize 0), or remove them, with both pools open.");
        }
    }
}
