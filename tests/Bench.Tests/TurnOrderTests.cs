using TierSpaces.Bench.Nbd;
using Xunit;

namespace TierSpaces.Bench.Tests;

public sealed class TurnOrderTests
{
    [Theory]
    [InlineData(2)]
    [InlineData(3)]
    [InlineData(4)]
    [InlineData(5)]
    [InlineData(6)]
    public void In_the_rows_of_a_square_each_follows_every_other_and_has_every_place_equally_often(int count)
    {
        int[][] rows = [.. Enumerable.Range(0, TurnOrder.Rows(count)).Select(row => TurnOrder.Of(count, row))];

        Assert.All(rows, row => Assert.Equal(Enumerable.Range(0, count), row.Order()));
        Assert.All(Enumerable.Range(0, count), place => Assert.All(rows.GroupBy(row => row[place]), one => Assert.Equal(rows.Length / count, one.Count())));
        List<IGrouping<(int First, int Second), (int First, int Second)>> followings = rows.SelectMany(row => row.Zip(row.Skip(1))).GroupBy(pair => pair)
            .ToList();
        Assert.Equal(count * (count - 1), followings.Count);
        Assert.All(followings, pair => Assert.Equal(rows.Length / count, pair.Count()));
    }

    [Fact]
    public void One_alone_is_always_next() => Assert.Equal([0, 0, 0], Enumerable.Range(0, 3).Select(row => TurnOrder.Of(1, row).Single()));

    [Fact]
    public void Rows_beyond_the_square_repeat_it() => Assert.Equal(TurnOrder.Of(3, 4), TurnOrder.Of(3, 10));
}
