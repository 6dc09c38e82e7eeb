using TierSpaces.Engine.Resiliency.Layouts;

namespace TierSpaces.Engine.Tests.Resiliency.Xor;

/// <summary>
/// Two strips of data and their XOR, always on the same positions. Each column has its entries in the slab of its position and, so that a lost
/// disk does not take them along, in the last bytes of the data of the next one.
/// </summary>
internal sealed class XorLayout(SpaceShape shape) : ILayout
{
    private readonly int _usable = shape.SlabSize - (((shape.PagesPerSlab * SpaceShape.PageSize) + shape.Interleave - 1) / shape.Interleave * shape.Interleave);

    public int Positions => 3;

    public int Groups => 1;

    public int GroupSize => 3;

    public int LossesMax => 1;

    public int Columns => 3;

    public int PageCopies => 2;

    public long RowSize => 2L * _usable;

    /// <summary>A piece is one stripe, or a part of one of its strips.</summary>
    public StripPiece First(long offset, long length)
    {
        int row = (int)(offset / RowSize);
        int inRow = (int)(offset % RowSize);
        int inStripe = inRow % (2 * shape.Interleave);
        int column = inStripe / shape.Interleave;
        int within = inStripe % shape.Interleave;
        int most = inStripe == 0 ? 2 * shape.Interleave : shape.Interleave - within;
        return new StripPiece(row, column, (inRow / (2 * shape.Interleave) * shape.Interleave) + within, (int)Math.Min(length, most));
    }

    public long AddressOf(int row, int column, int slabOffset) =>
        (row * RowSize) + (slabOffset / shape.Interleave * 2L * shape.Interleave) + (column * (long)shape.Interleave) + (slabOffset % shape.Interleave);

    public int ColumnOf(int position) => position;

    public int GroupOf(int column) => 0;

    public int DepthOf(in StripPiece piece) => Math.Min(piece.Length, shape.Interleave);

    public long LockKey(int row, int group, int slabOffset) => ((long)row * shape.SlabSize) + slabOffset;

    public PagePlace PageAt(int column, int page, int copy) => copy == 0
        ? new PagePlace(column, page * SpaceShape.PageSize, IsInData: false)
        : new PagePlace((column + 1) % 3, _usable + (page * SpaceShape.PageSize), IsInData: true);
}
