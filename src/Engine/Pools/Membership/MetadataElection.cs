using TierSpaces.Engine.Formats;
using TierSpaces.Engine.Primitives;

namespace TierSpaces.Engine.Pools;

// If the disks of a pool are in two enclosures or more, the loss of one enclosure must leave a metadata disk, and in pools of the first format version, in
// which only metadata disks vote, a majority of them: fewer than half of the metadata disks are in one enclosure, or, with two enclosures, half of them.
//
// Invariants
//  1. An enclosure gets a further metadata disk only if no enclosure then has more than half of them.
//  2. While other enclosures are away, the one that is left has at most two, so that those that return can balance it.

/// <summary>Chooses which disks hold metadata. Pure.</summary>
internal static class MetadataElection
{
    private const int WhileOthersAreAway = PoolView.MaxMetadataDisks / 2;

    /// <summary>
    /// The disks to add so that there are as many metadata disks as there may be: those whose enclosure holds the fewest of them, then flash before rotating
    /// disks, then the lowest number. Retired disks only when there is no other.
    /// </summary>
    /// <param name="fitting">Disks that can hold the metadata.</param>
    /// <param name="all">Disks of the pool, present or not.</param>
    /// <param name="current">Disks that hold it.</param>
    internal static List<DiskNumber> Choose(
        IEnumerable<DiskDescription> fitting, IEnumerable<DiskDescription> all, IReadOnlyCollection<DiskNumber> current)
    {
        DiskDescription[] known = [.. all];
        List<string> domains = [.. known.Where(disk => current.Contains(disk.Number)).Select(Enclosure)];
        int before = domains.Count;
        List<DiskNumber> order = Order([.. fitting.Where(disk => !current.Contains(disk.Number))], domains, current.Count);
        IEnumerable<string> enclosures = known.Where(static disk => disk.Usage != DiskUsage.Retired).Select(Enclosure);
        bool isSpread = enclosures.Where(static name => name.Length > 0).Distinct().Count() > 1;
        return isSpread ? [.. order.Take(Balanced(domains, before, order.Count))] : order;
    }

    private static List<DiskNumber> Order(List<DiskDescription> candidates, List<string> domains, int current)
    {
        List<DiskNumber> order = [];
        while (current + order.Count < PoolView.MaxMetadataDisks && candidates.Count > 0)
        {
            DiskDescription next = candidates
                .OrderBy(static disk => disk.Usage == DiskUsage.Retired)
                .ThenBy(disk => domains.Count(domain => domain == Enclosure(disk)))
                .ThenBy(static disk => !disk.IsFlash())
                .ThenBy(static disk => disk.Number)
                .First();
            candidates.Remove(next);
            if (next.Usage == DiskUsage.Retired && current + order.Count > 0)
            {
                break;
            }

            domains.Add(Enclosure(next));
            order.Add(next.Number);
        }

        return order;
    }

    /// <summary>
    /// Returns how many of the disks in order are taken: at least as many as make two, and of those numbers the one with which the most metadata disks are
    /// outside the enclosure that has most; once they are a majority by themselves, the largest number.
    /// </summary>
    private static int Balanced(List<string> domains, int before, int count)
    {
        int least = Math.Clamp(WhileOthersAreAway - before, before == 0 ? 1 : 0, count);
        (int best, int bestRank) = (least, int.MinValue);
        for (int taken = least; taken <= count; taken++)
        {
            int largest = domains.Take(before + taken).GroupBy(static name => name).Max(static domain => domain.Count());
            int rank = Math.Min(before + taken - (2 * largest), 1);
            (best, bestRank) = rank >= bestRank ? (taken, rank) : (best, bestRank);
        }

        return best;
    }

    private static string Enclosure(DiskDescription disk) => FaultDomains.DomainOf(disk, FaultDomainLevel.StorageEnclosure);
}
