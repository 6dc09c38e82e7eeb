using TierSpaces.Engine.Formats;
using TierSpaces.Engine.Pools;
using TierSpaces.Engine.Primitives;
using TierSpaces.Engine.Resiliency;

namespace TierSpaces.Engine.VirtualDisks;

/// <summary>
/// Services of a pool to one space, a part of a virtual disk: rows are reserved, committed and given back through the pool's metadata. Before an
/// eviction completes, the disk has left the view and the space's dirty regions are stale on it.
/// </summary>
internal sealed class PoolSpaceHost(Pool pool, VirtualDiskId owner, TierDescription part) : PoolMemberHost(pool), ISpaceHost
{
    private const int FreeRowTries = 60;
    private const long RetryNs = 1_000_000_000;

    private readonly Pool _pool = pool;
    private readonly Dictionary<int, SlabRef[]> _reserved = [];

    /// <summary>The space, once it is open.</summary>
    internal Space? Space { get; set; }

    public LaneTask<RowGrant> ReserveRow(uint space, int row)
    {
        RowState? owned = _pool.State.Space(new SpaceId(space))?.Row(row);
        if (owned is not null)
        {
            return LaneTask.FromResult(Grant(owned.Mapping.Sources.ToArray()));   // a fixed disk's row before its first write
        }

        VirtualDiskDescription disk = _pool.State.VirtualDisk(owner)!;
        AllocationPreferences preferences = AllocationPreferences.For(disk, Part);
        if (!_pool.Allocator.TryReserveRow(Part.NumberOfColumns, Part.NumberOfDataCopies, preferences, out SlabRef[] slabs, out string _)
            && !_pool.Allocator.TryReserveDegradedRow(Part.NumberOfColumns, Part.NumberOfDataCopies, preferences, out slabs))
        {
            return LaneTask.FromResult(new RowGrant(IoError.NoSpace, []));
        }

        _reserved[row] = slabs;
        return LaneTask.FromResult(Grant(slabs));
    }

    public LaneTask<IoError> OwnRow(uint space, int row) => MapRow(space, row, isInitialized: false);

    public LaneTask<IoError> CommitRow(uint space, int row) => MapRow(space, row, isInitialized: true);

    private async LaneTask<IoError> MapRow(uint space, int row, bool isInitialized)
    {
        SpaceId id = new(space);
        SlabRef[] slabs = _reserved.TryGetValue(row, out SlabRef[]? reserved) ? reserved : _pool.State.Space(id)!.Row(row)!.Mapping.Sources.ToArray();
        CommitResult result = await _pool.Commit(new RowsMapped(id, row, slabs.Length, [new RowMapping(slabs, isInitialized: isInitialized)]));
        if (result.Succeeded)
        {
            _reserved.Remove(row);
        }

        bool isDiskRemoved = result.Status == CommitStatus.Refused && Array.Exists(slabs, slab => _pool.State.Disk(slab.Disk) is null);
        return isDiskRemoved ? IoError.TryAgain : ErrorOf(result);   // an empty disk may be removed while a row is being made on it
    }

    public void CancelRow(uint space, int row)
    {
        if (_reserved.Remove(row, out SlabRef[]? slabs))
        {
            _pool.Allocator.Release(slabs);
        }
    }

    public async LaneTask<IoError> FreeRow(uint space, int row)
    {
        SpaceId id = new(space);
        SlabRef[] slabs = _pool.State.Space(id)!.Row(row)!.Mapping.Sources.ToArray();
        _pool.Allocator.Hold(slabs);
        CommitResult result = await _pool.Commit(new RowsFreed(id, row, 1));
        for (int tries = 0; tries < FreeRowTries && result.Status == CommitStatus.NoSpace; tries++)
        {
            await Lane.Delay(RetryNs);   // the first commit may still be applied: until that is known the slabs stay held
            result = _pool.State.Space(id)?.Row(row) is null ? CommitResult.Committed : await _pool.Commit(new RowsFreed(id, row, 1));
        }

        result = _pool.State.Space(id)?.Row(row) is null ? CommitResult.Committed : result;
        if (result.Succeeded)
        {
            await Punch(_pool, slabs);
        }

        _pool.Allocator.LetGo(slabs);
        return ErrorOf(result);
    }

    public async LaneTask<IoError> MarkStale(uint space, int row, int position, ushort regions) =>
        ErrorOf(await _pool.Commit(new StaleMarked(new SpaceId(space), [new StaleEntry(row, (ushort)position, regions)])));

    public async LaneTask<IoError> ClearStale(uint space, int row, int position, ushort regions) =>
        ErrorOf(await _pool.Commit(new StaleCleared(new SpaceId(space), [new StaleEntry(row, (ushort)position, regions)])));

    public LaneTask<IoError> MarkLogStale(uint space, int copy) => MarkRingStale(LogSpace, copy);

    public LaneTask<IoError> ClearLogStale(uint space, int copy) => ClearRingStale(LogSpace, copy);

    private protected override IoError Fault => Space?.Fault ?? IoError.None;

    private protected override LaneTask<IoError> OnDiskLost(int disk) => Space?.OnDiskLost(disk) ?? LaneTask.FromResult(IoError.None);

    private TierDescription Part => _pool.State.VirtualDisk(owner)!.Part(part.Number) ?? part;   // a tier that is being added is not in it yet

    private SpaceId LogSpace => Part.LogSpace;

    private RowGrant Grant(SlabRef[] slabs) => new(IoError.None, Array.ConvertAll(slabs, slab => PlaceOf(_pool, slab)));
}
