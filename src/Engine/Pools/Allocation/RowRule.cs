using TierSpaces.Engine.Formats;
using TierSpaces.Engine.Primitives;

namespace TierSpaces.Engine.Pools;

// Disks that may hold the positions of one row.
//
// A row takes one slab each from n distinct disks. Disks of one domain of column isolation are one unit; a row takes at most one of them. Units are in fault
// domains; a row takes at most `share` units of one domain. At the level of the disk, every disk is a unit and a domain of its own.
//
//  - A mirror of c columns has a share of c: a row's disks, dealt to columns domain by domain, never give two copies of a column to one domain.
//  - Parity has a share of the columns that it can lose.
//
// With free slabs f of the units of a domain, R rows take at most min(share × R, sum(min(f, R))) slabs there. The most rows that there can be is the largest
// R for which these add up to n × R. A domain's k-th unit must be taken by each of R rows if it has R slabs or the domain reaches share × R. So the units
// that are taken first are those for which that is true of the largest R; a property test holds that choice against the formula.
//
// Invariants
//  1. A domain gives a row at most its share, and a unit gives it at most one slab.
//  2. A disk whose domain is not known gives nothing to a row that looks at domains of that level.

/// <summary>Chooses the disks of rows of one shape.</summary>
internal sealed class RowRule
{
    private readonly AllocationPreferences _preferences;
    private readonly int _columns;
    private readonly int _copies;

    internal RowRule(int columns, int copies, AllocationPreferences preferences)
    {
        (_columns, _copies, _preferences) = (columns, copies, preferences);
        Share = preferences.PositionsPerDomain > 0 ? preferences.PositionsPerDomain : columns;
    }

    /// <summary>Slabs of a row.</summary>
    internal int Positions => _columns * _copies;

    /// <summary>Most of them in one fault domain.</summary>
    internal int Share { get; }

    /// <summary>Whether it looks at disks alone.</summary>
    internal bool IsByDisk => _preferences is { FaultDomainAwareness: FaultDomainLevel.PhysicalDisk, ColumnIsolation: FaultDomainLevel.PhysicalDisk };

    /// <summary>Whether the domains of a disk that matter are known.</summary>
    internal static bool IsKnown(DiskDescription disk, AllocationPreferences preferences) =>
        FaultDomains.DomainOf(disk, preferences.FaultDomainAwareness).Length > 0 && FaultDomains.DomainOf(disk, preferences.ColumnIsolation).Length > 0;

    /// <summary>Whether a disk may take a position of a row from the disk that has it.</summary>
    /// <param name="row">Disks of the row, by position.</param>
    /// <param name="position">The position.</param>
    /// <param name="target">The disk.</param>
    internal bool Fits(IReadOnlyList<DiskDescription> row, int position, DiskDescription target) =>
        row.All(disk => disk.Number != target.Number) && FitsBeside(row, position, target);

    /// <summary>Whether the disks of a row are in the domains that they should be in.</summary>
    internal bool IsKept(IReadOnlyList<DiskDescription> row) =>
        Enumerable.Range(0, row.Count).All(position => IsKnown(row[position], _preferences) && FitsBeside(row, position, row[position]));

    private bool FitsBeside(IReadOnlyList<DiskDescription> row, int position, DiskDescription target)
    {
        bool isShared = _preferences.PositionsPerDomain > 0;
        return IsByDisk || (
            CountBeside(row, position, target, _preferences.ColumnIsolation, static _ => true) == 0
            && CountBeside(row, position, target, _preferences.FaultDomainAwareness, other => isShared || other / _copies == position / _copies)
                < (isShared ? Share : 1));
    }

    /// <summary>Returns the most rows that these disks can have.</summary>
    internal long LargestRowCount(IEnumerable<(DiskState Disk, long Free)> disks)
    {
        List<Domain> domains = DomainsOf(disks);
        return Largest(domains.Sum(static domain => domain.Free) / Positions, rows => domains.Sum(domain => domain.Most(rows, Share)) >= Positions * rows);
    }

    /// <summary>Returns a disk for each position; empty if there are none, with the number that there are.</summary>
    internal DiskState[] Choose(IEnumerable<(DiskState Disk, long Free)> disks, out int found)
    {
        List<(DiskState Disk, string Domain)> chosen = DomainsOf(disks).SelectMany(domain => domain.Slots(Share))
            .OrderByDescending(static slot => slot.Need).ThenBy(static slot => slot.Index).ThenBy(static slot => slot.Disk.Description.Number)
            .Take(Positions).Select(static slot => (slot.Disk, slot.Domain)).ToList();
        found = chosen.Count;
        return found < Positions ? [] : IsByDisk ? [.. chosen.Select(static slot => slot.Disk)] : Deal(chosen);
    }

    /// <summary>Returns the largest number up to <paramref name="high"/> for which a condition is true that is true of all smaller ones.</summary>
    internal static long Largest(long high, Func<long, bool> isPossible)
    {
        long low = 0;
        while (low < high)
        {
            long middle = low + ((high - low + 1) / 2);
            (low, high) = isPossible(middle) ? (middle, high) : (low, middle - 1);
        }

        return low;
    }

    /// <summary>The most rows of so many units each, from units with these free slabs.</summary>
    internal static long LargestCount(List<long> free, int each) => Largest(free.Sum() / each, rows => free.Sum(f => Math.Min(f, rows)) >= each * rows);

    /// <summary>
    /// Deals disks to columns one after another, domain by domain: a domain has at most one for each column, so its disks come to different ones.
    /// </summary>
    private DiskState[] Deal(List<(DiskState Disk, string Domain)> chosen)
    {
        DiskState[] row = new DiskState[Positions];
        DiskState[] byDomain = [.. chosen.GroupBy(static slot => slot.Domain).SelectMany(static domain => domain.Select(static slot => slot.Disk))];
        for (int i = 0; i < byDomain.Length; i++)
        {
            row[(i % _columns * _copies) + (i / _columns)] = byDomain[i];
        }

        return row;
    }

    private static int CountBeside(IReadOnlyList<DiskDescription> row, int position, DiskDescription target, FaultDomainLevel level, Func<int, bool> counts)
    {
        string domain = FaultDomains.DomainOf(target, level);
        return Enumerable.Range(0, row.Count).Count(other => other != position && counts(other) && FaultDomains.DomainOf(row[other], level) == domain);
    }

    private List<Domain> DomainsOf(IEnumerable<(DiskState Disk, long Free)> disks) =>
    [
        .. disks.GroupBy(disk => FaultDomains.DomainOf(disk.Disk.Description, _preferences.ColumnIsolation)).Select(static unit => new Unit(unit))
            .GroupBy(unit => FaultDomains.DomainOf(unit.Disk.Description, _preferences.FaultDomainAwareness))
            .Select(static units => new Domain(units.Key, units)),
    ];

    /// <summary>A unit of a domain as a row may take it.</summary>
    /// <param name="Disk">The disk with most free slabs.</param>
    /// <param name="Domain">Its fault domain.</param>
    /// <param name="Index">Number of units of the domain that are taken before it.</param>
    /// <param name="Need">The most rows all of which have to take it.</param>
    private readonly record struct Slot(DiskState Disk, string Domain, int Index, long Need);

    /// <summary>Disks of which a row takes at most one.</summary>
    private sealed class Unit
    {
        internal Unit(IEnumerable<(DiskState Disk, long Free)> disks)
        {
            List<(DiskState Disk, long Free)> all = [.. disks];
            Disk = all.OrderByDescending(static disk => disk.Free).ThenBy(static disk => disk.Disk.Description.Number).First().Disk;
            Free = all.Sum(static disk => disk.Free);
        }

        internal DiskState Disk { get; }

        internal long Free { get; }
    }

    /// <summary>Units of one fault domain.</summary>
    private sealed class Domain(string name, IEnumerable<Unit> units)
    {
        private readonly List<Unit> _units =
            [.. units.Where(static unit => unit.Free > 0).OrderByDescending(static unit => unit.Free).ThenBy(static unit => unit.Disk.Description.Number)];

        internal long Free => _units.Sum(static unit => unit.Free);

        /// <summary>The most slabs that so many rows can take here.</summary>
        internal long Most(long rows, int share) => Math.Min(share * rows, _units.Sum(unit => Math.Min(unit.Free, rows)));

        internal IEnumerable<Slot> Slots(int share)
        {
            long full = _units.Count < share ? 0 : LargestCount(_units.ConvertAll(static unit => unit.Free), share);
            return _units.Take(share).Select((unit, i) => new Slot(unit.Disk, name, i, Math.Max(unit.Free, full)));
        }
    }
}
