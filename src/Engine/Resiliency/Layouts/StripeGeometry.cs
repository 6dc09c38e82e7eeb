namespace TierSpaces.Engine.Resiliency.Layouts;

/// <summary>A stretch of a request that lies in one row, one column, one strip, one dirty region and one checksum page.</summary>
/// <param name="Row">Row of the space.</param>
/// <param name="Column">Column in the row.</param>
/// <param name="SlabOffset">Byte offset in the slab's data.</param>
/// <param name="Length">Length in bytes.</param>
public readonly record struct StripPiece(int Row, int Column, int SlabOffset, int Length);

/// <summary>
/// Pure functions between the address of a space and places in its slabs. Address a lies in row a / rowSize; in the row,
/// strips of one interleave go round the columns; round r of a column stands at r × interleave in its slab.
/// </summary>
public static class StripeGeometry
{
    /// <summary>The first piece of [<paramref name="offset"/>, + <paramref name="length"/>).</summary>
    public static StripPiece First(in SpaceShape shape, long offset, long length)
    {
        int row = (int)(offset / shape.RowSize);
        long inRow = offset - (row * shape.RowSize);
        int column = 0;
        int slabOffset = (int)inRow;
        int untilStripEnd = shape.SlabSize - slabOffset;
        if (shape.Columns > 1)
        {
            int strip = (int)(inRow / shape.Interleave);
            int within = (int)(inRow - ((long)strip * shape.Interleave));
            column = strip % shape.Columns;
            slabOffset = (strip / shape.Columns * shape.Interleave) + within;
            untilStripEnd = shape.Interleave - within;
        }

        int unit = Math.Min(shape.RegionSize, shape.PageSpan);
        int untilUnitEnd = unit - (slabOffset & (unit - 1));
        return new StripPiece(row, column, slabOffset, (int)Math.Min(length, Math.Min(untilStripEnd, untilUnitEnd)));
    }

    /// <summary>The address at which a place in a slab stands.</summary>
    public static long AddressOf(in SpaceShape shape, int row, int column, int slabOffset)
    {
        if (shape.Columns == 1)
        {
            return (row * shape.RowSize) + slabOffset;
        }

        int round = slabOffset / shape.Interleave;
        return (row * shape.RowSize) + ((((long)round * shape.Columns) + column) * shape.Interleave) + (slabOffset % shape.Interleave);
    }

    /// <summary>
    /// Key of a place for range locks: contiguous in a slab and distinct between slabs, so that a piece and a region are each
    /// one range of it.
    /// </summary>
    public static long LockKey(in SpaceShape shape, int row, int column, int slabOffset) =>
        ((((long)row * shape.Columns) + column) * shape.SlabSize) + slabOffset;
}
