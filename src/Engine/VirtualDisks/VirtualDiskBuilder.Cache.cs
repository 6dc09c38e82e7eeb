using TierSpaces.Engine.Caching;
using TierSpaces.Engine.Devices;
using TierSpaces.Engine.Formats;
using TierSpaces.Engine.Pools;
using TierSpaces.Engine.Primitives;
using TierSpaces.Engine.Resiliency;

namespace TierSpaces.Engine.VirtualDisks;

// Another write cache for a disk that is in use, in crash order:
//  1. Slabs for the new ring are reserved; what does not fit changes nothing.
//  2. The old ring is emptied; meanwhile writes go to their home.
//  3. Requests are held back. The new ring is made, durably, on slabs that are nobody's yet.
//  4. One commit puts the new ring into the old one's place. Requests go on, and the old slabs are free.
// A cache in another pool takes room of that pool before 3, and gives the old room back after 4.

public static partial class VirtualDiskBuilder
{
    /// <summary>Gives an open disk a write cache of another size, or none.</summary>
    /// <param name="pool">The pool of the disk.</param>
    /// <param name="open">The disk.</param>
    /// <param name="bytes">Bytes of a copy, whole slabs of the pool that it is to be in.</param>
    /// <param name="lender">
    /// The pool that it is to be in, where that is another one. It stays the pool that it is in; one without a cache may be given one elsewhere.
    /// </param>
    public static async LaneTask<CommitResult> ResizeCache(Pool pool, OpenVirtualDisk open, long bytes, Pool? lender = null)
    {
        Pool at = lender ?? pool;
        NewRows rows = new();
        if (!rows.TryReserveCache(at, open.Description.CacheCopies, bytes, out string reason))
        {
            rows.Release(at);
            return new CommitResult(CommitStatus.NoSpace, reason);
        }

        WriteCache? old = open.Cache;
        IoError drained = old is null ? IoError.None : await old.Drain();
        if (drained != IoError.None)
        {
            old!.Resume();
            rows.Release(at);
            return new CommitResult(CommitStatus.Refused, $"The write cache could not be emptied: {drained}. {old.StateReason}");
        }

        await open.Disk.Pause();
        drained = old is null ? IoError.None : await old.Drain();   // of what was on its way into the ring when it was emptied
        CommitResult result = drained == IoError.None
            ? await ExchangeCache(pool, at, open, bytes, rows) : new CommitResult(CommitStatus.Refused, $"The write cache could not be emptied: {drained}.");
        if (!result.Succeeded)
        {
            old?.Resume();
            open.Disk.Resume(old);
            if (open.Fault == IoError.None)
            {
                rows.Release(at);
            }
        }

        return result;
    }

    private static async LaneTask<CommitResult> ExchangeCache(Pool pool, Pool at, OpenVirtualDisk open, long bytes, NewRows rows)
    {
        VirtualDiskDescription before = open.Description;
        VirtualDiskDescription after = before with
        {
            WriteCacheSize = bytes,
            CacheSpace = bytes == 0 ? SpaceId.None : at.State.NextSpace,
            CachePool = at == pool ? PoolId.None : at.Id,
        };
        CommitResult lent = at == pool || bytes == 0 ? CommitResult.Committed : await Lend(at, pool.Id, after, rows);
        if (!lent.Succeeded)
        {
            return lent;
        }

        WriteCache? old = open.Cache;
        WriteCache? cache = bytes == 0 ? null
            : await WriteCache.Create(
                pool.Environment.Lane, open.Home,
                CacheOptions(pool, open.Parts[0].Host, at == pool ? null : open.BorrowFrom(at), after, CopiesOf(at, rows.Cache, after), 0));
        if (cache is { State: WriteCacheState.Lost })
        {
            await GiveBackLent(pool, after);
            return new CommitResult(CommitStatus.Refused, cache.StateReason);
        }

        _ = old is null ? default : await old.Suspend();
        SlabRef[] former = SlabsOfCache(pool, before);
        pool.Allocator.Hold(former);
        CommitResult result = await pool.Commit([.. RecordsOf(before, after, rows.Cache)]);
        if (result.Succeeded)
        {
            open.Description = pool.State.VirtualDisk(after.Id)!;
            _ = old is null ? default : await old.Leave();
            open.Disk.Resume(cache);
            await PoolMemberHost.Punch(pool, former);
            await GiveBackLent(pool, before);
        }
        else if (result.Status != CommitStatus.Refused)
        {
            IoError error = result.Status == CommitStatus.NoSpace ? IoError.NoSpace : IoError.Io;
            open.Home.FailFront(error, "it is not known which write cache is in force");   // the commit may still come about, or be found at the next opening
        }
        else if (cache is not null)
        {
            await cache.Leave();
            await GiveBackLent(pool, after);
        }

        pool.Allocator.LetGo(former);
        return result;
    }

    private static IEnumerable<MetadataRecord> RecordsOf(VirtualDiskDescription before, VirtualDiskDescription after, List<RowMapping> rows)
    {
        if (after.CacheSpace != SpaceId.None && !after.IsCacheElsewhere)
        {
            yield return new SpaceCreated(new SpaceDescription(after.CacheSpace, after.Id, SpaceKind.WriteCache, 1, after.CacheCopies));
            yield return new RowsMapped(after.CacheSpace, 0, after.CacheCopies, [.. rows]);
        }

        yield return new VirtualDiskChanged(after);
        if (before.CacheSpace != SpaceId.None && !before.IsCacheElsewhere)
        {
            yield return new SpaceRemoved(before.CacheSpace);
        }
    }

    private static List<IReadOnlyList<SlabPlace>> CopiesOf(Pool pool, List<RowMapping> rows, VirtualDiskDescription disk) =>
        [.. Enumerable.Range(0, disk.CacheCopies).Select(copy => rows.ConvertAll(row => PoolSpaceHost.PlaceOf(pool, row.Sources[copy])))];

    /// <summary>The cache of a disk that is being opened, and where another pool lends it the room; null: it has none, or its home has failed.</summary>
    private static async LaneTask<(WriteCache? Cache, LentCache? Lent)> StackCache(Pool pool, VirtualDiskDescription disk, IHomeStore home, PoolSpaceHost host, bool isNew)
    {
        string outOfReach = disk.IsCacheElsewhere && disk.CacheSpace != SpaceId.None ? WhyOutOfReach(pool, disk) : "";
        LentCache? lent = disk.IsCacheElsewhere && outOfReach.Length == 0 && CachePoolOf(pool, disk) is { } lender ? new LentCache(lender, home) : null;
        WriteCache? cache = disk.CacheSpace == SpaceId.None || home.Fault != IoError.None ? null
            : outOfReach.Length > 0 ? WriteCache.OutOfReach(pool.Environment.Lane, home, CacheOptions(pool, host, null, disk with { WriteCacheSize = 0 }, [], 0), outOfReach)
            : isNew ? await WriteCache.Create(pool.Environment.Lane, home, CacheOptions(pool, host, lent, disk))
            : await WriteCache.Open(pool.Environment.Lane, home, CacheOptions(pool, host, lent, disk));
        return (cache, lent);
    }

    private static WriteCacheOptions CacheOptions(Pool pool, PoolSpaceHost host, LentCache? lent, VirtualDiskDescription disk)
    {
        SpaceState ring = (lent?.Pool ?? pool).State.Space(disk.CacheSpace)!;
        return CacheOptions(pool, host, lent, disk, CopiesOf(lent?.Pool ?? pool, ring), StaleCopiesOf(ring));
    }

    private static WriteCacheOptions CacheOptions(
        Pool pool, PoolSpaceHost host, LentCache? lent, VirtualDiskDescription disk, IReadOnlyList<IReadOnlyList<SlabPlace>> copies, int staleCopies)
    {
        PoolMemberHost marks = lent?.Host is { } other ? other : host;
        return new()
        {
            Owner = OwnerOf(lent?.Pool ?? pool, disk.CacheSpace),
            Copies = copies,
            StaleCopies = staleCopies,
            Length = disk.WriteCacheSize,
            Destage = disk.Destage,
            Stand = lent?.Rings,
            MarkStale = copy => marks.MarkRingStale(disk.CacheSpace, copy),
            ClearStale = copy => marks.ClearRingStale(disk.CacheSpace, copy),
            RankOf = number => RankIn(pool, number),
            RingRankOf = lent is null ? null : number => RankIn(lent.Pool, number),
            MinuteOfDay = () => (int)pool.Environment.Lane.UtcNow.ToLocalTime().TimeOfDay.TotalMinutes,
        };
    }

    private static int RankIn(Pool pool, int number) => pool.State.Disk(new DiskNumber((ushort)number)) is { } member ? RankOf(member.Description) : 0;

    /// <summary>How fast a medium is, compared with others; a disk that is there for journals is not slower than flash.</summary>
    private static int RankOf(DiskDescription disk) =>
        disk.Media() == MediaType.SCM ? 2 : disk.Media() == MediaType.SSD || disk.Usage == DiskUsage.Journal ? 1 : 0;
}
