using System.Collections.Immutable;
using TierSpaces.Engine.Formats;
using TierSpaces.Engine.Pools;
using TierSpaces.Engine.Primitives;
using TierSpaces.Engine.VirtualDisks;

namespace TierSpaces.Engine.Management;

/// <summary>Slabs that would move from one disk to another.</summary>
/// <param name="VirtualDisk">Name of the virtual disk whose slabs they are.</param>
/// <param name="Kind">Kind of their content.</param>
/// <param name="From">The disk that they are on.</param>
/// <param name="To">The disk that they would be on; null where they would stay: there is no room for them, or no good copy.</param>
/// <param name="Each">Each of them, in the order in which they move.</param>
public sealed record PlannedMoves(string VirtualDisk, SpaceKind Kind, string From, string? To, PlannedSlab[] Each)
{
    /// <summary>Number of slabs.</summary>
    public int Slabs => Each.Length;
}

/// <summary>A slab that would move.</summary>
/// <param name="FromOffset">Offset of its data on the disk that it is on, in bytes.</param>
/// <param name="ToOffset">Offset on the disk that it would be on; null where it would stay.</param>
public readonly record struct PlannedSlab(long FromOffset, long? ToOffset);

/// <summary>Slabs that a verb would move.</summary>
/// <param name="SlabBytes">Bytes of data in a slab of the pool.</param>
/// <param name="Moves">The moves, in their order.</param>
/// <param name="More">Slabs that would move after these, about; 0: none.</param>
public sealed record PlannedSlabMoves(long SlabBytes, PlannedMoves[] Moves, long More = 0);

/// <summary>Bytes and slabs that a repair would copy.</summary>
/// <param name="BytesToResync">Bytes of copies that are behind.</param>
/// <param name="Moved">Slabs that leave their disks.</param>
public sealed record RepairPlacement(long BytesToResync, PlannedSlabMoves Moved);

// Moves that jobs would make, one slab after another: each move is applied to a snapshot of its pool, and the next one is chosen there by the code that
// chooses for the job itself. A job that has the pool for itself moves the same slabs to the same places; those of several virtual disks that run side by side
// may take each other's.

/// <summary>Slabs of virtual disks that would move.</summary>
/// <param name="pools">The pools now. None of these snapshots is used by anybody else any more.</param>
internal sealed class SlabForecast(IReadOnlyDictionary<PoolId, PoolSnapshot> pools)
{
    private readonly Dictionary<PoolId, PoolSnapshot> _pools = new(pools);   // after the moves so far
    private readonly List<(VirtualDiskDescription Disk, PoolId Pool, SlabMove Move, SlabRef[] From, SlabRef[] To)> _moves = [];

    /// <summary>A pool after the changes so far.</summary>
    internal PoolSnapshot Pool(PoolId id) => _pools[id];

    /// <summary>Applies a change to a pool.</summary>
    internal void Change(PoolId pool, MetadataRecord record) => _pools[pool] = _pools[pool].After(record);

    /// <summary>Slabs of a virtual disk that are to leave their disks, in the order in which they are moved.</summary>
    internal List<SlabMove> Leaving(DiskToPlan disk, bool givesUpMissing) => PlanOf(disk).Moves(givesUpMissing);

    /// <summary>Moves slabs of a virtual disk.</summary>
    internal void Move(DiskToPlan disk, List<SlabMove> moves) => moves.ForEach(move => Move(disk, move, []));

    /// <summary>Evens out how full the disks of a pool are, by so many moves at most. Returns how many slabs are left to move, about.</summary>
    internal long Rebalance(PoolId pool, IReadOnlyList<VirtualDiskDescription> disks, int most)
    {
        HashSet<(Guid Disk, SlabMove Move, DiskNumber To)> failed = [];
        while (_moves.Count < most && RebalancePlanner.Next(_pools[pool], disks, (disk, move, to) => !failed.Contains((disk.Id.Value, move, to)))
            is var (disk, move, to))
        {
            if (!Move(new DiskToPlan(pool, disk.Id, null), move, [to]))
            {
                _moves.RemoveAt(_moves.Count - 1);
                failed.Add((disk.Id.Value, move, to));
            }
        }

        return _moves.Count < most ? 0 : RebalancePlanner.Surplus(_pools[pool]);
    }

    /// <summary>The moves so far, those between the same disks together.</summary>
    internal PlannedMoves[] Moves()
    {
        Dictionary<PoolId, Extents> extents = _pools.ToDictionary(static pool => pool.Key, static pool => new Extents(pool.Value));
        return
        [
            .. _moves.GroupBy(static move => (
                    move.Disk.Id, move.Pool, move.Move.From, To: move.To.Length > 0 ? move.To[0].Disk : (DiskNumber?)null, move.Move.Part,
                    Kind: KindOf(move.Move)))
                .Select(group => new PlannedMoves(
                    group.First().Disk.FriendlyName, group.Key.Kind, NameOf(group.Key.Pool, group.Key.From),
                    group.Key.To is { } to ? NameOf(group.Key.Pool, to) : null,
                    [.. group.SelectMany(move => move.From.Select((slab, i) => new PlannedSlab(
                        extents[move.Pool].OffsetOf(slab), move.To.Length > 0 ? extents[move.Pool].OffsetOf(move.To[i]) : null)))])),
        ];
    }

    private bool Move(DiskToPlan disk, SlabMove move, ImmutableArray<DiskNumber> targets)
    {
        SlabMovePlan plan = PlanOf(disk);
        SlabRef[] from = plan.SlabsAt(move);
        SlabRef[] to = plan.CanMove(move) ? plan.Reserve(move, targets) : [];
        PoolId at = plan.PoolOf(move).Id;
        _moves.Add((_pools[disk.Pool].State.VirtualDisk(disk.Id)!, at, move, from, to));
        if (to.Length > 0)
        {
            Change(at, plan.RecordOf(move, to));
        }

        return to.Length > 0;
    }

    private SlabMovePlan PlanOf(DiskToPlan disk) => new(
        _pools[disk.Pool], disk.CachePool is { } other ? _pools.GetValueOrDefault(other) : null, _pools[disk.Pool].State.VirtualDisk(disk.Id)!);

    private string NameOf(PoolId pool, DiskNumber number) => _pools[pool].State.Disk(number)!.Description.FriendlyName;

    private static SpaceKind KindOf(SlabMove move) => move.Row switch
    {
        SlabMove.Log => SpaceKind.IntegrityLog,
        SlabMove.Cache => SpaceKind.WriteCache,
        _ => SpaceKind.Data,
    };
}

/// <summary>A virtual disk whose slabs a forecast moves.</summary>
/// <param name="Pool">Its pool.</param>
/// <param name="Id">Its identity.</param>
/// <param name="CachePool">The other pool that its write cache is in; null: it is in its own, or out of reach.</param>
internal readonly record struct DiskToPlan(PoolId Pool, VirtualDiskId Id, PoolId? CachePool);
