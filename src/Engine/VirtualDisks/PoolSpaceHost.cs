using TierSpaces.Engine.Formats;
using TierSpaces.Engine.Pools;
using TierSpaces.Engine.Primitives;
using TierSpaces.Engine.Resiliency;

namespace TierSpaces.Engine.VirtualDisks;

// Invariant
//  1. Slabs go back to the pool, by CancelRow and FreeRow, when no request of this lane to them is under way at a disk any more, given-up ones included.

/// <summary>
/// Services of a pool to one space, a part of a virtual disk: rows are reserved, committed and given back through the pool's metadata. Before an
/// eviction completes, the disk has left the view and the space's dirty regions are stale on it.
/// </summary>
internal sealed class PoolSpaceHost(PoolLink link, VirtualDiskId owner, TierDescription part) : PoolMemberHost(link), ISpaceHost
{
    private readonly PoolLink _link = link;
    private readonly Dictionary<int, SlabRef[]> _reserved = [];

    /// <summary>The space, once it is open.</summary>
    internal Space? Space { get; private set; }

    /// <summary>The space is open.</summary>
    internal void Serve(Space space) => Space = space;

    public async LaneTask<RowGrant> ReserveRow(uint space, int row)
    {
        TierDescription now = Part;
        FoundRow found = await _link.Ask(pool => LaneTask.FromResult(RowOrders.Reserve(pool, owner, now, row)));
        if (found.Slabs.Length == 0)
        {
            return new RowGrant(IoError.NoSpace, []);
        }

        if (!found.IsOwned)
        {
            _reserved[row] = found.Slabs;
        }

        return new RowGrant(IoError.None, Array.ConvertAll(found.Slabs, slab => PlaceOf(_link.State, slab)));
    }

    public LaneTask<IoError> OwnRow(uint space, int row) => MapRow(space, row, isInitialized: false);

    public LaneTask<IoError> CommitRow(uint space, int row) => MapRow(space, row, isInitialized: true);

    private async LaneTask<IoError> MapRow(uint space, int row, bool isInitialized)
    {
        SpaceId id = new(space);
        SlabRef[] slabs = _reserved.TryGetValue(row, out SlabRef[]? reserved) ? reserved : _link.State.Space(id)!.Row(row)!.Mapping.Sources.ToArray();
        IoError error = await _link.Ask(pool => RowOrders.Map(pool, id, row, slabs, isInitialized));
        if (error == IoError.None)
        {
            _reserved.Remove(row);
        }

        return error;
    }

    public void CancelRow(uint space, int row)
    {
        if (_reserved.Remove(row, out SlabRef[]? slabs))
        {
            ReleaseSlabs(slabs).Forget();
        }
    }

    public async LaneTask<IoError> FreeRow(uint space, int row)
    {
        SpaceId id = new(space);
        await _link.AwaitGivenUp(_link.State.Space(id)!.Row(row)!.Mapping.Sources.ToArray());
        return await _link.Ask(pool => RowOrders.Free(pool, id, row));
    }

    public LaneTask<IoError> MarkStale(uint space, int row, int position, ushort regions) =>
        Commit(new StaleMarked(new SpaceId(space), [new StaleEntry(row, (ushort)position, regions)]));

    public LaneTask<IoError> ClearStale(uint space, int row, int position, ushort regions) =>
        Commit(new StaleCleared(new SpaceId(space), [new StaleEntry(row, (ushort)position, regions)]));

    public LaneTask<IoError> MarkLogStale(uint space, int copy) => MarkRingStale(LogSpace, copy);

    public LaneTask<IoError> ClearLogStale(uint space, int copy) => ClearRingStale(LogSpace, copy);

    private protected override IoError Fault => Space?.Fault ?? IoError.None;

    private protected override LaneTask<IoError> OnDiskLost(int disk) => Space?.OnDiskLost(disk) ?? LaneTask.FromResult(IoError.None);

    private TierDescription Part => _link.State.VirtualDisk(owner)!.Part(part.Number) ?? part;   // a tier that is being added is not in it yet

    private SpaceId LogSpace => Part.LogSpace;

    private async LaneTask<IoError> Commit(MetadataRecord record) => ErrorOf(await _link.Commit(record));

    private async LaneTask ReleaseSlabs(SlabRef[] slabs)
    {
        await _link.AwaitGivenUp(slabs);
        _link.Tell(pool => pool.Allocator.Release(slabs));
    }
}
