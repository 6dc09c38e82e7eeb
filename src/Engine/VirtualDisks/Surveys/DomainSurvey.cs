using TierSpaces.Engine.Formats;
using TierSpaces.Engine.Pools;
using TierSpaces.Engine.Primitives;

namespace TierSpaces.Engine.VirtualDisks;

/// <summary>Finds virtual disks whose slabs are not in the fault domains that they should be in: the place of a disk may change under them.</summary>
internal static class DomainSurvey
{
    /// <summary>Returns how many rows of data, logs and caches of a virtual disk do not keep to its fault domains.</summary>
    internal static int Misplaced(PoolState state, VirtualDiskDescription disk)
    {
        int count = Misplaced(state, disk.IsCacheElsewhere ? SpaceId.None : disk.CacheSpace, 1, AllocationPreferences.ForCache(disk));
        foreach (TierDescription part in disk.Parts)
        {
            count += Misplaced(state, part.DataSpace, part.NumberOfColumns, AllocationPreferences.For(disk, part))
                + Misplaced(state, part.LogSpace, 1, AllocationPreferences.ForLog(part));
        }

        return count;
    }

    private static int Misplaced(PoolState state, SpaceId id, int columns, AllocationPreferences preferences)
    {
        bool isByDisk = preferences is { FaultDomainAwareness: FaultDomainLevel.PhysicalDisk, ColumnIsolation: FaultDomainLevel.PhysicalDisk };
        return isByDisk || state.Space(id) is not { } space ? 0 : space.EnumerateRows().Count(row =>
        {
            DiskDescription[] disks = [.. row.Row.Mapping.Sources.ToArray().Select(slab => state.Disks[slab.Disk].Description)];
            return !new RowRule(columns, disks.Length / columns, preferences).IsKept(disks);
        });
    }
}
