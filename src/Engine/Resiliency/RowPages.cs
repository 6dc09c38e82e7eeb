using TierSpaces.Engine.Resiliency.Layouts;

namespace TierSpaces.Engine.Resiliency;

/// <summary>The checksum pages of a row that are in memory, by place. A row of which none is takes no memory for them.</summary>
internal sealed class RowPages(SpaceShape shape)
{
    private readonly int _perColumn = shape.PagesPerSlab;
    private ChecksumPage?[]? _pages;   // by column, then by index; null while _count is 0
    private int _count;

    internal ChecksumPage? Find(int column, int index) => _pages?[(column * _perColumn) + index];

    internal void Add(ChecksumPage page)
    {
        _pages ??= new ChecksumPage?[shape.Columns * _perColumn];
        ref ChecksumPage? place = ref Place(page);
        if (place is not null)
        {
            throw new InvalidOperationException($"Page {page.Index} of column {page.Column} of row {page.Row.Index} is in memory already.");
        }

        place = page;
        _count++;
    }

    internal void Remove(ChecksumPage page)
    {
        Place(page) = null;
        _pages = --_count == 0 ? null : _pages;
    }

    private ref ChecksumPage? Place(ChecksumPage page) => ref _pages![(page.Column * _perColumn) + page.Index];
}
