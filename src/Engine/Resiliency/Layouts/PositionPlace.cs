namespace TierSpaces.Engine.Resiliency.Layouts;

/// <summary>Content of the slab of a position, as <c>Get-PhysicalExtent</c> shows it.</summary>
/// <param name="Column">Column of its data.</param>
/// <param name="Copy">Number among the positions that hold this column.</param>
/// <param name="Offset">First byte of its row in the address space.</param>
public readonly record struct PositionPlace(int Column, int Copy, long Offset)
{
    /// <summary>Returns the content of the slab of a position of a row.</summary>
    public static PositionPlace Of(ILayout layout, int row, int position)
    {
        int column = layout.ColumnOf(position);
        int copy = 0;
        for (int other = 0; other < position; other++)
        {
            copy += layout.ColumnOf(other) == column ? 1 : 0;
        }

        return new PositionPlace(column, copy, row * layout.RowSize);
    }
}
