using System.Collections.Immutable;
using TierSpaces.Engine.Formats;
using TierSpaces.Engine.Pools;
using TierSpaces.Engine.Primitives;
using TierSpaces.Engine.Resiliency;

namespace TierSpaces.Engine.VirtualDisks;

/// <summary>A slab that is to move.</summary>
/// <param name="Row">Row of the virtual disk's data; −1: a copy of its integrity log, −2: of its write cache, which move as a whole.</param>
/// <param name="Position">Position in the row, or copy of the ring.</param>
/// <param name="From">Disk it is on.</param>
/// <param name="Part">Part of the virtual disk: number of its tier, 0 for a disk without tiers.</param>
public readonly record struct SlabMove(int Row, int Position, DiskNumber From, int Part = 0)
{
    internal const int Log = -1;
    internal const int Cache = -2;

    /// <summary>Whether it is a copy of a ring.</summary>
    public bool IsRing => Row < 0;
}

// Moves slabs of one virtual disk that a plan (SlabMovePlan) or a planner has chosen. It is used on the lane of the pool; the data moves on the lane of the
// virtual disk.
//
// Invariants
//  1. The slab to move is found again before each move, by the pool, and again by the space: the row may have been given back meanwhile.
//  2. The former slab is held until no request uses it, given-up ones included, punched, and only then free. So is a target that is not taken.

/// <summary>Moves slabs of one open virtual disk.</summary>
public sealed class SlabMover(Pool pool, OpenVirtualDisk open)
{
    /// <summary>The plan over the state now.</summary>
    internal SlabMovePlan Now => new(pool, open.RemotePool(pool), open.Description);

    /// <summary>Slabs that are to leave their disks, in the order in which they are moved.</summary>
    /// <param name="givesUpMissing">Whether that includes missing disks where the pool's policy allows it.</param>
    public List<SlabMove> Plan(bool givesUpMissing) => Now.Moves(givesUpMissing);

    /// <summary>Copies of rings that belong on disks of usage Journal, are elsewhere, and have room there.</summary>
    internal List<SlabMove> MisplacedRings() => Now.MisplacedRings();

    /// <summary>Whether a slab that is on a certain disk of a pool could be moved to another one now.</summary>
    public bool CanLeave(Pool from, DiskNumber disk)
    {
        Dictionary<string, bool> known = [];   // by the disks of the row: there are few combinations
        SlabMovePlan plan = Now;
        return plan.All().Exists(move => IsOn(move, from, disk) && plan.MustLeave(move) && CanMove(move) && HasTarget(move, known));
    }

    /// <summary>Whether each slab that is on a certain disk of a pool has, by itself, somewhere to go.</summary>
    public bool CanAllLeave(Pool from, DiskNumber disk)
    {
        Dictionary<string, bool> known = [];
        return Now.All().TrueForAll(move => !IsOn(move, from, disk) || (CanMove(move) && HasTarget(move, known)));
    }

    /// <summary>The pool whose disks a move is between.</summary>
    internal Pool PoolOf(SlabMove move) => move.Row == SlabMove.Cache ? CachePool : pool;

    private Pool CachePool => open.RemotePool(pool) ?? pool;

    private bool IsOn(SlabMove move, Pool from, DiskNumber disk) => move.From == disk && PoolOf(move) == from;

    /// <summary>Whether every byte of a slab could be copied to another place now, as far as the pool knows.</summary>
    internal bool CanMove(SlabMove move) => Now.CanMove(move);

    private bool HasTarget(SlabMove move, Dictionary<string, bool> known)
    {
        ImmutableArray<SlabRef> row = [.. move.IsRing ? Now.RingOf(move)!.Row(0)!.Mapping.Sources : Now.Data(move).Row(move.Row)!.Mapping.Sources];
        string key = $"{Math.Min(move.Row, 0)}:{move.Part}:{move.Position}:{string.Join(',', row.Select(slab => slab.Disk.Value))}";
        if (!known.TryGetValue(key, out bool has))
        {
            SlabRef[] target = Now.Reserve(move, []);
            PoolOf(move).Allocator.Release(target);
            known[key] = has = target.Length > 0;
        }

        return has;
    }

    /// <summary>Does one move, to a disk of <paramref name="targets"/> or (empty) to any that fits.</summary>
    public LaneTask<RepairEnd> Move(SlabMove move, ImmutableArray<DiskNumber> targets, IWorkPacer pacer) =>
        move.IsRing ? MoveRing(move, targets, pacer) : MoveData(move, targets, pacer);

    /// <summary>Whether a disk may take a slab: none of the row is on it, and its fault domain may hold one more.</summary>
    public bool Fits(SlabMove move, DiskNumber target) => Now.Fits(move, target);

    private Space SpaceOf(SlabMove move) => open.Parts[move.Part].Space;   // on its lane

    private async LaneTask<RepairEnd> MoveData(SlabMove move, ImmutableArray<DiskNumber> targets, IWorkPacer pacer)
    {
        if (Now.Data(move).Row(move.Row) is not { } row || row.Mapping.Sources[move.Position].Disk != move.From
            || !CanMove(move) || Now.Reserve(move, targets) is not [var target])
        {
            return RepairEnd.Incomplete;
        }

        SlabRef source = row.Mapping.Sources[move.Position];
        pool.Allocator.Hold([source]);
        SlabPlace from = PoolMemberHost.PlaceOf(pool.State, source);
        SlabPlace to = PoolMemberHost.PlaceOf(pool.State, target);
        RepairEnd end = await open.Call(async () => await AwaitUnused(
            open.Pool, await SpaceOf(move).Move(move.Row, move.Position, from, to, () => open.Pool.Ask(_ => Commit()), pacer), [source], [target]));
        return await Free(pool, end, [source], [target]);

        async LaneTask<IoError> Commit()
        {
            // Another move may have been faster, and frees the source itself.
            return Now.SlabsAt(move)[0] == source ? PoolSpaceHost.ErrorOf(await pool.Commit(Now.RecordOf(move, [target]))) : IoError.Io;
        }
    }

    private async LaneTask<RepairEnd> MoveRing(SlabMove move, ImmutableArray<DiskNumber> targets, IWorkPacer pacer)
    {
        if (Now.RingOf(move) is not { } ring)
        {
            return RepairEnd.Incomplete;   // given up since it was planned
        }

        SlabRef[] old = Now.SlabsAt(move);
        SlabRef[] target = Now.Reserve(move, targets);
        if (target.Length == 0)
        {
            return RepairEnd.Incomplete;
        }

        Pool at = PoolOf(move);
        at.Allocator.Hold(old);
        SlabPlace[] places = Array.ConvertAll(target, slab => PoolMemberHost.PlaceOf(at.State, slab));
        PoolLink link = at.LinkTo(open.Lane);
        RepairEnd end = await open.Call(async () =>
        {
            RepairEnd moved = move.Row == SlabMove.Log ? await SpaceOf(move).MoveLog(move.Position, places, () => link.Ask(_ => Commit()), pacer)
                : open.Cache is { } cache ? await cache.Move(move.Position, places, () => link.Ask(_ => Commit()), pacer) : RepairEnd.Incomplete;
            return await AwaitUnused(link, moved, old, target);
        });
        return await Free(at, end, old, target);

        async LaneTask<IoError> Commit()
        {
            bool isAsItWas = Now.RingOf(move)?.Description.Id == ring.Description.Id && Now.SlabsAt(move).SequenceEqual(old);
            return isAsItWas ? PoolSpaceHost.ErrorOf(await at.Commit(Now.RecordOf(move, target))) : IoError.Io;
        }
    }

    /// <summary>Waits, on the lane of the disk, until no request is under way to the slabs that the move leaves unused.</summary>
    private static async LaneTask<RepairEnd> AwaitUnused(PoolLink link, RepairEnd end, SlabRef[] old, SlabRef[] target)
    {
        await link.AwaitGivenUp(end == RepairEnd.Done ? old : target);
        return end;
    }

    private static async LaneTask<RepairEnd> Free(Pool at, RepairEnd end, SlabRef[] old, SlabRef[] target)
    {
        if (end == RepairEnd.Done)
        {
            await PoolSpaceHost.Punch(at, old);
        }
        else
        {
            at.Allocator.Release(target);
        }

        at.Allocator.LetGo(old);
        return end;
    }
}
