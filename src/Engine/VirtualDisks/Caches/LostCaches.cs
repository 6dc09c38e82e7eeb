using TierSpaces.Engine.Formats;
using TierSpaces.Engine.Pools;
using TierSpaces.Engine.Primitives;
using TierSpaces.Engine.Resiliency;

namespace TierSpaces.Engine.VirtualDisks;

// A write cache that is lost keeps its disk from being used until a disk of it is back, or until it is given up:
//  1. One commit marks every copy of its ring: from then on no opening looks at them.
//  2. The disk is opened again without them, and serves the data of the backing store.
//  (For a remote cache, one commit removes its name from the virtual disk's record, in place of 1 and 3.)
//  3. One commit removes the ring, and its slabs are free. A ring that was given up because a write to it failed goes the same way.

/// <summary>Gives up write caches that are lost.</summary>
internal static class LostCaches
{
    /// <summary>Whether a disk with a copy of the ring is there on which nothing is known to be missing.</summary>
    internal static bool HasCacheCopy(Pool pool, VirtualDiskDescription disk) =>
        RemoteRooms.CachePoolOf(pool, disk) is { } at && at.State.Space(disk.CacheSpace)?.Row(0) is { } row
        && row.Mapping.Sources.ToArray().Where((slab, copy) => row.Stale(copy) == 0 && at.Disk(slab.Disk) is not null).Any();

    /// <summary>
    /// Records that nothing of a lost cache is to be replayed, ever. One that is in another pool is named no more: that pool need not be open.
    /// </summary>
    internal static LaneTask<CommitResult> GiveUpCache(Pool pool, OpenVirtualDisk open)
    {
        VirtualDiskDescription disk = open.Description;
        return pool.Commit(disk.IsCacheElsewhere ? new VirtualDiskChanged(WithoutCache(disk)) : new StaleMarked(
            disk.CacheSpace, [.. Enumerable.Range(0, disk.CacheCopies).Select(copy => new StaleEntry(0, (ushort)copy, ushort.MaxValue))]));
    }

    /// <summary>Takes the ring of a cache that was given up away from its disk; its slabs are free.</summary>
    internal static async LaneTask<CommitResult> RemoveGivenUpCache(Pool pool, OpenVirtualDisk open)
    {
        VirtualDiskDescription before = open.Description;
        SlabRef[] former = CacheExchange.SlabsOfCache(pool, before);
        pool.Allocator.Hold(former);
        CommitResult result = await pool.Commit([.. CacheExchange.RecordsOf(before, WithoutCache(before), [])]);
        if (result.Succeeded)
        {
            open.Redescribe(pool.State.VirtualDisk(before.Id)!);
            await PoolMemberHost.Punch(pool, former);
            await RemoteRooms.FreeRemote(pool, before);
        }

        pool.Allocator.LetGo(former);
        return result;
    }

    private static VirtualDiskDescription WithoutCache(VirtualDiskDescription disk) => disk with { WriteCacheSize = 0, CacheSpace = SpaceId.None };
}
