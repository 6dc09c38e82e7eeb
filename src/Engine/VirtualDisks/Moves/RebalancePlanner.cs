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
    /// <param name="pool">The pool: itself on its lane, or a snapshot.</param>
    /// <param name="disks">Its open virtual disks.</param>
    /// <param name="mayMove">Whether a move may be chosen; null: every one.</param>
    public static (VirtualDiskDescription Disk, SlabMove Move, DiskNumber To)? Next(
        IPoolReader pool, IReadOnlyList<VirtualDiskDescription> disks, Func<VirtualDiskDescription, SlabMove, DiskNumber, bool>? mayMove = null)
    {
        List<DiskState> usable = Usable(pool);
        for (int full = usable.Count - 1; full > 0; full--)
        {
            for (int empty = 0; empty < full && IsGain(usable[full], usable[empty]); empty++)
            {
                DiskNumber to = usable[empty].Description.Number;
                foreach (VirtualDiskDescription disk in disks)
                {
                    if (Find(pool, disk, usable[full].Description.Number, to, mayMove) is { } move)
                    {
                        return (disk, move, to);
                    }
                }
            }
        }

        return null;
    }

    /// <summary>Slabs above the even share of their disks: about as many as there are to move.</summary>
    public static long Surplus(IPoolReader pool)
    {
        List<DiskState> usable = Usable(pool);
        double fill = usable.Sum(disk => (double)disk.UsedSlabs) / Math.Max(1, usable.Sum(disk => (double)disk.Description.SlabCount));
        return usable.Sum(disk => Math.Max(0, (long)(disk.UsedSlabs - (fill * disk.Description.SlabCount))));
    }

    private static List<DiskState> Usable(IPoolReader pool) =>
    [
        .. pool.State.Disks.Values
            .Where(disk => disk.Description.Usage == DiskUsage.AutoSelect && pool.IsUsable(disk.Description.Number))
            .OrderBy(Fill).ThenBy(disk => disk.Description.Number.Value),
    ];

    private static double Fill(DiskState disk) => (double)disk.UsedSlabs / disk.Description.SlabCount;

    private static bool IsGain(DiskState from, DiskState to) =>
        (from.UsedSlabs * (double)to.Description.SlabCount) > ((to.UsedSlabs + 1.0) * from.Description.SlabCount);

    private static SlabMove? Find(
        IPoolReader pool, VirtualDiskDescription disk, DiskNumber from, DiskNumber to, Func<VirtualDiskDescription, SlabMove, DiskNumber, bool>? mayMove) =>
        disk.Parts.Select(part => FindIn(pool, disk, part, from, to, mayMove)).FirstOrDefault(static move => move is not null);

    private static SlabMove? FindIn(
        IPoolReader pool, VirtualDiskDescription disk, TierDescription part, DiskNumber from, DiskNumber to,
        Func<VirtualDiskDescription, SlabMove, DiskNumber, bool>? mayMove)
    {
        SlabMovePlan plan = new(pool, null, disk);
        AllocationPreferences preferences = AllocationPreferences.For(disk, part);
        DiskDescription target = pool.State.Disks[to].Description;
        if ((preferences.Media is { } media && target.Media() != media)
            || (!preferences.AllowedDisks.IsDefaultOrEmpty && !preferences.AllowedDisks.Contains(to)) || !RowRule.IsKnown(target, preferences))
        {
            return null;
        }

        foreach ((int index, RowState row) in pool.State.Space(part.DataSpace)!.EnumerateRows())
        {
            for (int position = 0; position < row.Mapping.Sources.Length; position++)
            {
                SlabMove move = new(index, position, from, part.Number);
                if (row.Mapping.Sources[position].Disk == from && plan.Fits(move, to) && plan.CanMove(move)
                    && mayMove?.Invoke(disk, move, to) != false)
                {
                    return move;
                }
            }
        }

        return null;
    }
}
