using TierSpaces.Engine.Formats;
using TierSpaces.Engine.Primitives;

namespace TierSpaces.Engine.Pools;

// A degraded row takes disks that give nothing to other rows: retired disks and disks that are away. It is for a first write if the other disks have no room
// for the whole row. The copies on a retired disk are complete at once, and a repair moves them when another disk has room. The slabs on a disk that is away
// are reserved and stale, and are made whole when the disk is back or has been replaced.
//
// Invariants
//  1. Every column has a copy on a disk that is present and not retired, with parity all columns but those that it can lose, so the retired and missing disks
//     can go without a loss.
//  2. A disk is chosen only while no better one that the row may take is left: present, then present and retired, then away, then away and retired.

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
    /// <param name="preferences">Fault domains of the row.</param>
    internal static DiskState[] Choose(IEnumerable<Candidate> candidates, int columns, int copies, AllocationPreferences preferences)
    {
        RowRule rule = new(columns, copies, preferences);
        List<Candidate> chosen = [];
        foreach (Candidate candidate in candidates
            .OrderBy(static disk => disk.Rank).ThenByDescending(static disk => disk.Free).ThenBy(static disk => disk.Number))
        {
            int isolated = chosen.Count(other => DomainOf(other, preferences.ColumnIsolation) == DomainOf(candidate, preferences.ColumnIsolation));
            int beside = chosen.Count(other => DomainOf(other, preferences.FaultDomainAwareness) == DomainOf(candidate, preferences.FaultDomainAwareness));
            if (chosen.Count < rule.Positions && isolated == 0 && beside < rule.Share)
            {
                chosen.Add(candidate);
            }
        }

        IEnumerable<IGrouping<string, Candidate>> domains = chosen.GroupBy(disk => DomainOf(disk, preferences.FaultDomainAwareness));
        Candidate[] row = chosen.Count < rule.Positions ? [] : rule.IsByDisk ? Deal(chosen, columns, copies)
            : DealDomains([.. domains.Select(static domain => domain.ToList())], columns, copies);
        bool isReadable = preferences.PositionsPerDomain > 0 ? row.Count(static disk => !disk.Stays) <= preferences.PositionsPerDomain
            : row.Chunk(copies).All(static column => Array.Exists(column, static disk => disk.Stays));
        return isReadable ? Array.ConvertAll(row, static disk => disk.Disk) : [];
    }

    private static string DomainOf(Candidate disk, FaultDomainLevel level) => FaultDomains.DomainOf(disk.Disk.Description, level);

    /// <summary>Deals disks to columns one after another, the best ones first.</summary>
    private static Candidate[] Deal(List<Candidate> disks, int columns, int copies)
    {
        Candidate[] row = new Candidate[columns * copies];
        for (int i = 0; i < row.Length; i++)
        {
            row[(i % columns * copies) + (i / columns)] = disks[i];
        }

        return row;
    }

    /// <summary>
    /// Deals the disks of domains to columns, none of which gets two of one domain. A domain that has a disk for each column that is left gives one; a column
    /// takes no more disks that stay than it must while others are left.
    /// </summary>
    private static Candidate[] DealDomains(List<List<Candidate>> domains, int columns, int copies)
    {
        List<Candidate> row = [];
        for (int column = 0; column < columns; column++)
        {
            List<List<Candidate>> giving = [.. domains.OrderByDescending(static domain => domain.Count)
                .ThenByDescending(static domain => domain.Count(static disk => disk.Stays)).Take(copies)];
            List<Candidate> taken = giving.ConvertAll(static domain => domain[^1]);   // the worst
            int sparing = taken.Exists(static disk => disk.Stays) ? -1 : giving.FindIndex(static domain => domain[0].Stays);
            if (sparing >= 0)
            {
                taken[sparing] = giving[sparing][0];
            }

            for (int i = 0; i < taken.Count; i++)
            {
                giving[i].Remove(taken[i]);
            }

            row.AddRange(taken);
        }

        return [.. row];
    }
}
