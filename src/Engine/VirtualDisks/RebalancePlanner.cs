using TierSpaces.Engine.Formats;
using TierSpaces.Engine.Pools;
using TierSpaces.Engine.Primitives;

namespace TierSpaces.Engine.VirtualDisks;

/// <summary>
/// Chooses the moves that even out how full the disks of a pool are: one slab at a time from the fullest disk that has one which fits
/// on an emptier disk, as long as that makes the fuller of the two less full than before.
/// </summary>
public static class RebalancePlanner
{
    /// <summary>The next move, or null when nothing would be gained.</summary>
    /// <param name="pool">The pool.</param>
    /// <param name="disks">Its open virtual disks.</param>
    public static (OpenVirtualDisk Disk, SlabMove Move, DiskNumber To)? Next(Pool pool, IReadOnlyList<OpenVirtualDisk> disks)
    {
        List<DiskState> usable = [.. pool.State.Disks.Values
            .Where(disk => disk.Description.Usage == DiskUsage.AutoSelect && pool.Disk(disk.Description.Number) is not null)
            .OrderBy(Fill).ThenBy(disk => disk.Description.Number.Value)];
        for (int full = usable.Count - 1; full > 0; full--)
        {
            for (int empty = 0; empty < full && IsGain(usable[full], usable[empty]); empty++)
            {
                DiskNumber to = usable[empty].Description.Number;
                foreach (OpenVirtualDisk disk in disks)
                {
                    if (Find(pool, disk, usable[full].Description.Number, to) is { } move)
                    {
                        return (disk, move, to);
                    }
                }
            }
        }

        return null;
    }

    private static double Fill(DiskState disk) => (double)disk.UsedSlabs / disk.Description.SlabCount;

    private static bool IsGain(DiskState from, DiskState to) =>
        (from.UsedSlabs * (double)to.Description.SlabCount) > ((to.UsedSlabs + 1.0) * from.Description.SlabCount);

    private static SlabMove? Find(Pool pool, OpenVirtualDisk disk, DiskNumber from, DiskNumber to)
    {
        SlabMover mover = new(pool, disk);
        AllocationPreferences preferences = AllocationPreferences.For(disk.Description);
        DiskDescription target = pool.State.Disks[to].Description;
        if ((preferences.Media is { } media && target.Media() != media)
            || (!preferences.AllowedDisks.IsDefaultOrEmpty && !preferences.AllowedDisks.Contains(to)))
        {
            return null;
        }

        foreach ((int index, RowState row) in pool.State.Space(disk.Description.DataSpace)!.EnumerateRows())
        {
            for (int position = 0; position < row.Mapping.Sources.Length; position++)
            {
                SlabMove move = new(index, position, from);
                if (row.Mapping.Sources[position].Disk == from && mover.Fits(move, to) && disk.Disk.Space.CanMove(index, position))
                {
                    return move;
                }
            }
        }

        return null;
    }
}
