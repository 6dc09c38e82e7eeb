using TierSpaces.Engine.Formats;

namespace TierSpaces.Engine.Pools;

// Room of leaves of rows in a checkpoint: a leaf above half a page has pages of its own, smaller ones share pages.
//
// Invariant: Pages never falls short of what CheckpointPages writes, and never rises when rows are freed. A shared page that is full is more than
// half full, because a leaf of at most half a page did not fit in it; so bytes that share take at most twice the pages that they would fill.

/// <summary>Pages that leaves have for themselves, and bytes of those that share pages.</summary>
/// <param name="OwnPages">Pages of leaves that share none.</param>
/// <param name="SharedBytes">Bytes of leaves that share pages.</param>
internal readonly record struct PageDemand(long OwnPages, long SharedBytes)
{
    /// <summary>Most bytes of a leaf that shares a page.</summary>
    internal const int SharedBytesMax = CheckpointPages.Capacity / 2;

    /// <summary>The demand as bytes: a page counts like the least that a full shared one holds.</summary>
    internal long Bytes => (OwnPages * SharedBytesMax) + SharedBytes;

    /// <summary>Pages at most.</summary>
    internal long Pages => PagesOf(Bytes);

    public static PageDemand operator +(PageDemand a, PageDemand b) => new(a.OwnPages + b.OwnPages, a.SharedBytes + b.SharedBytes);

    public static PageDemand operator -(PageDemand a, PageDemand b) => new(a.OwnPages - b.OwnPages, a.SharedBytes - b.SharedBytes);

    /// <summary>Pages at most, of a demand in <see cref="Bytes"/>.</summary>
    internal static long PagesOf(long bytes) => (bytes + SharedBytesMax - 1) / SharedBytesMax;

    /// <summary>Returns the demand of consecutive rows, beginning with the first row of a space.</summary>
    internal static PageDemand OfRows(RowPages rows, long count) =>
        new PageDemand(count / rows.PerPage * rows.PagesOfLeaf, 0) + OfLeaf(rows, (int)(count % rows.PerPage));

    /// <summary>Returns the demand of a leaf with so many rows.</summary>
    internal static PageDemand OfLeaf(RowPages rows, int count) =>
        rows.Bytes(count) is var bytes && bytes > SharedBytesMax ? new PageDemand(rows.PagesOfLeaf, 0) : new PageDemand(0, bytes);
}
