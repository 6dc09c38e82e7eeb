namespace TierSpaces.Engine.Resiliency.Layouts;

/// <summary>
/// Simple (one copy) and mirror (two or three). Address a is in row a / RowSize; within the row, strips of one interleave go round
/// the columns; round r of a column is at r × interleave in its slabs. Position p = column × copies + copy: the copies of a column are a group, and
/// each has its checksum pages with its slab.
/// </summary>
public sealed class MirrorLayout(SpaceShape shape) : ILayout
{
    private readonly SpaceShape _shape = shape;
    private readonly int _unit = Math.Min(shape.RegionSize, shape.PageSpan);

    /// <inheritdoc/>
    public int Positions => _shape.Positions;

    /// <inheritdoc/>
    public int Groups => _shape.Columns;

    /// <inheritdoc/>
    public int GroupSize => _shape.Copies;

    /// <inheritdoc/>
    public int LossesMax => _shape.Copies - 1;

    /// <inheritdoc/>
    public int Columns => _shape.Columns;

    /// <inheritdoc/>
    public int PageCopies => _shape.Copies;

    /// <inheritdoc/>
    public long RowSize => _shape.RowSize;

    /// <summary>Returns the first piece of a range. A piece is in one strip and one checksum page too.</summary>
    public StripPiece First(long offset, long length)
    {
        int row = (int)(offset / _shape.RowSize);
        long inRow = offset - (row * _shape.RowSize);
        int column = 0;
        int slabOffset = (int)inRow;
        int untilStripEnd = _shape.SlabSize - slabOffset;
        if (_shape.Columns > 1)
        {
            int strip = (int)(inRow / _shape.Interleave);
            int within = (int)(inRow - ((long)strip * _shape.Interleave));
            column = strip % _shape.Columns;
            slabOffset = (strip / _shape.Columns * _shape.Interleave) + within;
            untilStripEnd = _shape.Interleave - within;
        }

        int untilUnitEnd = _unit - (slabOffset & (_unit - 1));
        return new StripPiece(row, column, slabOffset, (int)Math.Min(length, Math.Min(untilStripEnd, untilUnitEnd)));
    }

    /// <inheritdoc/>
    public int RunStrip => _shape.Columns > 1 && _shape.Interleave < _unit ? _shape.Interleave : 0;

    /// <inheritdoc/>
    public long RunWindow => (long)_unit * _shape.Columns;

    /// <inheritdoc/>
    public long AddressOf(int row, int column, int slabOffset)
    {
        if (_shape.Columns == 1)
        {
            return (row * _shape.RowSize) + slabOffset;
        }

        int round = slabOffset / _shape.Interleave;
        return (row * _shape.RowSize) + ((((long)round * _shape.Columns) + column) * _shape.Interleave) + (slabOffset % _shape.Interleave);
    }

    /// <inheritdoc/>
    public int ColumnOf(int position) => position / _shape.Copies;

    /// <inheritdoc/>
    public int GroupOf(int column) => column;

    /// <inheritdoc/>
    public int DepthOf(in StripPiece piece) => piece.Length;

    /// <inheritdoc/>
    public long LockKey(int row, int group, int slabOffset) => ((((long)row * _shape.Columns) + group) * _shape.SlabSize) + slabOffset;

    /// <inheritdoc/>
    public PagePlace PageAt(int column, int page, int copy) => new((column * _shape.Copies) + copy, page * SpaceShape.PageSize, IsInData: false);
}
