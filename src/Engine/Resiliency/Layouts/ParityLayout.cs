namespace TierSpaces.Engine.Resiliency.Layouts;

// Stripes of a row follow each other: stripe s is at s × interleave in every slab. Parity rotates from stripe to stripe to the left, data begin after it and
// wrap (left-symmetric), so that any C strips that follow each other in the address space lie on C disks:
//
//   one parity, four columns          two parities, seven columns
//     s = 0   1 2 3 P                   s = 0   2 3 4 5 … P Q … 1   P in column (C − 2 − 2s) mod C, Q after it
//     s = 1   2 3 P 1
//     s = 2   3 P 1 2
//
// The checksum pages of a column are in the page area of its own slab and, for each parity, in the last strips of the data area of a following position.
//
// Invariants
//  1. A row is one group: one lock and one dirty region cover a range of offsets in all of its slabs.
//  2. A piece is a part of one strip, or whole stripes that follow each other. Either is in one dirty region and in one checksum page of each column.

/// <summary>Single and dual parity: D strips of data and one or two of parity in each stripe.</summary>
public sealed class ParityLayout : ILayout
{
    private readonly SpaceShape _shape;
    private readonly int _stripe;   // bytes of data of a stripe
    private readonly int _unit;     // bytes of a slab that one piece may lie in

    /// <summary>A layout of a shape with one or two parities, at least two columns of data and one copy.</summary>
    /// <exception cref="ArgumentException">The shape is no such one, or a strip is larger than a dirty region or a checksum page.</exception>
    public ParityLayout(SpaceShape shape)
    {
        _shape = shape;
        _stripe = shape.DataColumns * shape.Interleave;
        _unit = Math.Min(shape.RegionSize, shape.PageSpan);
        if (shape.Parities is not (1 or 2) || shape.DataColumns < 2 || shape.Copies != 1 || _unit % shape.Interleave != 0)
        {
            throw new ArgumentException(
                $"{shape} is no parity. Valid: 1 or 2 parities, at least 2 more columns, 1 copy, an interleave that divides {_unit} bytes.", nameof(shape));
        }
    }

    /// <inheritdoc/>
    public int Positions => _shape.Columns;

    /// <inheritdoc/>
    public int Groups => 1;

    /// <inheritdoc/>
    public int GroupSize => _shape.Columns;

    /// <inheritdoc/>
    public int LossesMax => _shape.Parities;

    /// <inheritdoc/>
    public int StripeSize => _stripe;

    /// <inheritdoc/>
    public int Columns => _shape.Columns;

    /// <inheritdoc/>
    public int PageCopies => _shape.Parities + 1;

    /// <inheritdoc/>
    public long RowSize => _shape.RowSize;

    /// <summary>Returns the column of a strip of data of a stripe.</summary>
    /// <param name="stripe">Stripe in its row, from 0.</param>
    /// <param name="strip">Strip in its stripe, 0 to D − 1.</param>
    public int DataColumn(int stripe, int strip) => (ParityColumn(stripe, 0) + _shape.Parities + strip) % _shape.Columns;

    /// <summary>Returns the column of a parity of a stripe.</summary>
    /// <param name="stripe">Stripe in its row, from 0.</param>
    /// <param name="parity">0: P; 1: Q.</param>
    public int ParityColumn(int stripe, int parity)
    {
        int columns = _shape.Columns;
        int first = _shape.Parities == 1 ? columns - 1 - (stripe % columns) : (int)((columns - 2 + (2L * columns) - (2L * (stripe % columns))) % columns);
        return (first + parity) % columns;
    }

    /// <summary>Returns the strip of data that a column holds in a stripe, 0 to D − 1; P is −1 and Q is −2.</summary>
    public int StripOf(int stripe, int column)
    {
        int behind = (column - ParityColumn(stripe, 0) + _shape.Columns) % _shape.Columns;
        return behind < _shape.Parities ? -1 - behind : behind - _shape.Parities;
    }

    /// <summary>Returns whether a piece is whole stripes; else it is a part of one strip.</summary>
    public bool IsStripes(in StripPiece piece) => piece.Length > _shape.Interleave;

    /// <inheritdoc/>
    public StripPiece First(long offset, long length)
    {
        int row = (int)(offset / RowSize);
        long inRow = offset % RowSize;
        int stripe = (int)(inRow / _stripe);
        int inStripe = (int)(inRow % _stripe);
        int start = stripe * _shape.Interleave;
        if (inStripe == 0 && length >= _stripe)
        {
            long most = Math.Min(length, RowSize - inRow) / _stripe;
            int fits = (_unit - (start & (_unit - 1))) / _shape.Interleave;
            return new StripPiece(row, DataColumn(stripe, 0), start, (int)Math.Min(most, fits) * _stripe);
        }

        int within = inStripe % _shape.Interleave;
        return new StripPiece(
            row, DataColumn(stripe, inStripe / _shape.Interleave), start + within, (int)Math.Min(length, _shape.Interleave - within));
    }

    /// <summary>Returns the address of a block of data; −1 for a block of parity, which has none.</summary>
    public long AddressOf(int row, int column, int slabOffset)
    {
        int stripe = slabOffset / _shape.Interleave;
        int strip = StripOf(stripe, column);
        return strip < 0 ? -1 : (row * RowSize) + ((long)stripe * _stripe) + ((long)strip * _shape.Interleave) + (slabOffset % _shape.Interleave);
    }

    /// <inheritdoc/>
    public int ColumnOf(int position) => position;

    /// <inheritdoc/>
    public int GroupOf(int column) => 0;

    /// <inheritdoc/>
    public int DepthOf(in StripPiece piece) => IsStripes(piece) ? piece.Length / _shape.DataColumns : piece.Length;

    /// <inheritdoc/>
    public long LockKey(int row, int group, int slabOffset) => ((long)row * _shape.SlabSize) + slabOffset;

    /// <inheritdoc/>
    public PagePlace PageAt(int column, int page, int copy)
    {
        int offset = page * SpaceShape.PageSize;
        return copy == 0 ? new PagePlace(column, offset, IsInData: false)
            : new PagePlace(
                (column + copy) % _shape.Columns, _shape.UsableSize + ((copy - 1) * _shape.PagesPerSlab * SpaceShape.PageSize) + offset, IsInData: true);
    }
}
