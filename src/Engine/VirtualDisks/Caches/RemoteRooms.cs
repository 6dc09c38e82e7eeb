using TierSpaces.Engine.Caching;
using TierSpaces.Engine.Formats;
using TierSpaces.Engine.Pools;
using TierSpaces.Engine.Primitives;
using TierSpaces.Engine.Resiliency;

namespace TierSpaces.Engine.VirtualDisks;

// The ring of a remote write cache is a space of the cache pool; its virtual disk is in the owner pool. Two pools have no commit in common, so the
// record of the virtual disk decides:
//
//   made      1. the cache pool commits the ring's space and its rows; 2. the ring is made, durably; 3. the virtual disk's record names it
//   removed   1. the virtual disk's record names it no more; 2. the cache pool commits that the space is gone
//
// A ring that no record names holds no data in use. It is freed once the owner pool is open, so that its records are known. Until then it is kept,
// because it may hold data that is not destaged.

/// <summary>Reserves and frees slabs of cache pools for remote write caches.</summary>
internal static class RemoteRooms
{
    /// <summary>The pool that the write cache of a virtual disk is in, or would be; null while that is not open.</summary>
    internal static Pool? CachePoolOf(Pool pool, VirtualDiskDescription disk) => disk.IsCacheElsewhere ? pool.Environment.FindPool(disk.CachePool) : pool;

    /// <summary>Returns the remote rings whose owner pool is open and has no virtual disk that names them.</summary>
    /// <param name="cachePool">The cache pool.</param>
    /// <param name="find">Finds the open pools.</param>
    internal static SpaceId[] UnnamedRings(Pool cachePool, Func<PoolId, Pool?> find) =>
    [
        .. cachePool.State.Spaces.Values.Select(static space => space.Description).Where(ring => ring.IsRemote && find(ring.OwnerPool) is { } owner
            && !(owner.State.VirtualDisk(ring.Owner) is { } disk && disk.CachePool == cachePool.Id && disk.CacheSpace == ring.Id))
                .Select(static ring => ring.Id),
    ];

    /// <summary>Frees the slabs of a remote ring that no virtual disk names.</summary>
    internal static async LaneTask<CommitResult> GiveBack(Pool cachePool, SpaceId ring)
    {
        if (cachePool.State.Space(ring) is not { } space)
        {
            return CommitResult.Committed;
        }

        if (cachePool.State.Pool!.IsReadOnly)
        {
            return new CommitResult(CommitStatus.Refused, "The pool is read-only.");
        }

        SlabRef[] former = [.. space.EnumerateRows().SelectMany(static row => row.Row.Mapping.Sources.ToArray())];
        cachePool.Allocator.Hold(former);
        CommitResult result = await cachePool.Commit(new SpaceRemoved(ring));
        if (result.Succeeded)
        {
            await PoolMemberHost.Punch(cachePool, former);
        }

        cachePool.Allocator.LetGo(former);
        return result;
    }

    /// <summary>Frees the slabs of a remote cache that no record names any more; if that is not possible now, a later pass frees them.</summary>
    internal static async LaneTask<Nothing> FreeRemote(Pool pool, VirtualDiskDescription disk)
    {
        if (disk.IsCacheElsewhere && disk.CacheSpace != SpaceId.None && CachePoolOf(pool, disk) is { } cachePool)
        {
            await GiveBack(cachePool, disk.CacheSpace);
        }

        return default;
    }

    /// <summary>Records in the cache pool that the rows are the ring of a virtual disk's cache. The virtual disk's record does not name it yet.</summary>
    internal static async LaneTask<CommitResult> ReserveRemote(Pool cachePool, PoolId owner, VirtualDiskDescription disk, NewRows rows)
    {
        SpaceDescription space = new(disk.CacheSpace, disk.Id, SpaceKind.WriteCache, 1, disk.CacheCopies) { OwnerPool = owner };
        CommitResult result = await cachePool.Commit(new SpaceCreated(space));
        result = result.Succeeded ? await SpaceRecords.MapRows(cachePool, space.Id, 0, rows.Cache) : result;
        if (result.Succeeded || !await SpaceRecords.IsDecided(cachePool, result))
        {
            rows.Keep();   // slabs that may still be mapped are not given out before the next opening
            return result;
        }

        rows.Release(cachePool);
        await GiveBack(cachePool, space.Id);
        return result;
    }

    /// <summary>Returns the reason why the cache pool does not provide the ring that a virtual disk names; empty when it does.</summary>
    internal static string WhyOutOfReach(Pool pool, VirtualDiskDescription disk)
    {
        string name = pool.Environment.NameOfPool(disk.CachePool);
        if (CachePoolOf(pool, disk) is not { } cachePool)
        {
            return $"its write cache is in storage pool '{name}', which is not open";
        }

        return cachePool.State.Space(disk.CacheSpace) is { Description: { Kind: SpaceKind.WriteCache, Columns: 1 } ring, MappedRows: > 0 and var rows } space
            && ring.OwnerPool == pool.Id && ring.Owner == disk.Id && ring.Copies == disk.CacheCopies
            && space.Row(rows - 1) is not null && rows * cachePool.Slabs.DataBytes == disk.WriteCacheSize
                ? "" : $"its write cache was in storage pool '{name}', which does not have it";
    }
}
