using TierSpaces.Engine.Formats;
using TierSpaces.Engine.Primitives;

namespace TierSpaces.Engine.Pools;

/// <summary>Chooses which disks hold metadata. Pure.</summary>
internal static class MetadataElection
{
    /// <summary>
    /// The disks to add so that there are as many metadata disks as there may be: flash before rotating disks, then those whose
    /// enclosure holds the fewest of them, then the lowest number. Retired disks only when there is no other.
    /// </summary>
    internal static List<DiskNumber> Choose(IEnumerable<DiskDescription> present, IReadOnlyCollection<DiskNumber> current)
    {
        List<DiskDescription> all = [.. present];
        List<string> domains = [.. all.Where(disk => current.Contains(disk.Number)).Select(Enclosure)];
        List<DiskDescription> candidates = [.. all.Where(disk => !current.Contains(disk.Number))];
        List<DiskNumber> chosen = [];
        while (current.Count + chosen.Count < PoolView.MaxMetadataDisks && candidates.Count > 0)
        {
            DiskDescription next = candidates
                .OrderBy(static disk => disk.Usage == DiskUsage.Retired)
                .ThenBy(static disk => !disk.IsFlash())
                .ThenBy(disk => domains.Count(domain => domain == Enclosure(disk)))
                .ThenBy(static disk => disk.Number)
                .First();
            candidates.Remove(next);
            if (next.Usage == DiskUsage.Retired && current.Count + chosen.Count > 0)
            {
                break;
            }

            domains.Add(Enclosure(next));
            chosen.Add(next.Number);
        }

        return chosen;
    }

    private static string Enclosure(DiskDescription disk) => FaultDomains.DomainOf(disk, FaultDomainLevel.StorageEnclosure);
}
