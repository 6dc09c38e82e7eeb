using TierSpaces.Engine.Formats;
using TierSpaces.Engine.Primitives;

namespace TierSpaces.Engine.Pools;

/// <summary>
/// Checks that the metadata has pages for the disks of a pool with every slab mapped, as the layout with the most rows maps them: one slab a row.
/// Pure.
/// </summary>
internal static class MemberPages
{
    /// <summary>Returns the reason why a pool cannot have these disks; empty if it can.</summary>
    /// <param name="state">The state with them.</param>
    /// <param name="most">Pages that the metadata may take.</param>
    /// <param name="isPresent">Whether a disk is present.</param>
    internal static string WhyNot(PoolState state, long most, Func<DiskNumber, bool> isPresent)
    {
        long needed = CountFull(state, isPresent);
        return needed <= most ? "" :
            $"The metadata area of the pool has {most} pages, and {needed} would be in use with {state.Disks.Count} disks and all of their slabs mapped. "
            + "Use fewer disks or disks with fewer slabs, or make another pool of them: the smallest disk of a new pool determines its slab size.";
    }

    // Rows on disks that are missing or retired have their pages; they move to the slabs that are free now.
    private static long CountFull(PoolState state, Func<DiskNumber, bool> isPresent)
    {
        long more = 0;
        foreach (DiskState disk in state.Disks.Values)
        {
            bool gives = isPresent(disk.Description.Number) && disk.Description.Usage != DiskUsage.Retired;
            more += gives ? disk.FreeSlabs : -(long)disk.UsedSlabs;
        }

        return CheckpointPages.CountUpTo(state) + PageDemand.OfRows(new RowPages(1), Math.Max(0, more)).Pages;
    }
}
