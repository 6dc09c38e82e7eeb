using TierSpaces.Engine.Devices;
using TierSpaces.Engine.Formats;
using TierSpaces.Engine.Lanes;
using TierSpaces.Engine.Pools;
using TierSpaces.Engine.Primitives;
using TierSpaces.Engine.Resiliency;

namespace TierSpaces.Engine.VirtualDisks;

/// <summary>
/// What one space, a part of a virtual disk, sees of its pool: rows are reserved, committed and given back through the pool's metadata; a disk leaves the view
/// and the space's dirty regions become stale on it before anyone goes on.
/// </summary>
internal sealed class PoolSpaceHost(Pool pool, VirtualDiskId owner, TierDescription part) : ISpaceHost
{
    private const int FreeRowTries = 60;
    private const long RetryNs = 1_000_000_000;

    private readonly Dictionary<int, SlabRef[]> _reserved = [];
    private readonly Dictionary<int, LaneSignal> _leaving = [];

    private Dictionary<(int Disk, DiskFinding Finding), long> _findings = [];

    /// <summary>The space, once it is open.</summary>
    internal Space? Space { get; set; }

    public ILane Lane => pool.Environment.Lane;

    public IDisk? Disk(int number) => pool.Disk(new DiskNumber((ushort)number));

    public bool IsLeaving(int number) => pool.IsLeaving(new DiskNumber((ushort)number));

    /// <summary>Where a slab of the pool is.</summary>
    internal static SlabPlace PlaceOf(Pool pool, SlabRef slab)
    {
        long start = pool.Layout(slab.Disk).SlabOffset(slab.Slab);
        return new SlabPlace(slab.Disk.Value, start, start + pool.Slabs.ChecksumBytes);
    }

    public LaneTask<RowGrant> ReserveRow(uint space, int row)
    {
        RowState? owned = pool.State.Space(new SpaceId(space))?.Row(row);
        if (owned is not null)
        {
            return LaneTask.FromResult(Grant(owned.Mapping.Sources.ToArray()));   // a fixed disk's row before its first write
        }

        VirtualDiskDescription disk = pool.State.VirtualDisk(owner)!;
        if (!pool.Allocator.TryReserveRow(
            Part.NumberOfColumns, Part.NumberOfDataCopies, AllocationPreferences.For(disk, Part), out SlabRef[] slabs, out string _))
        {
            return LaneTask.FromResult(new RowGrant(IoError.NoSpace, []));
        }

        _reserved[row] = slabs;
        return LaneTask.FromResult(Grant(slabs));
    }

    public async LaneTask<IoError> CommitRow(uint space, int row)
    {
        SpaceId id = new(space);
        SlabRef[] slabs = _reserved.TryGetValue(row, out SlabRef[]? reserved) ? reserved : pool.State.Space(id)!.Row(row)!.Mapping.Sources.ToArray();
        CommitResult result = await pool.Commit(new RowsMapped(id, row, slabs.Length, [new RowMapping(slabs)]));
        if (result.Succeeded)
        {
            _reserved.Remove(row);
        }

        return ErrorOf(result);
    }

    public void AbandonRow(uint space, int row)
    {
        if (_reserved.Remove(row, out SlabRef[]? slabs))
        {
            pool.Allocator.Release(slabs);
        }
    }

    public async LaneTask<IoError> FreeRow(uint space, int row)
    {
        SpaceId id = new(space);
        SlabRef[] slabs = pool.State.Space(id)!.Row(row)!.Mapping.Sources.ToArray();
        pool.Allocator.Hold(slabs);
        CommitResult result = await pool.Commit(new RowsFreed(id, row, 1));
        for (int tries = 0; tries < FreeRowTries && result.Status == CommitStatus.NoSpace; tries++)
        {
            await Lane.Delay(RetryNs);   // it may come about by itself: until that is known the slabs are nobody's
            result = pool.State.Space(id)?.Row(row) is null ? CommitResult.Committed : await pool.Commit(new RowsFreed(id, row, 1));
        }

        result = pool.State.Space(id)?.Row(row) is null ? CommitResult.Committed : result;
        if (result.Succeeded)
        {
            await Punch(pool, slabs);
        }

        pool.Allocator.Release(slabs);
        return ErrorOf(result);
    }

    /// <summary>Gives the ranges of slabs that nobody owns back below: a hole in an image, a discard on a device.</summary>
    internal static async LaneTask<Nothing> Punch(Pool pool, SlabRef[] slabs)
    {
        foreach (SlabRef slab in slabs)
        {
            if (pool.Disk(slab.Disk) is { } disk)
            {
                await disk.Unmap(pool.Layout(slab.Disk).SlabOffset(slab.Slab), pool.Slabs.Stride);
            }
        }

        return default;
    }

    public async LaneTask<IoError> MarkStale(uint space, int row, int position, ushort regions) =>
        ErrorOf(await pool.Commit(new StaleMarked(new SpaceId(space), [new StaleEntry(row, (ushort)position, regions)])));

    public async LaneTask<IoError> ClearStale(uint space, int row, int position, ushort regions) =>
        ErrorOf(await pool.Commit(new StaleCleared(new SpaceId(space), [new StaleEntry(row, (ushort)position, regions)])));

    public LaneTask<IoError> MarkLogStale(uint space, int copy) => MarkRingStale(LogSpace, copy);

    public LaneTask<IoError> ClearLogStale(uint space, int copy) => ClearRingStale(LogSpace, copy);

    /// <summary>Records that a copy of a ring misses something.</summary>
    internal async LaneTask<IoError> MarkRingStale(SpaceId ring, int copy) => pool.State.Space(ring) is null ? IoError.Io
        : ErrorOf(await pool.Commit(new StaleMarked(ring, [new StaleEntry(0, (ushort)copy, ushort.MaxValue)])));   // of a ring all rows or none are stale

    /// <summary>Records that it is whole again.</summary>
    internal async LaneTask<IoError> ClearRingStale(SpaceId ring, int copy) => pool.State.Space(ring) is null ? IoError.Io
        : ErrorOf(await pool.Commit(new StaleCleared(ring, StaleEntriesOf(ring, copy))));

    public async LaneTask<IoError> Evict(int disk, string reason)
    {
        if (_leaving.TryGetValue(disk, out LaneSignal? others))
        {
            await others.Wait();
            return Space?.Fault ?? IoError.None;
        }

        LaneSignal done = new();
        _leaving[disk] = done;
        CommitResult result = await pool.Evict(new DiskNumber((ushort)disk), reason);
        IoError error = ErrorOf(result);
        if (error == IoError.None && Space is not null)
        {
            error = await Space.OnDiskLost(disk);
        }

        _leaving.Remove(disk);
        done.NotifyAll();
        return error;
    }

    private TierDescription Part => pool.State.VirtualDisk(owner)!.Part(part.Number) ?? part;   // a tier that is being added is not in it yet

    private SpaceId LogSpace => Part.LogSpace;

    private StaleEntry[] StaleEntriesOf(SpaceId ring, int copy) =>
        [.. pool.State.Space(ring)!.EnumerateRows().Where(row => row.Row.Stale(copy) != 0).Select(row => new StaleEntry(row.Index, (ushort)copy, ushort.MaxValue))];

    public void Report(int disk, DiskFinding finding, int count) =>
        _findings[(disk, finding)] = _findings.GetValueOrDefault((disk, finding)) + count;

    /// <summary>What the space has reported since this was last asked.</summary>
    internal Dictionary<(int Disk, DiskFinding Finding), long> TakeFindings()
    {
        Dictionary<(int Disk, DiskFinding Finding), long> taken = _findings;
        _findings = [];
        return taken;
    }

    private RowGrant Grant(SlabRef[] slabs) => new(IoError.None, Array.ConvertAll(slabs, slab => PlaceOf(pool, slab)));

    internal static IoError ErrorOf(CommitResult result) => result.Status switch
    {
        CommitStatus.Committed => IoError.None,
        CommitStatus.NoSpace => IoError.NoSpace,
        _ => IoError.Io,
    };
}
