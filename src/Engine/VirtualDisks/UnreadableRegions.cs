using System.Numerics;
using TierSpaces.Engine.Formats;
using TierSpaces.Engine.Pools;
using TierSpaces.Engine.Primitives;
using TierSpaces.Engine.Resiliency.Layouts;

namespace TierSpaces.Engine.VirtualDisks;

// A region can be read if one of its copies is on a disk that is there and is not stale. A row that was never written reads as zeros without its disks.

/// <summary>Finds the regions of a virtual disk that no copy can give.</summary>
internal static class UnreadableRegions
{
    private const int RangesMax = 8;

    /// <summary>Whether there is any.</summary>
    internal static bool Any(Pool pool, VirtualDiskDescription disk) => disk.Parts.Any(part =>
        pool.State.Space(part.DataSpace) is not { } space || space.EnumerateRows()
            .Any(row => Enumerable.Range(0, space.Description.Columns).Any(column => Mask(pool, space.Description, row.Row, column) != 0)));

    /// <summary>Says how many bytes cannot be read, where they lie, and what brings them back; empty if all can be read.</summary>
    internal static string Describe(Pool pool, VirtualDiskDescription disk)
    {
        List<(long Start, long End, string Where)> ranges = [];
        long bytes = 0;
        bool isWaiting = false;
        foreach (TierDescription part in disk.Parts)
        {
            if (pool.State.Space(part.DataSpace) is { } space)
            {
                SpaceShape shape = VirtualDiskLayout.ShapeOf(pool, disk, part);
                string where = disk.IsTiered ? $" of tier '{part.FriendlyName}'" : "";
                foreach ((int index, RowState row) in space.EnumerateRows())
                {
                    int all = 0;
                    for (int column = 0; column < space.Description.Columns; column++)
                    {
                        ushort mask = Mask(pool, space.Description, row, column);
                        all |= mask;
                        bytes += (long)BitOperations.PopCount(mask) * shape.RegionSize;
                        isWaiting |= IsAway(pool, space.Description, row, column, mask);
                    }

                    AddRanges(ranges, shape, index, all, where);
                }
            }
        }

        string rest = ranges.Count > RangesMax ? $" and {ranges.Count - RangesMax} more" : "";
        return bytes == 0 ? "" : $"No good copy of {bytes} bytes is there, at {string.Join(", ", ranges.Take(RangesMax).Select(static range => $"offset {range.Start} to {range.End}{range.Where}"))}{rest}. "
            + (isWaiting ? "They are read and written again when the physical disks that are away are back."
                : "Every copy of them is stale: they stay errors. Copy the rest to another virtual disk.");
    }

    private static void AddRanges(List<(long Start, long End, string Where)> ranges, SpaceShape shape, int row, int mask, string where)
    {
        long region = (long)shape.RegionSize * shape.Columns;
        for (int first = 0; first < SpaceShape.RegionsPerSlab; first++)
        {
            int end = first;
            while ((mask >> end & 1) != 0)
            {
                end++;
            }

            if (end > first)
            {
                long start = (row * shape.RowSize) + (first * region);
                long stop = (row * shape.RowSize) + (end * region);
                if (ranges.Count > 0 && ranges[^1].End == start && ranges[^1].Where == where)
                {
                    ranges[^1] = (ranges[^1].Start, stop, where);
                }
                else
                {
                    ranges.Add((start, stop, where));
                }

                first = end;
            }
        }
    }

    private static ushort Mask(Pool pool, SpaceDescription space, RowState row, int column)
    {
        int good = row.Mapping.IsInitialized ? 0 : ushort.MaxValue;
        for (int position = column * space.Copies; position < (column + 1) * space.Copies; position++)
        {
            good |= pool.Disk(row.Mapping.Sources[position].Disk) is not null ? ~row.MissingAt(position) : 0;
        }

        return (ushort)~good;
    }

    /// <summary>Whether a copy of such regions is good on a disk that is away.</summary>
    private static bool IsAway(Pool pool, SpaceDescription space, RowState row, int column, ushort mask)
    {
        bool isAway = false;
        for (int position = column * space.Copies; position < (column + 1) * space.Copies; position++)
        {
            isAway |= (mask & ~row.MissingAt(position)) != 0 && pool.Disk(row.Mapping.Sources[position].Disk) is null;
        }

        return isAway;
    }
}
