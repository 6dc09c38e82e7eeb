using TierSpaces.Engine.Resiliency;
using TierSpaces.Engine.Resiliency.Layouts;

namespace TierSpaces.Engine.Tests.Resiliency;

/// <summary>Every place has its own page, whether rows share a chunk or span several.</summary>
public sealed class PageTableTests
{
    [Theory]
    [InlineData(1, 1 << 20)]     // 128 rows to a chunk
    [InlineData(3, 16 << 20)]    // rows that end inside a chunk
    [InlineData(2, 256 << 20)]   // two chunks to a row
    public void It_finds_what_a_dictionary_finds(int columns, int slabSize)
    {
        SpaceShape shape = new(columns, 1, 64 << 10, slabSize, true);
        PageTable table = new(new MirrorLayout(shape), shape);
        Dictionary<(int Row, int Column, int Index), ChecksumPage> expected = [];
        Random random = new(columns);
        SpaceRow[] rows = [.. Enumerable.Range(0, 300)
            .Select(row => new SpaceRow(new MirrorLayout(shape), shape, new SpaceRowMap(row, new SlabPlace[columns], true, new ushort[columns])))];
        for (int step = 0; step < 20_000; step++)
        {
            (int Row, int Column, int Index) place = (random.Next(rows.Length), random.Next(columns), random.Next(shape.PagesPerSlab));
            Assert.Same(expected.GetValueOrDefault(place), table.Find(place.Row, place.Column, place.Index));
            if (expected.Remove(place, out ChecksumPage? page))
            {
                table.Remove(page);
            }
            else
            {
                page = new ChecksumPage();
                page.Assign(rows[place.Row], place.Column, place.Index);
                table.Add(page);
                expected.Add(place, page);
            }
        }

        Assert.All(expected, pair => Assert.Same(pair.Value, table.Find(pair.Key.Row, pair.Key.Column, pair.Key.Index)));
        Assert.Null(table.Find(1 << 30, 0, 0));
    }

    [Fact]
    public void A_place_is_taken_once()
    {
        SpaceShape shape = new(1, 1, 64 << 10, 16 << 20, true);
        PageTable table = new(new MirrorLayout(shape), shape);
        SpaceRow row = new(new MirrorLayout(shape), shape, new SpaceRowMap(0, new SlabPlace[1], true, new ushort[1]));
        ChecksumPage page = new();
        page.Assign(row, 0, 3);
        table.Add(page);

        Assert.Throws<InvalidOperationException>(() => table.Add(page));
    }
}
