using TierSpaces.Engine.Caching;
using TierSpaces.Engine.Formats;
using TierSpaces.Engine.Pools;
using TierSpaces.Engine.Primitives;

namespace TierSpaces.Engine.VirtualDisks;

// A write cache that is lost keeps its disk from being used until a disk of it is back, or until it is given up:
//  1. One commit marks every copy of its ring: from then on no opening looks at them.
//  2. The disk is opened again without them; what is home is served.
//  3. One commit takes the ring away, and its slabs are free. A ring that was given up because a write to it failed goes the same way.

public static partial class VirtualDiskBuilder
{
    /// <summary>Whether a disk with a copy of the ring is there on which nothing is known to be missing.</summary>
    internal static bool HasCacheCopy(Pool pool, VirtualDiskDescription disk) => pool.State.Space(disk.CacheSpace)?.Row(0) is { } row
        && row.Mapping.Sources.ToArray().Where((slab, copy) => row.Stale(copy) == 0 && pool.Disk(slab.Disk) is not null).Any();

    /// <summary>Opens a disk again, as a new host would. Nothing is exported of it; requests under way have failed or end now.</summary>
    internal static async LaneTask<OpenVirtualDisk> Reopen(Pool pool, OpenVirtualDisk open)
    {
        await open.Disk.Pause();
        IoError closed = await open.Close();
        return await Stack(pool, pool.State.VirtualDisk(open.Description.Id)!, isNew: false, closed == IoError.None ? null : open.Parts);
    }

    /// <summary>Records that nothing of a lost cache is to be replayed, ever.</summary>
    internal static LaneTask<CommitResult> GiveUpCache(Pool pool, OpenVirtualDisk open)
    {
        int copies = open.Description.CacheCopies;
        return pool.Commit(new StaleMarked(
            open.Description.CacheSpace, [.. Enumerable.Range(0, copies).Select(copy => new StaleEntry(0, (ushort)copy, ushort.MaxValue))]));
    }

    /// <summary>Takes the ring of a cache that was given up away from its disk; its slabs are free.</summary>
    internal static async LaneTask<CommitResult> RemoveGivenUpCache(Pool pool, OpenVirtualDisk open)
    {
        VirtualDiskDescription before = open.Description;
        SlabRef[] former = SlabsOfCache(pool, before);
        pool.Allocator.Hold(former);
        CommitResult result = await pool.Commit([.. RecordsOf(before, before with { WriteCacheSize = 0, CacheSpace = SpaceId.None }, [])]);
        if (result.Succeeded)
        {
            open.Description = pool.State.VirtualDisk(before.Id)!;
            await PoolSpaceHost.Punch(pool, former);
        }

        pool.Allocator.Release(former);
        return result;
    }

    private static SlabRef[] SlabsOfCache(Pool pool, VirtualDiskDescription disk) => disk.CacheSpace == SpaceId.None ? []
        : [.. pool.State.Space(disk.CacheSpace)!.EnumerateRows().SelectMany(row => row.Row.Mapping.Sources.ToArray())];
}
