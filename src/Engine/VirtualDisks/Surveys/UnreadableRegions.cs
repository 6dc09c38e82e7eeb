using System.Numerics;
using TierSpaces.Engine.Formats;
using TierSpaces.Engine.Pools;
using TierSpaces.Engine.Primitives;
using TierSpaces.Engine.Resiliency.Layouts;

namespace TierSpaces.Engine.VirtualDisks;

// A region can be read if one of its copies is on a disk that is there and is not stale; with parity, if no more columns than there are parities lack that. A
// row that was never written reads as zeros without its disks. Copies of a column, or all columns of parity, are a group.

/// <summary>Finds the regions of a virtual disk that no copy can give.</summary>
internal static class UnreadableRegions
{
    private const int RangesMax = 8;

    /// <summary>Whether there is any.</summary>
    internal static bool Any(IPoolReader pool, VirtualDiskDescription disk) => disk.Parts.Any(part =>
        pool.State.Space(part.DataSpace) is not { } space || space.EnumerateRows()
            .Any(row => Enumerable.Range(0, part.Groups).Any(group => Mask(pool, part, row.Row, group) != 0)));

    /// <summary>Says how many bytes cannot be read, where they lie, and what brings them back; empty if all can be read.</summary>
    internal static string Describe(IPoolReader pool, VirtualDiskDescription disk)
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
                    for (int group = 0; group < part.Groups; group++)
                    {
                        ushort mask = Mask(pool, part, row, group);
                        all |= mask;
                        bytes += (long)BitOperations.PopCount(mask) * shape.RegionSize * (part.DataColumns / part.Groups);
                        isWaiting |= IsAway(pool, part, row, group, mask);
                    }

                    AddRanges(ranges, shape, index, all, where);
                }
            }
        }

        string rest = ranges.Count > RangesMax ? $" and {ranges.Count - RangesMax} more" : "";
        return bytes == 0 ? "" : $"No good copy of {ByteText.Exact(bytes)} is there, at {string.Join(", ", ranges.Take(RangesMax).Select(static range => $"offset {ByteText.Offset(range.Start)} to {ByteText.Exact(range.End)}{range.Where}"))}{rest}. "
            + (isWaiting ? "They are read and written again when the physical disks that are away are back."
                : "Every copy of them is stale: they stay errors. Copy the rest to another virtual disk.");
    }

    private static void AddRanges(List<(long Start, long End, string Where)> ranges, SpaceShape shape, int row, int mask, string where)
    {
        long region = (long)shape.RegionSize * shape.DataColumns;
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

    private static ushort Mask(IPoolReader pool, TierDescription part, RowState row, int group)
    {
        if (!row.Mapping.IsInitialized || !IsAnyOut(pool, part, row, group))
        {
            return 0;
        }

        int unreadable = 0;
        for (int region = 0; region < SpaceShape.RegionsPerSlab; region++)
        {
            int outs = 0;
            for (int position = group * part.GroupSize; position < (group + 1) * part.GroupSize; position++)
            {
                outs += !pool.IsUsable(row.Mapping.Sources[position].Disk) || (row.MissingAt(position) >> region & 1) != 0 ? 1 : 0;
            }

            unreadable |= outs > part.LossesMax ? 1 << region : 0;
        }

        return (ushort)unreadable;
    }

    private static bool IsAnyOut(IPoolReader pool, TierDescription part, RowState row, int group)
    {
        bool isAnyOut = false;
        for (int position = group * part.GroupSize; position < (group + 1) * part.GroupSize; position++)
        {
            isAnyOut |= !pool.IsUsable(row.Mapping.Sources[position].Disk) || row.MissingAt(position) != 0;
        }

        return isAnyOut;
    }

    /// <summary>Whether such regions are good on a disk that is away.</summary>
    private static bool IsAway(IPoolReader pool, TierDescription part, RowState row, int group, ushort mask)
    {
        bool isAway = false;
        for (int position = group * part.GroupSize; position < (group + 1) * part.GroupSize; position++)
        {
            isAway |= (mask & ~row.MissingAt(position)) != 0 && !pool.IsUsable(row.Mapping.Sources[position].Disk);
        }

        return isAway;
    }
}
