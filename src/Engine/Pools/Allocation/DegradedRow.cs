using TierSpaces.Engine.Formats;
using TierSpaces.Engine.Primitives;

namespace TierSpaces.Engine.Pools;

// A degraded row takes disks that give nothing to other rows: retired disks and disks that are away. It is for a first write if the other disks have no room
// for the whole row. The copies on a retired disk are complete at once, and a repair moves them when another disk has room. The slabs on a disk that is away
// are reserved and stale, and are made whole when the disk is back or has been replaced.
//
// Invariants
//  1. Every column has a copy on a disk that is present and not retired, so the retired and missing disks can go without a loss.
//  2. A disk is chosen only while no better one of the same domain is left: present, then present and retired, then away, then away and retired.

/// <summary>Chooses the disks of a degraded row.</summary>
internal static class DegradedRow
{
    /// <summary>A disk that may be chosen.</summary>
    /// <param name="Disk">The disk.</param>
    /// <param name="Free">Its free slabs, at least one.</param>
    /// <param name="IsPresent">Whether it is in the view and serves.</param>
    internal readonly record struct Candidate(DiskState Disk, long Free, bool IsPresent)
    {
        /// <summary>Whether a copy on it stays there.</summary>
        internal bool Stays => IsPresent && !IsRetired;

        /// <summary>Best first.</summary>
        internal int Rank => (IsPresent ? 0 : 2) + (IsRetired ? 1 : 0);

        internal DiskNumber Number => Disk.Description.Number;

        private bool IsRetired => Disk.Description.Usage == DiskUsage.Retired;
    }

    /// <summary>Returns a disk for each position, or nothing if a column would have no copy that stays.</summary>
    /// <param name="candidates">The disks with free slabs.</param>
    /// <param name="columns">Columns of the row.</param>
    /// <param name="copies">Copies of each column.</param>
    /// <param name="level">Level of the fault domains that hold the copies of a column.</param>
    internal static DiskState[] Choose(IEnumerable<Candidate> candidates, int columns, int copies, FaultDomainLevel level)
    {
        bool isByDisk = level == FaultDomainLevel.PhysicalDisk;
        int groups = isByDisk ? columns * copies : copies;
        int disksEach = isByDisk ? 1 : columns;
        List<List<Candidate>> domains = candidates
            .GroupBy(disk => FaultDomains.DomainOf(disk.Disk.Description, level))
            .Select(domain => domain.OrderBy(static disk => disk.Rank).ThenByDescending(static disk => disk.Free).ThenBy(static disk => disk.Number).ToList())
            .Where(domain => domain.Count >= disksEach)
            .OrderByDescending(domain => domain.Take(disksEach).Count(static disk => disk.Stays))
            .ThenBy(domain => domain.Take(disksEach).Sum(static disk => disk.Rank))
            .ThenByDescending(domain => domain.Sum(static disk => disk.Free)).ThenBy(domain => domain[0].Number)
            .Take(groups).ToList();
        Candidate[] row = domains.Count == groups ? Deal(domains, columns, copies, disksEach) : [];
        bool hasAll = row.Length > 0 && Enumerable.Range(0, columns).All(column => row.Skip(column * copies).Take(copies).Any(static disk => disk.Stays));
        return hasAll ? Array.ConvertAll(row, static disk => disk.Disk) : [];
    }

    /// <summary>Deals disks to positions so that the best ones, which come first in each domain, come to different columns.</summary>
    private static Candidate[] Deal(List<List<Candidate>> domains, int columns, int copies, int disksEach)
    {
        Candidate[] row = new Candidate[columns * copies];
        for (int copy = 0; copy < copies; copy++)
        {
            for (int column = 0; column < columns; column++)
            {
                int other = copy % 2 == 0 ? column : columns - 1 - column;   // the worst disk of a domain and the best of the next one share a column
                row[(column * copies) + copy] = disksEach == 1 ? domains[(copy * columns) + column][0] : domains[copy][other];
            }
        }

        return row;
    }
}
