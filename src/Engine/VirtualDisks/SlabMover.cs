using System.Collections.Immutable;
using TierSpaces.Engine.Formats;
using TierSpaces.Engine.Pools;
using TierSpaces.Engine.Primitives;
using TierSpaces.Engine.Resiliency;

namespace TierSpaces.Engine.VirtualDisks;

/// <summary>A slab that is to move.</summary>
/// <param name="Row">Row of the virtual disk's data; −1: a copy of its integrity log, which moves as a whole.</param>
/// <param name="Position">Position in the row, or copy of the log.</param>
/// <param name="From">Disk it is on.</param>
public readonly record struct SlabMove(int Row, int Position, DiskNumber From);

// Moves slabs of one virtual disk: off retired and lost disks, or to a disk chosen by a planner.
//
// A target is never on a disk that the row is on already, nor in a fault domain that holds another copy of it. Hot spares are
// taken only where nothing else is left. The former slab is held until no request uses it, punched, and only then free.

/// <summary>Moves slabs of one open virtual disk.</summary>
public sealed class SlabMover(Pool pool, OpenVirtualDisk open)
{
    /// <summary>Whether slabs must not stay on a disk: it is retired, or missing and the pool's policy gives it up.</summary>
    public static bool MustLeave(Pool pool, DiskNumber disk)
    {
        if (pool.State.Disk(disk)?.Description is not { } known)
        {
            return true;
        }

        bool hasSpare = pool.State.Disks.Values.Any(other => other.Description.Usage == DiskUsage.HotSpare && pool.Disk(other.Description.Number) is not null);
        return known.Usage == DiskUsage.Retired || (!pool.View.Contains(disk) && pool.State.Pool!.RetireMissingPhysicalDisks switch
        {
            RetireMissingPhysicalDisks.Always => true,
            RetireMissingPhysicalDisks.Auto => hasSpare,
            _ => false,
        });
    }

    /// <summary>Slabs that are to leave their disks, in the order in which they are moved.</summary>
    public List<SlabMove> Plan()
    {
        List<SlabMove> moves = [];
        if (Log is { } log && log.Row(0) is { } first)
        {
            moves.AddRange(first.Mapping.Sources.ToArray().Select((slab, copy) => new SlabMove(-1, copy, slab.Disk)));
        }

        foreach ((int index, RowState row) in Data.EnumerateRows())
        {
            moves.AddRange(row.Mapping.Sources.ToArray().Select((slab, position) => new SlabMove(index, position, slab.Disk)));
        }

        return moves.FindAll(move => MustLeave(pool, move.From));
    }

    /// <summary>Does one move, to a disk of <paramref name="targets"/> or (empty) to any that fits.</summary>
    public LaneTask<RepairEnd> Move(SlabMove move, ImmutableArray<DiskNumber> targets, IWorkPacer pacer) =>
        move.Row < 0 ? MoveLog(move, targets, pacer) : MoveData(move, targets, pacer);

    /// <summary>Whether a disk may take a slab: none of the row is on it, and no other copy is in its fault domain.</summary>
    public bool Fits(SlabMove move, DiskNumber target) => !Excluded(move).Contains(target);

    private SpaceState Data => pool.State.Space(open.Description.DataSpace)!;

    private SpaceState? Log => pool.State.Space(open.Description.LogSpace);

    private async LaneTask<RepairEnd> MoveData(SlabMove move, ImmutableArray<DiskNumber> targets, IWorkPacer pacer)
    {
        AllocationPreferences preferences = AllocationPreferences.For(open.Description) with { ExcludedDisks = Excluded(move) };
        if (Data.Row(move.Row) is not { } row || row.Mapping.Sources[move.Position].Disk != move.From
            || !open.Disk.Space.CanMove(move.Row, move.Position) || Reserve(preferences, targets) is not [var target])
        {
            return RepairEnd.Incomplete;
        }

        SlabRef source = row.Mapping.Sources[move.Position];
        pool.Allocator.Hold([source]);
        RepairEnd end = await open.Disk.Space.Move(move.Row, move.Position, PoolSpaceHost.PlaceOf(pool, target), Commit, pacer);
        return await Free(end, [source], [target]);

        async LaneTask<IoError> Commit()
        {
            RowMapping now = Data.Row(move.Row)!.Mapping;
            SlabRef[] sources = now.Sources.ToArray();
            if (sources[move.Position] != source)
            {
                return IoError.Io;   // another move was faster: the slab it was freed from is nobody's business here
            }

            sources[move.Position] = target;
            CommitResult result = await pool.Commit(
                new RowsMapped(open.Description.DataSpace, move.Row, sources.Length, [new RowMapping(sources, isInitialized: now.IsInitialized)]));
            return PoolSpaceHost.ErrorOf(result);
        }
    }

    private async LaneTask<RepairEnd> MoveLog(SlabMove move, ImmutableArray<DiskNumber> targets, IWorkPacer pacer)
    {
        RowMapping[] rows = [.. Log!.EnumerateRows().Select(row => row.Row.Mapping)];
        SlabRef[] old = Array.ConvertAll(rows, row => row.Sources[move.Position]);
        List<SlabRef> reserved = [];
        AllocationPreferences preferences = new() { Purpose = AllocationPurpose.Log, ExcludedDisks = Excluded(move) };
        while (reserved.Count < rows.Length && Reserve(preferences, reserved.Count == 0 ? targets : [reserved[0].Disk]) is [var slab])
        {
            reserved.Add(slab);
        }

        SlabRef[] target = [.. reserved];
        if (target.Length < rows.Length)
        {
            pool.Allocator.Release(target);
            return RepairEnd.Incomplete;
        }

        pool.Allocator.Hold(old);
        SlabPlace[] places = Array.ConvertAll(target, slab => PoolSpaceHost.PlaceOf(pool, slab));
        RepairEnd end = await open.Disk.Space.MoveLog(move.Position, places, Commit, pacer);
        return await Free(end, old, target);

        async LaneTask<IoError> Commit()
        {
            if (Log.EnumerateRows().Where((row, i) => row.Row.Mapping.Sources[move.Position] != old[i]).Any())
            {
                return IoError.Io;
            }

            RowMapping[] moved = [.. rows.Select((_, i) =>
            {
                SlabRef[] sources = Log.Row(i)!.Mapping.Sources.ToArray();
                sources[move.Position] = target[i];
                return new RowMapping(sources);
            })];
            CommitResult result = await pool.Commit(new RowsMapped(open.Description.LogSpace, 0, moved[0].Sources.Length, moved));
            return PoolSpaceHost.ErrorOf(result);
        }
    }

    private async LaneTask<RepairEnd> Free(RepairEnd end, SlabRef[] old, SlabRef[] target)
    {
        if (end == RepairEnd.Done)
        {
            await PoolSpaceHost.Punch(pool, old);
        }
        else
        {
            pool.Allocator.Release(target);
        }

        pool.Allocator.Release(old);
        return end;
    }

    private SlabRef[] Reserve(AllocationPreferences preferences, ImmutableArray<DiskNumber> targets)
    {
        AllocationPreferences wanted = targets.IsDefaultOrEmpty ? preferences : preferences with { AllowedDisks = targets };
        return pool.Allocator.TryReserveRow(1, 1, wanted, out SlabRef[] row, out _)
            || pool.Allocator.TryReserveRow(1, 1, wanted with { TakesHotSpares = true }, out row, out _) ? row : [];
    }

    private ImmutableArray<DiskNumber> Excluded(SlabMove move)
    {
        SlabRef[] sources = [.. move.Row < 0 ? Log!.Row(0)!.Mapping.Sources : Data.Row(move.Row)!.Mapping.Sources];
        FaultDomainLevel level = move.Row < 0 ? FaultDomainLevel.PhysicalDisk : open.Description.FaultDomainAwareness;
        int copies = move.Row < 0 ? sources.Length : open.Description.NumberOfDataCopies;
        HashSet<string> domains = [];
        for (int position = 0; position < sources.Length && level != FaultDomainLevel.PhysicalDisk; position++)
        {
            if (position % copies != move.Position % copies)
            {
                domains.Add(FaultDomains.DomainOf(pool.State.Disks[sources[position].Disk].Description, level));
            }
        }

        return [.. pool.State.Disks.Values.Select(disk => disk.Description).Where(disk =>
            Array.Exists(sources, slab => slab.Disk == disk.Number)
            || (domains.Count > 0 && domains.Contains(FaultDomains.DomainOf(disk, level)))).Select(disk => disk.Number)];
    }
}
