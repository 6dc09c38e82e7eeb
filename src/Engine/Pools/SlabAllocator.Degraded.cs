using TierSpaces.Engine.Formats;
using TierSpaces.Engine.Primitives;

namespace TierSpaces.Engine.Pools;

// A degraded row has slabs on disks that are missing: room for the copies that are made whole when their disks are back. It is for a first write
// that the disks that are there have no room for as a whole; every column has a copy on one of them.
public sealed partial class SlabAllocator
{
    /// <summary>
    /// Reserves the slabs of one row of data, some of them on disks that are missing. False if not every column gets a slab on a disk that is there.
    /// Ends as <see cref="TryReserveRow"/> does.
    /// </summary>
    public bool TryReserveDegradedRow(int columns, int copies, AllocationPreferences preferences, out SlabRef[] row)
    {
        (int groups, int disksEach) = ShapeOf(columns, copies, preferences);
        List<List<DiskState>> domains = EligibleDisks(preferences with { TakesAbsent = true }, Choices(AllocationPurpose.Data).Single())
            .Where(disk => FreeOn(disk) > 0)
            .GroupBy(disk => FaultDomains.DomainOf(disk.Description, preferences.FaultDomainAwareness))
            .Select(domain => domain.OrderByDescending(IsThere).ThenByDescending(FreeOn).ThenBy(disk => disk.Description.Number).ToList())
            .Where(domain => domain.Count >= disksEach)
            .OrderByDescending(domain => domain.Take(disksEach).Count(IsThere)).ThenByDescending(domain => domain.Sum(FreeOn)).ThenBy(domain => domain[0].Description.Number)
            .Take(groups).ToList();
        DiskState[] disks = domains.Count == groups ? Deal(domains, columns, copies, disksEach) : [];
        bool hasAll = disks.Length > 0 && Enumerable.Range(0, columns).All(column => disks.Skip(column * copies).Take(copies).Any(IsThere));
        row = hasAll ? Array.ConvertAll(disks, disk => ReserveOn(disk, 1)[0]) : [];
        return hasAll;
    }

    /// <summary>Deals disks to positions so that those that are there, which come first in each domain, come to different columns.</summary>
    private static DiskState[] Deal(List<List<DiskState>> domains, int columns, int copies, int disksEach)
    {
        DiskState[] row = new DiskState[columns * copies];
        for (int copy = 0; copy < copies; copy++)
        {
            for (int column = 0; column < columns; column++)
            {
                int other = copy % 2 == 0 ? column : columns - 1 - column;   // a domain gives those of its disks that are away to the columns of others that are there
                row[(column * copies) + copy] = disksEach == 1 ? domains[(copy * columns) + column][0] : domains[copy][other];
            }
        }

        return row;
    }

    private bool IsThere(DiskState disk) => _isPresent(disk.Description.Number);
}
