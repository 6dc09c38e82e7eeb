using TierSpaces.Engine.Pools;

namespace TierSpaces.Engine.Tests.Pools;

/// <summary>The array that is never changed, against a dictionary.</summary>
public class PersistentArrayTests
{
    private const int LeafSize = 10;
    private static readonly int[] s_reaches = [1, LeafSize, 64 * LeafSize, 70 * LeafSize, 64 * 64 * LeafSize, 100_000_000];

    [Theory]
    [InlineData(1)]
    [InlineData(2)]
    [InlineData(3)]
    public void It_holds_what_was_set_last_and_older_ones_stay_as_they_were(int seed)
    {
        Random random = new(seed);
        foreach (int reach in s_reaches)
        {
            PersistentArray<int> array = new(LeafSize);
            Dictionary<int, int> model = [];
            List<(PersistentArray<int> Array, Dictionary<int, int> Model)> older = [];
            for (int step = 1; step <= 60; step++)
            {
                int first = random.Next(reach);
                int[] values = [.. Enumerable.Range(0, random.Next(1, Math.Min(35, reach - first + 1))).Select(_ => random.Next(3))];
                array = values.Length == 1 ? array.Set(first, values[0]) : array.SetRange(first, values);
                for (int i = 0; i < values.Length; i++)
                {
                    model[first + i] = values[i];
                }

                older.Add((array, new(model)));
            }

            Assert.All(older, static version => AssertHolds(version.Array, version.Model));
        }
    }

    [Fact]
    public void Leaves_that_were_not_touched_are_shared_and_those_that_were_are_not()
    {
        PersistentArray<int> before = new PersistentArray<int>(LeafSize).SetRange(0, new int[5 * LeafSize]);
        PersistentArray<int> after = before.Set(2 * LeafSize, 1);

        Assert.Equal(
            [true, true, false, true, true],
            before.Leaves().Zip(after.Leaves(), static (one, other) => ReferenceEquals(one.Elements, other.Elements)));
    }

    [Fact]
    public void A_leaf_ends_soon_after_what_was_set()
    {
        PersistentArray<int> array = new PersistentArray<int>(500).Set(9, 1);

        Assert.InRange(Assert.Single(array.Leaves()).Elements.Length, 10, 16);
        Assert.Equal(500, Assert.Single(array.Set(499, 1).Leaves()).Elements.Length);
        Assert.Equal(0, array[499]);
    }

    private static void AssertHolds(PersistentArray<int> array, Dictionary<int, int> model)
    {
        foreach ((int index, int value) in model)
        {
            Assert.Equal(value, array[index]);
            Assert.Equal(model.GetValueOrDefault(index + 1), array[index + 1]);
        }

        int[] leaves = [.. model.Keys.Select(static index => index / LeafSize).Distinct().Order()];
        Assert.Equal(leaves, array.Leaves().Select(static leaf => leaf.Index));
        Assert.Equal(leaves.Length, array.LeafCount);
        Assert.All(array.Leaves(), leaf => Assert.All(
            leaf.Elements.Select((value, at) => (Value: value, Index: (leaf.Index * LeafSize) + at)),
            element => Assert.Equal(model.GetValueOrDefault(element.Index), element.Value)));
    }
}
