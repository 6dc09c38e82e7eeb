using TierSpaces.Engine.Caching;
using TierSpaces.Engine.Formats;
using TierSpaces.Engine.Lanes;
using TierSpaces.Engine.Pools;
using TierSpaces.Engine.Primitives;

namespace TierSpaces.Engine.VirtualDisks;

/// <summary>A virtual disk with its layers, or the reason why there is none.</summary>
/// <param name="Disk">The open disk, or null.</param>
/// <param name="Status">Status that stopped it; Committed on success.</param>
/// <param name="Reason">Reason of the failure, in words; empty on success.</param>
public readonly record struct VirtualDiskResult(OpenVirtualDisk? Disk, CommitStatus Status, string Reason);

/// <summary>Makes, opens, grows and removes virtual disks.</summary>
public static class VirtualDiskBuilder
{
    /// <summary>Makes a virtual disk and opens it on a lane; null: the pool's. Called on the pool's lane.</summary>
    public static async LaneTask<VirtualDiskResult> Create(Pool pool, VirtualDiskDescription spec, ILane? lane = null)
    {
        VirtualDiskDescription disk = NewDescriptions.Describe(pool, spec);
        NewRows rows = new();
        NewRows remote = new();
        Pool? cachePool = disk.IsCacheElsewhere ? RemoteRooms.CachePoolOf(pool, disk) : null;
        if (!rows.TryReserve(pool, disk, out string reason)
            || (cachePool is not null && !remote.TryReserveCache(cachePool, disk, disk.WriteCacheSize, out reason)))
        {
            rows.Release(pool);
            remote.Release(cachePool ?? pool);
            return new VirtualDiskResult(null, CommitStatus.NoSpace, reason);
        }

        CommitResult result = cachePool is null ? CommitResult.Committed : await RemoteRooms.ReserveRemote(cachePool, pool.Id, disk, remote);
        result = result.Succeeded ? await CommitNew(pool, disk, rows) : result;
        result = result.Succeeded ? await SpaceRecords.MapRows(pool, disk.CacheSpace, 0, rows.Cache) : result;
        for (int part = 0; part < disk.Parts.Length && result.Succeeded; part++)
        {
            result = await SpaceRecords.MapRows(pool, disk.Parts[part].DataSpace, 0, rows.Part(part).Data);
        }

        if (!result.Succeeded)
        {
            rows.Release(pool);
            await Unmake(pool, disk);
            return new VirtualDiskResult(null, result.Status, result.Reason);
        }

        OpenVirtualDisk open;
        try
        {
            open = await VirtualDiskStack.Stack(pool, lane ?? pool.Environment.Lane, disk, isNew: true);
        }
        catch (IOException problem)
        {
            await Unmake(pool, disk);
            return new VirtualDiskResult(null, CommitStatus.Refused, problem.Message);
        }

        string fault = await open.Call(() => LaneTask.FromResult(
            open.Fault != IoError.None || open.Cache is { IsGone: true } ? open.FaultReason + open.Cache?.StateReason : ""));
        if (fault.Length == 0)
        {
            result = await pool.Commit(new VirtualDiskChanged(disk with { IsBeingCreated = false }));
            if (result.Succeeded)
            {
                open.Redescribe(pool.State.VirtualDisk(disk.Id)!);
                return new VirtualDiskResult(open, CommitStatus.Committed, "");
            }
        }

        await open.Call(open.Close);
        await Unmake(pool, disk);
        return new VirtualDiskResult(null, result.Succeeded ? CommitStatus.NoQuorum : result.Status, result.Succeeded ? fault : result.Reason);
    }

    /// <summary>Takes a virtual disk out of the metadata, punches its slabs and gives them back. It is not open any more.</summary>
    public static async LaneTask<CommitResult> Remove(Pool pool, VirtualDiskId id)
    {
        if (pool.State.VirtualDisk(id) is not { } disk)
        {
            return CommitResult.Committed;
        }

        List<SlabRef> slabs = [];
        List<MetadataRecord> records = [];
        foreach (SpaceState space in pool.State.Spaces.Values.Where(space => space.Description.Owner == id))
        {
            slabs.AddRange(space.EnumerateRows().SelectMany(row => row.Row.Mapping.Sources.ToArray()));
            records.Add(new SpaceRemoved(space.Description.Id));
        }

        records.Add(new VirtualDiskRemoved(id));
        SlabRef[] freed = [.. slabs];
        pool.Allocator.Hold(freed);
        CommitResult result = await pool.Commit([.. records]);
        if (result.Succeeded)
        {
            await PoolSpaceHost.Punch(pool, freed);
            await ForgetRemoved(pool, disk);
        }

        pool.Allocator.LetGo(freed);
        return result;
    }

    /// <summary>The removal of a virtual disk is committed: what it had outside of its pool is given back.</summary>
    internal static async LaneTask<Nothing> ForgetRemoved(Pool pool, VirtualDiskDescription disk)
    {
        await RemoteRooms.FreeRemote(pool, disk);
        foreach (TierDescription part in disk.Parts)
        {
            await pool.Environment.State.ReleaseMemory(VirtualDiskStack.JournalName(pool.Id, part.DataSpace));
        }

        return default;
    }

    /// <summary>Takes away what there is of a disk that could not be made.</summary>
    private static async LaneTask<Nothing> Unmake(Pool pool, VirtualDiskDescription disk)
    {
        if ((await Remove(pool, disk.Id)).Succeeded)
        {
            await RemoteRooms.FreeRemote(pool, disk);   // also where nothing named it yet
        }

        return default;
    }

    private static async LaneTask<CommitResult> CommitNew(Pool pool, VirtualDiskDescription disk, NewRows rows)
    {
        List<MetadataRecord> records = [new VirtualDiskCreated(disk)];
        for (int i = 0; i < disk.Parts.Length; i++)
        {
            records.AddRange(SpaceRecords.RecordsOf(disk.Id, disk.Parts[i], rows.Part(i).Log));
        }

        if (disk.CacheSpace != SpaceId.None && !disk.IsCacheElsewhere)
        {
            records.Add(new SpaceCreated(new SpaceDescription(disk.CacheSpace, disk.Id, SpaceKind.WriteCache, 1, disk.CacheCopies)));
        }

        return await pool.Commit([.. records]);
    }
}
