using TierSpaces.Engine.Caching;
using TierSpaces.Engine.Devices;
using TierSpaces.Engine.Formats;
using TierSpaces.Engine.Lanes;
using TierSpaces.Engine.Pools;
using TierSpaces.Engine.Primitives;
using TierSpaces.Engine.Resiliency;

namespace TierSpaces.Engine.VirtualDisks;

// The write cache of a virtual disk that is being opened: where its ring is, and how it ranks the disks.

/// <summary>Place of the write cache of a virtual disk, if that is in another pool.</summary>
/// <param name="WhyNot">Reason why its ring cannot be reached; empty if it can, or if it is in the pool of the disk.</param>
/// <param name="Pool">The other pool; null: there is none, or its ring cannot be reached.</param>
internal readonly record struct CacheReach(string WhyNot, PoolLink? Pool);

/// <summary>Opens the write cache of a virtual disk.</summary>
internal static class CacheStack
{
    /// <summary>Links a lane to the other pool that the write cache of a virtual disk is in; on the lane of the pools.</summary>
    internal static CacheReach Reach(Pool pool, ILane lane, VirtualDiskDescription disk)
    {
        string whyNot = disk.IsCacheElsewhere && disk.CacheSpace != SpaceId.None ? RemoteRooms.WhyOutOfReach(pool, disk) : "";
        Pool? cachePool = disk.IsCacheElsewhere && whyNot.Length == 0 ? RemoteRooms.CachePoolOf(pool, disk) : null;
        return new CacheReach(whyNot, cachePool?.LinkTo(lane));
    }

    /// <summary>Opens the cache of a disk that is being opened, remote or not; null: it has none, or its backing store has failed.</summary>
    internal static async LaneTask<(WriteCache? Cache, RemoteCache? Remote)> StackCache(
        PoolLink pool, CacheReach reach, VirtualDiskDescription disk, IBackingStore backing, PoolSpaceHost host, bool isNew)
    {
        string outOfReach = reach.WhyNot;
        _ = reach.Pool is { } other ? await other.Update() : default;
        RemoteCache? remote = reach.Pool is { } cachePool ? new RemoteCache(cachePool, backing) : null;
        WriteCache? cache = disk.CacheSpace == SpaceId.None || backing.Fault != IoError.None ? null
            : outOfReach.Length > 0
            ? WriteCache.OutOfReach(pool.Lane, backing, CacheOptions(pool, host, null, disk with { WriteCacheSize = 0 }, [], 0), outOfReach)
            : isNew ? await WriteCache.Create(pool.Lane, backing, CacheOptions(pool, host, remote, disk))
            : await WriteCache.Open(pool.Lane, backing, CacheOptions(pool, host, remote, disk));
        return (cache, remote);
    }

    internal static WriteCacheOptions CacheOptions(PoolLink pool, PoolSpaceHost host, RemoteCache? remote, VirtualDiskDescription disk)
    {
        SpaceState ring = (remote?.Pool ?? pool).State.Space(disk.CacheSpace)!;
        return CacheOptions(pool, host, remote, disk, CopiesOf((remote?.Pool ?? pool).State, ring), StaleCopiesOf(ring));
    }

    internal static WriteCacheOptions CacheOptions(
        PoolLink pool, PoolSpaceHost host, RemoteCache? remote, VirtualDiskDescription disk, IReadOnlyList<IReadOnlyList<SlabPlace>> copies, int staleCopies)
    {
        PoolMemberHost marks = remote?.Host is { } other ? other : host;
        return new()
        {
            Owner = VirtualDiskStack.OwnerOf((remote?.Pool ?? pool).Id, disk.CacheSpace),
            Copies = copies,
            StaleCopies = staleCopies,
            Length = disk.WriteCacheSize,
            SummaryEveryBlocks = (remote?.Pool ?? pool).CacheSummaryBlocks,
            Destage = disk.Destage,
            RingStorage = remote?.Rings,
            MarkStale = copy => marks.MarkRingStale(disk.CacheSpace, copy),
            ClearStale = copy => marks.ClearRingStale(disk.CacheSpace, copy),
            RankOf = number => RankIn(pool, number),
            RingRankOf = remote is null ? null : number => RankIn(remote.Pool, number),
            Load = pool.Load,
            MinuteOfDay = () => (int)pool.Lane.UtcNow.ToLocalTime().TimeOfDay.TotalMinutes,
        };
    }

    /// <summary>The copies of a ring: slabs that follow each other.</summary>
    internal static List<IReadOnlyList<SlabPlace>> CopiesOf(PoolState pool, SpaceState ring)
    {
        List<IReadOnlyList<SlabPlace>> copies = [];
        for (int copy = 0; copy < ring.Description.Copies; copy++)
        {
            int position = copy;
            copies.Add([.. ring.EnumerateRows().Select(row => PoolSpaceHost.PlaceOf(pool, row.Row.Mapping.Sources[position]))]);
        }

        return copies;
    }

    internal static List<IReadOnlyList<SlabPlace>> CopiesOf(PoolState pool, List<RowMapping> rows, VirtualDiskDescription disk) =>
        [.. Enumerable.Range(0, disk.CacheCopies).Select(copy => rows.ConvertAll(row => PoolSpaceHost.PlaceOf(pool, row.Sources[copy])))];

    internal static int StaleCopiesOf(SpaceState ring)
    {
        int stale = 0;
        foreach ((int _, RowState row) in ring.EnumerateRows())
        {
            for (int copy = 0; copy < ring.Description.Copies; copy++)
            {
                stale |= row.Stale(copy) != 0 ? 1 << copy : 0;
            }
        }

        return stale;
    }

    private static int RankIn(PoolLink pool, int number) => pool.State.Disk(new DiskNumber((ushort)number)) is { } member ? RankOf(member.Description) : 0;

    /// <summary>Returns the rank of a medium by speed: a higher one is faster. A disk that is there for journals is not slower than flash.</summary>
    private static int RankOf(DiskDescription disk) =>
        disk.Media() == MediaType.SCM ? 2 : disk.Media() == MediaType.SSD || disk.Usage == DiskUsage.Journal ? 1 : 0;
}
