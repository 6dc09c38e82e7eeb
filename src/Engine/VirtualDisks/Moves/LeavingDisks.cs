using TierSpaces.Engine.Formats;
using TierSpaces.Engine.Pools;
using TierSpaces.Engine.Primitives;

namespace TierSpaces.Engine.VirtualDisks;

// Disks that slabs are to leave: retired ones, lost ones that are given up, and those of usage Journal that hold data, which logs, parity journals and
// write caches may stay on.

/// <summary>Finds the disks of a pool that slabs are to leave.</summary>
internal static class LeavingDisks
{
    /// <summary>Returns these disks.</summary>
    /// <param name="pool">The pool.</param>
    /// <param name="givesUpMissing">Whether missing disks are among them where the pool's policy allows it.</param>
    internal static IEnumerable<DiskNumber> Of(IPoolReader pool, bool givesUpMissing)
    {
        bool withMissing = givesUpMissing && SlabMovePlan.GivesUpMissing(pool);
        return pool.State.Disks.Values
            .Where(disk => disk.UsedSlabs > 0 && (disk.Description.Usage == DiskUsage.Retired
                || (pool.View.Contains(disk.Description.Number) ? IsJournalWithData(pool.State, disk) : withMissing)))
            .Select(static disk => disk.Description.Number);
    }

    /// <summary>Whether a disk of usage Journal holds slabs that are of no ring.</summary>
    internal static bool IsJournalWithData(PoolState state, DiskState disk)
    {
        if (disk.Description.Usage != DiskUsage.Journal)
        {
            return false;
        }

        long ofRings = state.Spaces.Values.Where(static space => space.Description.Kind != SpaceKind.Data && space.MappedRows > 0)
            .Sum(space => (long)space.MappedRows * Count(space.Row(0)!.Mapping, disk.Description.Number));
        return disk.UsedSlabs > ofRings;
    }

    private static int Count(RowMapping row, DiskNumber disk)
    {
        int count = 0;
        foreach (SlabRef slab in row.Sources)
        {
            count += slab.Disk == disk ? 1 : 0;
        }

        return count;
    }
}
