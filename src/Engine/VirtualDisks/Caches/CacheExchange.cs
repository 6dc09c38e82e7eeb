using TierSpaces.Engine.Caching;
using TierSpaces.Engine.Formats;
using TierSpaces.Engine.Pools;
using TierSpaces.Engine.Primitives;
using TierSpaces.Engine.Resiliency;

namespace TierSpaces.Engine.VirtualDisks;

// Another write cache for a disk that is in use, in crash order:
//  1. Slabs for the new ring are reserved; if they do not suffice, nothing changes.
//  2. The old ring is emptied; meanwhile writes go to the backing store.
//  3. Requests are held back. The new ring is made, durably, on slabs that belong to no space yet.
//  4. One commit puts the new ring into the old one's place. Requests go on, and the old slabs are free.
// A remote cache reserves slabs of the cache pool before 3, and frees the old ones after 4.

/// <summary>Exchanges the write cache of an open virtual disk.</summary>
public static class CacheExchange
{
    /// <summary>Gives an open disk a write cache of another size, or none.</summary>
    /// <param name="pool">The pool of the disk.</param>
    /// <param name="open">The disk.</param>
    /// <param name="bytes">Bytes of a copy, whole slabs of the pool that it is to be in.</param>
    /// <param name="cachePool">
    /// The pool that it is to be in, where that is another one. It stays the pool that it is in; one without a cache may be given one elsewhere.
    /// </param>
    public static async LaneTask<CommitResult> ResizeCache(Pool pool, OpenVirtualDisk open, long bytes, Pool? cachePool = null)
    {
        Pool at = cachePool ?? pool;
        NewRows rows = new();
        if (!rows.TryReserveCache(at, open.Description, bytes, out string reason))
        {
            rows.Release(at);
            return new CommitResult(CommitStatus.NoSpace, reason);
        }

        string undrained = await open.Call(() => Empty(open));
        if (undrained.Length > 0)
        {
            rows.Release(at);
            return new CommitResult(CommitStatus.Refused, undrained);
        }

        CommitResult result = await ExchangeCache(pool, at, open, bytes, rows);
        if (!result.Succeeded && await open.Call(() => LaneTask.FromResult(GoOnWithOld(open))) == IoError.None)
        {
            rows.Release(at);
        }

        return result;
    }

    /// <summary>Empties the ring and holds requests back. The reason why that is not possible; then requests go on.</summary>
    private static async LaneTask<string> Empty(OpenVirtualDisk open)
    {
        WriteCache? old = open.Cache;
        IoError drained = old is null ? IoError.None : await old.Drain();
        if (drained != IoError.None)
        {
            old!.Resume();
            return $"The write cache could not be emptied: {drained}. {old.StateReason}";
        }

        await open.Disk.Pause();
        drained = old is null ? IoError.None : await old.Drain();   // of what was on its way into the ring when it was emptied
        if (drained == IoError.None)
        {
            return "";
        }

        GoOnWithOld(open);
        return $"The write cache could not be emptied: {drained}.";
    }

    private static IoError GoOnWithOld(OpenVirtualDisk open)
    {
        WriteCache? old = open.Cache;
        old?.Resume();
        open.Disk.Resume(old);
        return open.Fault;
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
        CommitResult remote = at == pool || bytes == 0 ? CommitResult.Committed : await RemoteRooms.ReserveRemote(at, pool.Id, after, rows);
        if (!remote.Succeeded)
        {
            return remote;
        }

        PoolLink? elsewhere = at == pool ? null : at.LinkTo(open.Lane);
        List<IReadOnlyList<SlabPlace>> copies = CacheStack.CopiesOf(at.State, rows.Cache, after);
        (WriteCache? cache, string problem) = await open.Call(() => Make(open, elsewhere, after, copies));
        if (problem.Length > 0)
        {
            await RemoteRooms.FreeRemote(pool, after);
            return new CommitResult(CommitStatus.Refused, problem);
        }

        SlabRef[] former = SlabsOfCache(pool, before);
        pool.Allocator.Hold(former);
        CommitResult result = await pool.Commit([.. RecordsOf(before, after, rows.Cache)]);
        if (result.Succeeded)
        {
            open.Redescribe(pool.State.VirtualDisk(after.Id)!);
            await open.Call(() => Take(open, cache, former));
            await PoolMemberHost.Punch(pool, former);
            await RemoteRooms.FreeRemote(pool, before);
        }
        else if (result.Status != CommitStatus.Refused)
        {
            IoError error = result.Status == CommitStatus.NoSpace ? IoError.NoSpace : IoError.Io;
            await open.Call(() =>
            {
                // The commit may still be applied, or be found at the next opening.
                open.Backing.FailFront(error, "it is not known which write cache is in force");
                return LaneTask.FromResult(default(Nothing));
            });
        }
        else if (cache is not null)
        {
            await open.Call(cache.Leave);
            await RemoteRooms.FreeRemote(pool, after);
        }

        pool.Allocator.LetGo(former);
        return result;
    }

    /// <summary>Makes the new ring and suspends the old one; the reason why it could not be made.</summary>
    private static async LaneTask<(WriteCache? Cache, string Problem)> Make(
        OpenVirtualDisk open, PoolLink? elsewhere, VirtualDiskDescription after, List<IReadOnlyList<SlabPlace>> copies)
    {
        _ = elsewhere is not null ? await elsewhere.Update() : default;
        WriteCache? cache = after.WriteCacheSize == 0 ? null : await WriteCache.Create(
            open.Lane, open.Backing,
            CacheStack.CacheOptions(open.Pool, open.Parts[0].Host, elsewhere is null ? null : open.UseCachePool(elsewhere), after, copies, 0));
        if (cache is { State: WriteCacheState.Lost })
        {
            return (null, cache.StateReason);
        }

        _ = open.Cache is { } old ? await old.Suspend() : default;
        return (cache, "");
    }

    /// <summary>Puts the new ring into the place of the old one, whose slabs are not used any more afterwards.</summary>
    private static async LaneTask<Nothing> Take(OpenVirtualDisk open, WriteCache? cache, SlabRef[] former)
    {
        _ = open.Cache is { } old ? await old.Leave() : default;
        open.Disk.Resume(cache);
        return await open.Pool.AwaitGivenUp(former);
    }

    internal static IEnumerable<MetadataRecord> RecordsOf(VirtualDiskDescription before, VirtualDiskDescription after, List<RowMapping> rows)
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

    /// <summary>Slabs of its cache in its own pool.</summary>
    internal static SlabRef[] SlabsOfCache(Pool pool, VirtualDiskDescription disk) => disk.CacheSpace == SpaceId.None || disk.IsCacheElsewhere ? []
        : [.. pool.State.Space(disk.CacheSpace)!.EnumerateRows().SelectMany(row => row.Row.Mapping.Sources.ToArray())];
}
