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

// Moves slabs of one virtual disk: off disks that they are to leave (LeavingDisks), to disks of usage Journal what belongs there, or to a disk chosen by a
// planner.
//
// A copy of a ring belongs on a disk of usage Journal as soon as the pool has as many of these as the ring has copies, in as many fault domains.
//
// Its write cache may be in another pool: then its moves are between disks of that pool, and disk numbers in them are that pool's.
//
// A target is never on a disk that the row is on already, nor in a fault domain that may hold no more of the row (RowRule). Hot spares are
// taken only where nothing else is left. The former slab is held until no request uses it, punched, and only then free.

/// <summary>Moves slabs of one open virtual disk.</summary>
public sealed class SlabMover(Pool pool, OpenVirtualDisk open)
{
    /// <summary>Whether the pool's policy gives missing disks up: always, never, or while it has a hot spare.</summary>
    public static bool GivesUpMissing(Pool pool) => pool.State.Pool!.RetireMissingPhysicalDisks switch
    {
        RetireMissingPhysicalDisks.Always => true,
        RetireMissingPhysicalDisks.Auto => pool.State.Disks.Values.Any(
            disk => disk.Description.Usage == DiskUsage.HotSpare && pool.Disk(disk.Description.Number) is not null),
        _ => false,
    };

    /// <summary>Slabs that are to leave their disks, in the order in which they are moved.</summary>
    /// <param name="givesUpMissing">Whether that includes missing disks where the pool's policy allows it.</param>
    public List<SlabMove> Plan(bool givesUpMissing)
    {
        HashSet<DiskNumber> leaving = [.. LeavingDisks.Of(pool, givesUpMissing)];
        HashSet<DiskNumber> leavingCache = CachePool == pool ? leaving : [.. LeavingDisks.Of(CachePool, givesUpMissing)];
        return leaving.Count + leavingCache.Count == 0 ? MisplacedRings()
            : All().FindAll(move => ((move.Row == SlabMove.Cache ? leavingCache : leaving).Contains(move.From) && MustLeave(move)) || IsMisplaced(move));
    }

    /// <summary>Copies of rings that belong on disks of usage Journal, are elsewhere, and have room there.</summary>
    internal List<SlabMove> MisplacedRings() => [.. Rings().Where(IsMisplaced)];

    /// <summary>The same with the disk that each slab would go to, moved one after another now; null where there is no room.</summary>
    public List<(SlabMove Move, DiskNumber? To)> PlanTargets(bool givesUpMissing)
    {
        List<(Pool Pool, SlabRef[] Slabs)> reserved = [];
        List<(SlabMove Move, DiskNumber? To)> targets = [];
        foreach (SlabMove move in Plan(givesUpMissing))
        {
            DiskNumber[] taken = [.. targets.Where(other => other.Move.Row == move.Row && other.Move.Part == move.Part && other.To is not null)
                .Select(other => other.To!.Value)];
            SlabRef[] target = move.IsRing ? ReserveRing(move, [], taken) : Reserve(pool, DataPreferences(move, taken), []);
            reserved.Add((PoolOf(move), target));
            targets.Add((move, target.Length > 0 ? target[0].Disk : null));
        }

        reserved.ForEach(static part => part.Pool.Allocator.Release(part.Slabs));
        return targets;
    }

    /// <summary>Whether a slab that is on a certain disk of a pool could be moved to another one now.</summary>
    public bool CanLeave(Pool from, DiskNumber disk)
    {
        Dictionary<string, bool> known = [];   // by the disks of the row: there are few combinations
        return All().Exists(move => IsOn(move, from, disk) && MustLeave(move) && CanMove(move) && HasTarget(move, known));
    }

    /// <summary>Whether each slab that is on a certain disk of a pool has, by itself, somewhere to go.</summary>
    public bool CanAllLeave(Pool from, DiskNumber disk)
    {
        Dictionary<string, bool> known = [];
        return All().TrueForAll(move => !IsOn(move, from, disk) || (CanMove(move) && HasTarget(move, known)));
    }

    /// <summary>The pool whose disks a move is between.</summary>
    internal Pool PoolOf(SlabMove move) => move.Row == SlabMove.Cache ? CachePool : pool;

    /// <summary>Slabs that move with it: a copy of a ring moves as a whole.</summary>
    internal int SlabsOf(SlabMove move) => move.IsRing ? RingOf(move)!.MappedRows : 1;

    private Pool CachePool => open.Remote?.Pool ?? pool;

    private bool IsOn(SlabMove move, Pool from, DiskNumber disk) => move.From == disk && PoolOf(move) == from;

    /// <summary>Whether a slab on a disk that slabs are to leave is one of these: a ring stays on a disk for journals that is there.</summary>
    private bool MustLeave(SlabMove move) =>
        !move.IsRing || UsageOf(PoolOf(move), move.From) != DiskUsage.Journal || !PoolOf(move).View.Contains(move.From);

    private bool IsMisplaced(SlabMove move)
    {
        if (!move.IsRing || UsageOf(PoolOf(move), move.From) is DiskUsage.Journal or DiskUsage.Retired)
        {
            return false;
        }

        AllocationPreferences preferences = RingPreferences(move);
        DiskDescription[] journals = [.. PoolOf(move).State.Disks.Values.Select(static disk => disk.Description)
            .Where(disk => disk.Usage == DiskUsage.Journal && PoolOf(move).Disk(disk.Number) is not null && RowRule.IsKnown(disk, preferences))];
        if (journals.DistinctBy(disk => FaultDomains.DomainOf(disk, preferences.FaultDomainAwareness)).Count() < RingOf(move)!.Description.Copies)
        {
            return false;
        }

        SlabRef[] target = ReserveRing(move, [.. journals.Select(static disk => disk.Number)]);
        PoolOf(move).Allocator.Release(target);
        return target.Length > 0;
    }

    private static DiskUsage UsageOf(Pool pool, DiskNumber disk) => pool.State.Disks[disk].Description.Usage;

    private List<SlabMove> All()
    {
        List<SlabMove> moves = [.. Rings()];
        for (int part = 0; part < open.Parts.Count; part++)
        {
            SlabMove data = new(0, 0, default, part);
            foreach ((int index, RowState row) in Data(data).EnumerateRows())
            {
                moves.AddRange(row.Mapping.Sources.ToArray().Select((slab, position) => new SlabMove(index, position, slab.Disk, data.Part)));
            }
        }

        return moves;
    }

    private IEnumerable<SlabMove> Rings() => Enumerable.Range(0, open.Parts.Count).Select(static part => new SlabMove(SlabMove.Log, 0, default, part))
        .Prepend(new SlabMove(SlabMove.Cache, 0, default)).SelectMany(ring =>
            (RingOf(ring)?.Row(0)?.Mapping.Sources.ToArray() ?? []).Select((slab, copy) => ring with { Position = copy, From = slab.Disk }));

    private bool CanMove(SlabMove move) => move.IsRing || SpaceOf(move).CanMove(move.Row, move.Position);

    private bool HasTarget(SlabMove move, Dictionary<string, bool> known)
    {
        ImmutableArray<SlabRef> row = [.. move.IsRing ? RingOf(move)!.Row(0)!.Mapping.Sources : Data(move).Row(move.Row)!.Mapping.Sources];
        string key = $"{Math.Min(move.Row, 0)}:{move.Part}:{move.Position}:{string.Join(',', row.Select(slab => slab.Disk.Value))}";
        if (!known.TryGetValue(key, out bool has))
        {
            SlabRef[] target = move.IsRing ? ReserveRing(move, []) : Reserve(pool, DataPreferences(move), []);
            PoolOf(move).Allocator.Release(target);
            known[key] = has = target.Length > 0;
        }

        return has;
    }

    private AllocationPreferences DataPreferences(SlabMove move, IEnumerable<DiskNumber>? taken = null) =>
        AllocationPreferences.For(open.Description, open.Description.Part(move.Part)!) with { ExcludedDisks = [.. Excluded(move), .. taken ?? []] };

    /// <summary>Does one move, to a disk of <paramref name="targets"/> or (empty) to any that fits.</summary>
    public LaneTask<RepairEnd> Move(SlabMove move, ImmutableArray<DiskNumber> targets, IWorkPacer pacer) =>
        move.IsRing ? MoveRing(move, targets, pacer) : MoveData(move, targets, pacer);

    /// <summary>Whether a disk may take a slab: none of the row is on it, and its fault domain may hold one more.</summary>
    public bool Fits(SlabMove move, DiskNumber target) => RuleOf(move).Fits(RowOf(move), move.Position, PoolOf(move).State.Disks[target].Description);

    private SpaceState Data(SlabMove move) => pool.State.Space(open.Description.Part(move.Part)!.DataSpace)!;

    private Space SpaceOf(SlabMove move) => open.Parts[move.Part].Space;

    private SpaceState? RingOf(SlabMove move) =>
        move.Row == SlabMove.Log ? pool.State.Space(open.Description.Part(move.Part)!.LogSpace)
        : open.Description.IsCacheElsewhere && open.Remote is null ? null   // out of reach
        : CachePool.State.Space(open.Description.CacheSpace);

    private async LaneTask<RepairEnd> MoveData(SlabMove move, ImmutableArray<DiskNumber> targets, IWorkPacer pacer)
    {
        if (Data(move).Row(move.Row) is not { } row || row.Mapping.Sources[move.Position].Disk != move.From
            || !CanMove(move) || Reserve(pool, DataPreferences(move), targets) is not [var target])
        {
            return RepairEnd.Incomplete;
        }

        SlabRef source = row.Mapping.Sources[move.Position];
        pool.Allocator.Hold([source]);
        RepairEnd end = await SpaceOf(move).Move(move.Row, move.Position, PoolSpaceHost.PlaceOf(pool, target), Commit, pacer);
        return await Free(pool, end, [source], [target]);

        async LaneTask<IoError> Commit()
        {
            RowMapping now = Data(move).Row(move.Row)!.Mapping;
            SlabRef[] sources = now.Sources.ToArray();
            if (sources[move.Position] != source)
            {
                return IoError.Io;   // another move was faster, and frees the source itself
            }

            sources[move.Position] = target;
            CommitResult result = await pool.Commit(
                new RowsMapped(Data(move).Description.Id, move.Row, sources.Length, [new RowMapping(sources, isInitialized: now.IsInitialized)]));
            return PoolSpaceHost.ErrorOf(result);
        }
    }

    private async LaneTask<RepairEnd> MoveRing(SlabMove move, ImmutableArray<DiskNumber> targets, IWorkPacer pacer)
    {
        if (RingOf(move) is not { } ring)
        {
            return RepairEnd.Incomplete;   // given up since it was planned
        }

        RowMapping[] rows = [.. ring.EnumerateRows().Select(row => row.Row.Mapping)];
        SlabRef[] old = Array.ConvertAll(rows, row => row.Sources[move.Position]);
        SlabRef[] target = ReserveRing(move, targets);
        if (target.Length == 0)
        {
            return RepairEnd.Incomplete;
        }

        Pool at = PoolOf(move);
        at.Allocator.Hold(old);
        SlabPlace[] places = Array.ConvertAll(target, slab => PoolMemberHost.PlaceOf(at, slab));
        RepairEnd end = move.Row == SlabMove.Log ? await SpaceOf(move).MoveLog(move.Position, places, Commit, pacer)
            : open.Cache is { } cache ? await cache.Move(move.Position, places, Commit, pacer) : RepairEnd.Incomplete;
        return await Free(at, end, old, target);

        async LaneTask<IoError> Commit()
        {
            if (RingOf(move) is not { } now || now.Description.Id != ring.Description.Id
                || now.EnumerateRows().Where((row, i) => row.Row.Mapping.Sources[move.Position] != old[i]).Any())
            {
                return IoError.Io;
            }

            RowMapping[] moved = [.. rows.Select((_, i) =>
            {
                SlabRef[] sources = now.Row(i)!.Mapping.Sources.ToArray();
                sources[move.Position] = target[i];
                return new RowMapping(sources);
            })];
            CommitResult result = await at.Commit(new RowsMapped(ring.Description.Id, 0, moved[0].Sources.Length, moved));
            return PoolSpaceHost.ErrorOf(result);
        }
    }

    private async LaneTask<RepairEnd> Free(Pool at, RepairEnd end, SlabRef[] old, SlabRef[] target)
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

    /// <summary>Room for a whole copy of a ring on one disk; empty when there is none.</summary>
    private SlabRef[] ReserveRing(SlabMove move, ImmutableArray<DiskNumber> targets, IEnumerable<DiskNumber>? taken = null)
    {
        int count = RingOf(move)!.EnumerateRows().Count();
        List<SlabRef> reserved = [];
        AllocationPreferences preferences = RingPreferences(move) with { ExcludedDisks = [.. Excluded(move), .. taken ?? []] };
        while (reserved.Count < count && Reserve(PoolOf(move), preferences, reserved.Count == 0 ? targets : [reserved[0].Disk]) is [var slab])
        {
            reserved.Add(slab);
        }

        if (reserved.Count == count)
        {
            return [.. reserved];
        }

        PoolOf(move).Allocator.Release(reserved.ToArray());
        return [];
    }

    private SlabRef[] Reserve(Pool at, AllocationPreferences preferences, ImmutableArray<DiskNumber> targets)
    {
        AllocationPreferences wanted = targets.IsDefaultOrEmpty ? preferences : preferences with { AllowedDisks = targets };
        return at.Allocator.TryReserveRow(1, 1, wanted, out SlabRef[] row, out _)
            || at.Allocator.TryReserveRow(1, 1, wanted with { TakesHotSpares = true }, out row, out _) ? row : [];
    }

    private ImmutableArray<DiskNumber> Excluded(SlabMove move)
    {
        RowRule rule = RuleOf(move);
        IEnumerable<DiskDescription> disks = PoolOf(move).State.Disks.Values.Select(static disk => disk.Description);
        DiskDescription[] row = RowOf(move);
        return [.. disks.Where(disk => !rule.Fits(row, move.Position, disk)).Select(static disk => disk.Number)];
    }

    private DiskDescription[] RowOf(SlabMove move)
    {
        PoolState state = PoolOf(move).State;
        SlabRef[] sources = [.. move.IsRing ? RingOf(move)!.Row(0)!.Mapping.Sources : Data(move).Row(move.Row)!.Mapping.Sources];
        return Array.ConvertAll(sources, slab => state.Disks[slab.Disk].Description);
    }

    private RowRule RuleOf(SlabMove move)
    {
        TierDescription part = open.Description.Part(move.Part)!;
        return move.IsRing ? new RowRule(1, RowOf(move).Length, RingPreferences(move))
            : new RowRule(part.NumberOfColumns, part.NumberOfDataCopies, AllocationPreferences.For(open.Description, part));
    }

    private AllocationPreferences RingPreferences(SlabMove move) => move.Row == SlabMove.Log
        ? AllocationPreferences.ForLog(open.Description.Part(move.Part)!) : AllocationPreferences.ForCache(open.Description);
}
