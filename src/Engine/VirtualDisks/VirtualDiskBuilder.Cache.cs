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

public static partial class VirtualDiskBuilder
{
    /// <summary>Gives an open disk a write cache of another size, or none; a size of whole slabs.</summary>
    public static async LaneTask<CommitResult> ResizeCache(Pool pool, OpenVirtualDisk open, long bytes)
    {
        NewRows rows = new();
        if (!rows.TryReserveCache(pool, open.Description.CacheCopies, bytes, out string reason))
        {
            rows.Release(pool);
            return new CommitResult(CommitStatus.NoSpace, reason);
        }

        WriteCache? old = open.Cache;
        IoError drained = old is null ? IoError.None : await old.Drain();
        if (drained != IoError.None)
        {
            old!.Resume();
            rows.Release(pool);
            return new CommitResult(CommitStatus.Refused, $"The write cache could not be emptied: {drained}. {old.StateReason}");
        }

        await open.Disk.Pause();
        drained = old is null ? IoError.None : await old.Drain();   // of what was on its way into the ring when it was emptied
        CommitResult result = drained == IoError.None
            ? await ExchangeCache(pool, open, bytes, rows) : new CommitResult(CommitStatus.Refused, $"The write cache could not be emptied: {drained}.");
        if (!result.Succeeded)
        {
            old?.Resume();
            open.Disk.Resume(old);
            if (open.Fault == IoError.None)
            {
                rows.Release(pool);
            }
        }

        return result;
    }

    private static async LaneTask<CommitResult> ExchangeCache(Pool pool, OpenVirtualDisk open, long bytes, NewRows rows)
    {
        VirtualDiskDescription before = open.Description;
        VirtualDiskDescription after = before with { WriteCacheSize = bytes, CacheSpace = bytes == 0 ? SpaceId.None : pool.State.NextSpace };
        WriteCache? old = open.Cache;
        WriteCache? cache = bytes == 0 ? null
            : await WriteCache.Create(pool.Environment.Lane, open.Home, CacheOptions(pool, open.Parts[0].Host, after, CopiesOf(pool, rows.Cache, after), 0));
        if (cache is { State: WriteCacheState.Lost })
        {
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
            await PoolSpaceHost.Punch(pool, former);
        }
        else if (result.Status == CommitStatus.NoSpace)
        {
            open.Home.FailFront(IoError.NoSpace, "it is not known which write cache is in force");   // the commit may still come about
        }
        else if (cache is not null)
        {
            await cache.Leave();
        }

        pool.Allocator.Release(former);
        return result;
    }

    private static IEnumerable<MetadataRecord> RecordsOf(VirtualDiskDescription before, VirtualDiskDescription after, List<RowMapping> rows)
    {
        if (after.CacheSpace != SpaceId.None)
        {
            yield return new SpaceCreated(new SpaceDescription(after.CacheSpace, after.Id, SpaceKind.WriteCache, 1, after.CacheCopies));
            yield return new RowsMapped(after.CacheSpace, 0, after.CacheCopies, [.. rows]);
        }

        yield return new VirtualDiskChanged(after);
        if (before.CacheSpace != SpaceId.None)
        {
            yield return new SpaceRemoved(before.CacheSpace);
        }
    }

    private static List<IReadOnlyList<SlabPlace>> CopiesOf(Pool pool, List<RowMapping> rows, VirtualDiskDescription disk) =>
        [.. Enumerable.Range(0, disk.CacheCopies).Select(copy => rows.ConvertAll(row => PoolSpaceHost.PlaceOf(pool, row.Sources[copy])))];

    private static WriteCacheOptions CacheOptions(Pool pool, PoolSpaceHost host, VirtualDiskDescription disk)
    {
        SpaceState ring = pool.State.Space(disk.CacheSpace)!;
        return CacheOptions(pool, host, disk, CopiesOf(pool, ring), StaleCopiesOf(ring));
    }

    private static WriteCacheOptions CacheOptions(
        Pool pool, PoolSpaceHost host, VirtualDiskDescription disk, IReadOnlyList<IReadOnlyList<SlabPlace>> copies, int staleCopies) => new()
        {
            Owner = OwnerOf(pool, disk.CacheSpace),
            Copies = copies,
            StaleCopies = staleCopies,
            Length = disk.WriteCacheSize,
            Destage = disk.Destage,
            MarkStale = copy => host.MarkRingStale(disk.CacheSpace, copy),
            ClearStale = copy => host.ClearRingStale(disk.CacheSpace, copy),
            RankOf = number => pool.State.Disk(new DiskNumber((ushort)number)) is { } member ? RankOf(member.Description) : 0,
            MinuteOfDay = () => (int)pool.Environment.Lane.UtcNow.ToLocalTime().TimeOfDay.TotalMinutes,
        };

    /// <summary>How fast a medium is, compared with others; a disk that is there for journals is not slower than flash.</summary>
    private static int RankOf(DiskDescription disk) =>
        disk.Media() == MediaType.SCM ? 2 : disk.Media() == MediaType.SSD || disk.Usage == DiskUsage.Journal ? 1 : 0;
}
