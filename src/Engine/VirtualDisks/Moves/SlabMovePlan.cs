using System.Collections.Immutable;
using TierSpaces.Engine.Formats;
using TierSpaces.Engine.Pools;
using TierSpaces.Engine.Primitives;

namespace TierSpaces.Engine.VirtualDisks;

// Slabs of one virtual disk that are to move: off disks that they are to leave (LeavingDisks), or to disks of usage Journal what belongs there.
//
// A copy of a ring belongs on a disk of usage Journal as soon as the pool has as many of these as the ring has copies, in as many fault domains.
//
// Its write cache may be in another pool: then its moves are between disks of that pool, and disk numbers in them are that pool's.
//
// A target is never on a disk that the row is on already, nor in a fault domain that may hold no more of the row (RowRule). Hot spares are
// taken only where nothing else is left.

/// <summary>Finds slabs of a virtual disk that are to move, and disks that they may move to. Moves nothing.</summary>
/// <param name="pool">The pool of the virtual disk: itself on its lane, or a snapshot.</param>
/// <param name="remote">The other pool that its write cache is in, if that is open; else null.</param>
/// <param name="disk">The virtual disk.</param>
internal sealed class SlabMovePlan(IPoolReader pool, IPoolReader? remote, VirtualDiskDescription disk)
{
    private IPoolReader CachePool => remote ?? pool;

    /// <summary>Whether the pool's policy gives missing disks up: always, never, or while it has a hot spare.</summary>
    internal static bool GivesUpMissing(IPoolReader pool) => pool.State.Pool!.RetireMissingPhysicalDisks switch
    {
        RetireMissingPhysicalDisks.Always => true,
        RetireMissingPhysicalDisks.Auto => pool.State.Disks.Values.Any(
            disk => disk.Description.Usage == DiskUsage.HotSpare && pool.IsUsable(disk.Description.Number)),
        _ => false,
    };

    /// <summary>Slabs that are to leave their disks, in the order in which they are moved.</summary>
    /// <param name="givesUpMissing">Whether that includes missing disks where the pool's policy allows it.</param>
    internal List<SlabMove> Moves(bool givesUpMissing)
    {
        HashSet<DiskNumber> leaving = [.. LeavingDisks.Of(pool, givesUpMissing)];
        HashSet<DiskNumber> leavingCache = CachePool == pool ? leaving : [.. LeavingDisks.Of(CachePool, givesUpMissing)];
        return leaving.Count + leavingCache.Count == 0 ? MisplacedRings()
            : All().FindAll(move => ((move.Row == SlabMove.Cache ? leavingCache : leaving).Contains(move.From) && MustLeave(move)) || IsMisplaced(move));
    }

    /// <summary>Copies of rings that belong on disks of usage Journal, are elsewhere, and have room there.</summary>
    internal List<SlabMove> MisplacedRings() => [.. Rings().Where(IsMisplaced)];

    /// <summary>The pool whose disks a move is between.</summary>
    internal IPoolReader PoolOf(SlabMove move) => move.Row == SlabMove.Cache ? CachePool : pool;

    /// <summary>The slabs that move: a copy of a ring moves as a whole.</summary>
    internal SlabRef[] SlabsAt(SlabMove move) => move.IsRing
        ? [.. RingOf(move)!.EnumerateRows().Select(row => row.Row.Mapping.Sources[move.Position])] : [Data(move).Row(move.Row)!.Mapping.Sources[move.Position]];

    /// <summary>Whether every byte of a slab could be copied to another place now, as far as the pool knows.</summary>
    internal bool CanMove(SlabMove move) => move.IsRing ? RingOf(move) is not null : Data(move).Row(move.Row) is { } row
        && (!row.Mapping.IsInitialized || CopySurvey.CanGive(pool, disk.Part(move.Part)!, row, move.Position));

    /// <summary>Room for a slab, or for a whole copy of a ring on one disk; empty when there is none.</summary>
    /// <param name="move">The move.</param>
    /// <param name="targets">Disks that it may go to; empty: any that fits.</param>
    internal SlabRef[] Reserve(SlabMove move, ImmutableArray<DiskNumber> targets) =>
        move.IsRing ? ReserveRing(move, targets) : Reserve(pool, DataPreferences(move), targets);

    /// <summary>The record by which slabs take the places of those that move, in the order of <see cref="SlabsAt"/>.</summary>
    internal RowsMapped RecordOf(SlabMove move, SlabRef[] to)
    {
        SpaceState space = move.IsRing ? RingOf(move)! : Data(move);
        RowMapping[] rows = move.IsRing ? [.. space.EnumerateRows().Select(static row => row.Row.Mapping)] : [space.Row(move.Row)!.Mapping];
        RowMapping[] moved = [.. rows.Select((row, i) =>
        {
            SlabRef[] sources = row.Sources.ToArray();
            sources[move.Position] = to[i];
            return new RowMapping(sources, isInitialized: row.IsInitialized);
        })];
        return new RowsMapped(space.Description.Id, Math.Max(move.Row, 0), moved[0].Sources.Length, moved);
    }

    /// <summary>Whether a slab on a disk that slabs are to leave is one of these: a ring stays on a disk for journals that is there.</summary>
    internal bool MustLeave(SlabMove move) =>
        !move.IsRing || UsageOf(PoolOf(move), move.From) != DiskUsage.Journal || !PoolOf(move).View.Contains(move.From);

    private bool IsMisplaced(SlabMove move)
    {
        if (!move.IsRing || UsageOf(PoolOf(move), move.From) is DiskUsage.Journal or DiskUsage.Retired)
        {
            return false;
        }

        AllocationPreferences preferences = RingPreferences(move);
        DiskDescription[] journals = [.. PoolOf(move).State.Disks.Values.Select(static disk => disk.Description)
            .Where(disk => disk.Usage == DiskUsage.Journal && PoolOf(move).IsUsable(disk.Number) && RowRule.IsKnown(disk, preferences))];
        if (journals.DistinctBy(disk => FaultDomains.DomainOf(disk, preferences.FaultDomainAwareness)).Count() < RingOf(move)!.Description.Copies)
        {
            return false;
        }

        SlabRef[] target = ReserveRing(move, [.. journals.Select(static disk => disk.Number)]);
        PoolOf(move).Allocator.Release(target);
        return target.Length > 0;
    }

    private static DiskUsage UsageOf(IPoolReader pool, DiskNumber disk) => pool.State.Disks[disk].Description.Usage;

    internal List<SlabMove> All()
    {
        List<SlabMove> moves = [.. Rings()];
        for (int part = 0; part < disk.Parts.Length; part++)
        {
            SlabMove data = new(0, 0, default, part);
            foreach ((int index, RowState row) in Data(data).EnumerateRows())
            {
                moves.AddRange(row.Mapping.Sources.ToArray().Select((slab, position) => new SlabMove(index, position, slab.Disk, data.Part)));
            }
        }

        return moves;
    }

    private IEnumerable<SlabMove> Rings() => Enumerable.Range(0, disk.Parts.Length).Select(static part => new SlabMove(SlabMove.Log, 0, default, part))
        .Prepend(new SlabMove(SlabMove.Cache, 0, default)).SelectMany(ring =>
            (RingOf(ring)?.Row(0)?.Mapping.Sources.ToArray() ?? []).Select((slab, copy) => ring with { Position = copy, From = slab.Disk }));

    private AllocationPreferences DataPreferences(SlabMove move) =>
        AllocationPreferences.For(disk, disk.Part(move.Part)!) with { ExcludedDisks = Excluded(move) };

    /// <summary>Whether a disk may take a slab: none of the row is on it, and its fault domain may hold one more.</summary>
    internal bool Fits(SlabMove move, DiskNumber target) => RuleOf(move).Fits(RowOf(move), move.Position, PoolOf(move).State.Disks[target].Description);

    internal SpaceState Data(SlabMove move) => pool.State.Space(disk.Part(move.Part)!.DataSpace)!;

    internal SpaceState? RingOf(SlabMove move) =>
        move.Row == SlabMove.Log ? pool.State.Space(disk.Part(move.Part)!.LogSpace)
        : disk.IsCacheElsewhere && remote is null ? null   // out of reach
        : CachePool.State.Space(disk.CacheSpace);

    /// <summary>Room for a whole copy of a ring on one disk; empty when there is none.</summary>
    private SlabRef[] ReserveRing(SlabMove move, ImmutableArray<DiskNumber> targets)
    {
        int count = RingOf(move)!.EnumerateRows().Count();
        List<SlabRef> reserved = [];
        AllocationPreferences preferences = RingPreferences(move) with { ExcludedDisks = Excluded(move) };
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

    private static SlabRef[] Reserve(IPoolReader at, AllocationPreferences preferences, ImmutableArray<DiskNumber> targets)
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
        TierDescription part = disk.Part(move.Part)!;
        return move.IsRing ? new RowRule(1, RowOf(move).Length, RingPreferences(move))
            : new RowRule(part.NumberOfColumns, part.NumberOfDataCopies, AllocationPreferences.For(disk, part));
    }

    private AllocationPreferences RingPreferences(SlabMove move) => move.Row == SlabMove.Log
        ? AllocationPreferences.ForLog(disk.Part(move.Part)!) : AllocationPreferences.ForCache(disk);
}
