namespace TierSpaces.Engine.Resiliency.Layouts;

// Maps the address space of a space to the slabs of a row, and says which slabs replace each other.
//
//   position    a slab of a row
//   group       positions that replace each other: one set of dirty regions, one set of locks, LossesMax of them may be out
//   column      a stretch of a row with checksum entries of its own: the data of one position, or of copies that are equal
//
// Positions of a group follow each other: group g has the positions from g × GroupSize on.

/// <summary>A layout: pure functions between addresses of a space and places in the slabs of a row.</summary>
public interface ILayout
{
    /// <summary>Slabs of a row.</summary>
    int Positions { get; }

    /// <summary>Groups of a row.</summary>
    int Groups { get; }

    /// <summary>Positions of a group.</summary>
    int GroupSize { get; }

    /// <summary>Positions of a group that may be out without loss of data.</summary>
    int LossesMax { get; }

    /// <summary>Columns of a row: stretches with checksum entries of their own.</summary>
    int Columns { get; }

    /// <summary>Copies of each checksum page.</summary>
    int PageCopies { get; }

    /// <summary>Bytes of address space in one row.</summary>
    long RowSize { get; }

    /// <summary>
    /// Returns the first piece of a request: a part of [<paramref name="offset"/>, + <paramref name="length"/>) in one row, one group and one dirty
    /// region that one lock covers.
    /// </summary>
    StripPiece First(long offset, long length);

    /// <summary>
    /// Bytes of a strip, where strips of one column that follow each other in its slabs can be one piece; 0: they cannot. Whole strips then go round
    /// the columns, and <see cref="RunWindow"/> is not 0.
    /// </summary>
    int RunStrip => 0;

    /// <summary>
    /// Bytes of address space, a divisor of <see cref="RowSize"/>, in which the strips of a column are in one dirty region and one checksum page.
    /// </summary>
    long RunWindow => 0;

    /// <summary>Bytes of data that a write has to cover as a whole so that nothing is read for it; 0: any write does.</summary>
    int StripeSize => 0;

    /// <summary>Returns the address of a block of data.</summary>
    long AddressOf(int row, int column, int slabOffset);

    /// <summary>Returns the column of the data of a position.</summary>
    int ColumnOf(int position);

    /// <summary>Returns the group that a column belongs to.</summary>
    int GroupOf(int column);

    /// <summary>Returns the bytes that a piece covers in each slab of its group.</summary>
    int DepthOf(in StripPiece piece);

    /// <summary>
    /// Returns the key of a place for range locks: contiguous in a group, groups contiguous in a row, rows contiguous in the space.
    /// </summary>
    long LockKey(int row, int group, int slabOffset);

    /// <summary>Returns where a copy of a checksum page of a column is.</summary>
    PagePlace PageAt(int column, int page, int copy);
}

/// <summary>Place of a checksum page.</summary>
/// <param name="Position">Position whose slab holds it.</param>
/// <param name="Offset">Offset in bytes in the page area of that slab, or in its data.</param>
/// <param name="IsInData">Whether it is in the data of the slab.</param>
public readonly record struct PagePlace(int Position, int Offset, bool IsInData);
