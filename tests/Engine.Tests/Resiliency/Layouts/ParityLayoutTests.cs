using TierSpaces.Engine.Resiliency.Layouts;

namespace TierSpaces.Engine.Tests.Resiliency.Layouts;

/// <summary>Where single and dual parity put strips, pages and locks.</summary>
public sealed class ParityLayoutTests
{
    private const int Kibibyte = 1 << 10;
    private const int Mebibyte = 1 << 20;

    [Fact]
    public void Single_parity_rotates_to_the_left_and_data_follow_it()
    {
        ParityLayout layout = new(Shape(columns: 4, parities: 1));
        Assert.Equal(["1 2 3 P", "2 3 P 1", "3 P 1 2", "P 1 2 3", "1 2 3 P"], Enumerable.Range(0, 5).Select(stripe => Picture(layout, stripe)));
    }

    [Fact]
    public void Dual_parity_rotates_by_two_and_data_follow_Q()
    {
        ParityLayout layout = new(Shape(columns: 7, parities: 2));
        Assert.Equal(
            ["1 2 3 4 5 P Q", "3 4 5 P Q 1 2", "5 P Q 1 2 3 4", "Q 1 2 3 4 5 P", "2 3 4 5 P Q 1", "4 5 P Q 1 2 3", "P Q 1 2 3 4 5", "1 2 3 4 5 P Q"],
            Enumerable.Range(0, 8).Select(stripe => Picture(layout, stripe)));
    }

    [Theory]
    [MemberData(nameof(Shapes))]
    public void Strips_of_a_row_that_follow_each_other_are_on_different_disks(int columns, int parities)
    {
        SpaceShape shape = Shape(columns, parities);
        ParityLayout layout = new(shape);
        int strips = (int)Math.Min(5L * columns * shape.DataColumns, layout.RowSize / shape.Interleave);
        int[] held = [.. Enumerable.Range(0, strips).Select(strip => layout.First((long)strip * shape.Interleave, 4096).Column)];
        for (int first = 0; first + columns <= held.Length; first++)
        {
            Assert.Equal(columns, held.Skip(first).Take(columns).Distinct().Count());
        }
    }

    [Theory]
    [MemberData(nameof(Shapes))]
    public void Every_block_has_one_place_and_every_place_one_block_or_parity(int columns, int parities)
    {
        SpaceShape shape = Shape(columns, parities);
        ParityLayout layout = new(shape);
        HashSet<(int Column, int Offset)> taken = [];
        for (long address = layout.RowSize; address < 2 * layout.RowSize; address += 4096)
        {
            StripPiece piece = layout.First(address, 4096);
            Assert.Equal((1, address), (piece.Row, layout.AddressOf(1, piece.Column, piece.SlabOffset)));
            Assert.True(taken.Add((piece.Column, piece.SlabOffset)));
        }

        int blocks = shape.UsableSize / 4096;
        int parity = Enumerable.Range(0, columns).Sum(column => Enumerable.Range(0, blocks).Count(block => layout.AddressOf(1, column, block * 4096) < 0));
        Assert.Equal((parities * blocks, columns * blocks), (parity, parity + taken.Count));
    }

    [Theory]
    [MemberData(nameof(Shapes))]
    public void Requests_are_cut_into_whole_stripes_and_parts_of_strips_that_one_region_and_one_page_hold(int columns, int parities)
    {
        SpaceShape shape = Shape(columns, parities);
        ParityLayout layout = new(shape);
        Random random = new(columns);
        int unit = Math.Min(shape.RegionSize, shape.PageSpan);
        for (int round = 0; round < 200; round++)
        {
            long start = random.NextInt64(3 * layout.RowSize / 4096) * 4096;
            long end = start + ((1 + random.NextInt64(3 * shape.RegionSize / 4096)) * 4096);
            for (long at = start; at < end;)
            {
                StripPiece piece = layout.First(at, end - at);
                int depth = layout.DepthOf(piece);
                Assert.Equal(layout.IsStripes(piece), piece.Length > shape.Interleave);
                Assert.InRange(piece.Length, 1, end - at);
                Assert.Equal(piece.SlabOffset / unit, (piece.SlabOffset + depth - 1) / unit);
                Assert.InRange(piece.SlabOffset + depth, 1, shape.UsableSize);
                Assert.True(!layout.IsStripes(piece) || (piece.Length == depth * shape.DataColumns && piece.SlabOffset % shape.Interleave == 0));
                Assert.Equal(at, layout.AddressOf(piece.Row, piece.Column, piece.SlabOffset));
                at += piece.Length;
            }
        }
    }

    [Theory]
    [MemberData(nameof(Shapes))]
    public void Pages_of_a_column_survive_as_many_disks_as_its_data(int columns, int parities)
    {
        SpaceShape shape = Shape(columns, parities);
        ParityLayout layout = new(shape);
        HashSet<PagePlace> taken = [];
        for (int column = 0; column < columns; column++)
        {
            for (int page = 0; page < shape.PagesPerSlab; page++)
            {
                PagePlace[] copies = [.. Enumerable.Range(0, layout.PageCopies).Select(copy => layout.PageAt(column, page, copy))];
                Assert.Equal(parities + 1, copies.Select(static copy => copy.Position).Distinct().Count());
                Assert.All(copies, copy => Assert.True(taken.Add(copy)));
                Assert.All(copies.Skip(1), copy => Assert.True(copy.IsInData && copy.Offset >= shape.UsableSize && copy.Offset + 4096 <= shape.SlabSize));
            }
        }
    }

    [Fact]
    public void A_shape_that_is_no_parity_is_rejected()
    {
        Assert.Throws<ArgumentException>(() => new ParityLayout(Shape(4, 0)));
        Assert.Throws<ArgumentException>(() => new ParityLayout(Shape(2, 1)));
        Assert.Throws<ArgumentException>(() => new ParityLayout(Shape(4, 1) with { Copies = 2 }));
        Assert.Throws<ArgumentException>(() => new ParityLayout(Shape(4, 1) with { Interleave = 512 * Kibibyte }));   // larger than a region
    }

    public static TheoryData<int, int> Shapes() => new()
    {
        { 3, 1 }, { 4, 1 }, { 5, 1 }, { 8, 1 }, { 4, 2 }, { 7, 2 }, { 8, 2 }, { 17, 2 },
    };

    private static SpaceShape Shape(int columns, int parities) => new(columns, 1, 64 * Kibibyte, 4 * Mebibyte, true, parities);

    private static string Picture(ParityLayout layout, int stripe) => string.Join(' ', Enumerable.Range(0, layout.Columns).Select(column =>
        layout.StripOf(stripe, column) switch { -1 => "P", -2 => "Q", int strip => $"{strip + 1}" }));
}
