using TierSpaces.Engine.Resiliency.Layouts;

namespace TierSpaces.Engine.Tests.Resiliency.Layouts;

public class MirrorLayoutTests
{
    private const int Cases = 100_000;

    [Fact]
    public void Pieces_agree_with_a_byte_by_byte_model_and_come_back_to_their_addresses()
    {
        Random random = new(11);
        for (int i = 0; i < Cases; i++)
        {
            SpaceShape shape = RandomShape(random);
            long offset = random.NextInt64(shape.RowSize * 1000 / 4096) * 4096;
            long length = (1 + random.Next(1024)) * 4096L;
            StripPiece piece = new MirrorLayout(shape).First(offset, length);
            foreach (long at in new[] { 0, piece.Length - 1, random.Next(piece.Length) })
            {
                Assert.Equal((piece.Row, piece.Column, piece.SlabOffset + at), Naive(shape, offset + at));
                Assert.Equal(offset + at, new MirrorLayout(shape).AddressOf(piece.Row, piece.Column, (int)(piece.SlabOffset + at)));
            }
        }
    }

    [Fact]
    public void A_piece_stays_in_one_strip_one_region_and_one_page_and_is_as_long_as_that_allows()
    {
        Random random = new(12);
        for (int i = 0; i < Cases; i++)
        {
            SpaceShape shape = RandomShape(random);
            long offset = random.NextInt64(shape.RowSize * 1000 / 4096) * 4096;
            long length = (1 + random.Next(1024)) * 4096L;
            StripPiece piece = new MirrorLayout(shape).First(offset, length);
            int last = piece.SlabOffset + piece.Length - 1;
            Assert.Equal(piece.SlabOffset / shape.RegionSize, last / shape.RegionSize);
            Assert.Equal(piece.SlabOffset / shape.PageSpan, last / shape.PageSpan);
            bool endsAtBound = (last + 1) % Math.Min(shape.RegionSize, shape.PageSpan) == 0 || (shape.Columns > 1 && (last + 1) % shape.Interleave == 0);
            Assert.True(piece.Length == length || endsAtBound);
        }
    }

    [Fact]
    public void Distinct_addresses_have_distinct_places()
    {
        SpaceShape shape = new(3, 2, 16 << 10, 64 << 10, true);
        HashSet<(int, int, int)> places = [];
        for (long at = 0; at < shape.RowSize * 2; at += 4096)
        {
            StripPiece piece = new MirrorLayout(shape).First(at, 4096);
            Assert.True(places.Add((piece.Row, piece.Column, piece.SlabOffset)));
        }

        Assert.Equal(2 * 3 * 16, places.Count);
    }

    [Fact]
    public void Lock_keys_of_a_slab_follow_each_other_and_those_of_two_slabs_never_meet()
    {
        Random random = new(13);
        for (int i = 0; i < Cases; i++)
        {
            SpaceShape shape = RandomShape(random);
            int row = random.Next(1000), column = random.Next(shape.Columns);
            long first = new MirrorLayout(shape).LockKey(row, column, 0);
            long last = new MirrorLayout(shape).LockKey(row, column, shape.SlabSize - 1);
            Assert.Equal(shape.SlabSize - 1, last - first);
            Assert.Equal(last + 1, column + 1 < shape.Columns ? new MirrorLayout(shape).LockKey(row, column + 1, 0)
                : new MirrorLayout(shape).LockKey(row + 1, 0, 0));
        }
    }

    // Properties of every layout on which the engine and the common parts rely.
    [Fact]
    public void Groups_columns_and_pages_agree_with_each_other()
    {
        Random random = new(14);
        for (int i = 0; i < 1000; i++)
        {
            SpaceShape shape = RandomShape(random);
            MirrorLayout layout = new(shape);
            Assert.Equal(layout.Positions, layout.Groups * layout.GroupSize);
            HashSet<PagePlace> places = [];
            for (int column = 0; column < layout.Columns; column++)
            {
                for (int copy = 0; copy < layout.PageCopies; copy++)
                {
                    PagePlace place = layout.PageAt(column, random.Next(shape.PagesPerSlab), copy);
                    Assert.True(places.Add(place));
                    Assert.Equal(layout.GroupOf(column), place.Position / layout.GroupSize);
                    Assert.Equal(column, layout.ColumnOf(place.Position));
                }
            }
        }
    }

    private static (int Row, int Column, long SlabOffset) Naive(SpaceShape shape, long address)
    {
        long row = address / (shape.Columns * (long)shape.SlabSize);
        long inRow = address % (shape.Columns * (long)shape.SlabSize);
        long strip = inRow / shape.Interleave;
        return ((int)row, (int)(strip % shape.Columns), (strip / shape.Columns * shape.Interleave) + (inRow % shape.Interleave));
    }

    private static SpaceShape RandomShape(Random random)
    {
        int slab = 1 << random.Next(20, 29);
        int interleave = 1 << random.Next(14, Math.Min(25, 1 + int.Log2(slab)));
        return new SpaceShape(1 + random.Next(12), 1 + random.Next(3), interleave, slab, random.Next(2) == 0);
    }
}
