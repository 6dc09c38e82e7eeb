using System.Numerics;
using TierSpaces.Engine.Formats;
using TierSpaces.Engine.Pools;
using TierSpaces.Engine.Primitives;
using TierSpaces.Engine.Resiliency.Layouts;

namespace TierSpaces.Engine.VirtualDisks;

// Condition of the copies of a virtual disk by the committed state. It walks over rows, so it is for a snapshot, outside the lane.

/// <summary>Finds copies of a virtual disk that are missing or stale.</summary>
internal static class CopySurvey
{
    /// <summary>Whether a copy of anything in the data of a virtual disk is missing or stale.</summary>
    internal static bool IsDegraded(IPoolReader pool, VirtualDiskDescription disk) =>
        disk.Parts.Any(part => pool.State.Space(part.DataSpace)?.EnumerateRows().Any(row => row.Row.MissesData || IsAnyMissing(pool, row.Row)) == true);

    /// <summary>Bytes of stale regions of the data that a resync can make whole now: the disk is there, and the others can give them.</summary>
    internal static long BytesToResync(IPoolReader pool, VirtualDiskDescription disk) => disk.Parts.Sum(part =>
    {
        long regions = pool.State.Space(part.DataSpace)?.EnumerateRows().Where(static row => row.Row.MissesData)
            .Sum(row => (long)RegionsToResync(pool, part, row.Row)) ?? 0;
        return regions * VirtualDiskLayout.ShapeOf(pool, disk, part).RegionSize;
    });

    /// <summary>Returns the disks of a pool that slabs of these spaces are on and that are missing, by number.</summary>
    internal static DiskNumber[] MissingUnder(IPoolReader pool, IEnumerable<SpaceId> spaces)
    {
        SortedSet<DiskNumber> missing = [];
        foreach (SpaceState space in spaces.Select(pool.State.Space).OfType<SpaceState>())
        {
            foreach ((_, RowState row) in space.EnumerateRows())
            {
                foreach (SlabRef slab in row.Mapping.Sources)
                {
                    if (!pool.IsUsable(slab.Disk))
                    {
                        missing.Add(slab.Disk);
                    }
                }
            }
        }

        return [.. missing];
    }

    /// <summary>Whether every byte of a position could be copied to another place now: from itself, or from the others of its group.</summary>
    internal static bool CanGive(IPoolReader pool, TierDescription part, RowState row, int position)
    {
        int wanting = pool.IsUsable(row.Mapping.Sources[position].Disk) ? row.MissingAt(position) : ushort.MaxValue;
        for (int rest = wanting; rest != 0; rest &= rest - 1)
        {
            if (!IsGoodElsewhere(pool, part, row, position, BitOperations.TrailingZeroCount(rest)))
            {
                return false;
            }
        }

        return true;
    }

    private static bool IsAnyMissing(IPoolReader pool, RowState row)
    {
        foreach (SlabRef slab in row.Mapping.Sources)
        {
            if (!pool.IsUsable(slab.Disk))
            {
                return true;
            }
        }

        return false;
    }

    private static int RegionsToResync(IPoolReader pool, TierDescription part, RowState row)
    {
        int regions = 0;
        for (int position = 0; position < row.Mapping.Sources.Length; position++)
        {
            int stale = pool.IsUsable(row.Mapping.Sources[position].Disk) ? row.MissingAt(position) : 0;
            for (int rest = stale; rest != 0; rest &= rest - 1)
            {
                regions += IsGoodElsewhere(pool, part, row, position, BitOperations.TrailingZeroCount(rest)) ? 1 : 0;
            }
        }

        return regions;
    }

    /// <summary>Whether the group of a position can give a region without it.</summary>
    private static bool IsGoodElsewhere(IPoolReader pool, TierDescription part, RowState row, int position, int region)
    {
        int first = position / part.GroupSize * part.GroupSize;
        int outs = 1;
        for (int other = first; other < first + part.GroupSize; other++)
        {
            bool isOut = !pool.IsUsable(row.Mapping.Sources[other].Disk) || (row.MissingAt(other) >> region & 1) != 0;
            outs += other != position && isOut ? 1 : 0;
        }

        return outs <= part.LossesMax;
    }
}
