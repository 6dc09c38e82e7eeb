using TierSpaces.Engine.Caching;
using TierSpaces.Engine.Tests.Lanes;

namespace TierSpaces.Engine.Tests.Caching;

public class CacheIndexTests
{
    [Theory]
    [InlineData(1, 40)]
    [InlineData(2, 400)]
    [InlineData(3, 100_000)]
    public void It_answers_as_a_dictionary_does(int seed, int blocks)
    {
        Random random = new(seed);
        CacheIndex index = new(64);
        Dictionary<long, CachePlace> expected = [];
        for (int step = 0; step < 20_000; step++)
        {
            long block = random.Next(blocks);
            CachePlace place = new(random.Next(1_000_000), random.Next(4) == 0);
            if (random.Next(3) > 0)
            {
                Assert.Equal(!expected.ContainsKey(block), index.Set(block, place));
                expected[block] = place;
            }
            else if (expected.Remove(block))
            {
                index.Remove(block);
            }

            Assert.Equal(expected.Count, index.Count);
        }

        for (long block = 0; block < blocks; block++)
        {
            Assert.Equal(expected.GetValueOrDefault(block, CachePlace.None), index.Find(block));
        }
    }

    [Theory]
    [InlineData(0, 1000)]
    [InlineData(100, 20)]
    [InlineData(990, 10)]
    [InlineData(5000, 10)]
    public void The_blocks_of_a_range_come_in_order(long first, long count)
    {
        CacheIndex index = new(200);
        foreach (int block in Enumerable.Range(0, 1000).Where(block => block % 7 == 3).Reverse())
        {
            index.Set(block, new CachePlace(block * 2, false));
        }

        List<CachedBlock> found = [];
        index.Collect(first, count, found);
        long[] expected = [.. Enumerable.Range(0, 1000).Where(block => block % 7 == 3 && block >= first && block < first + count).Select(block => (long)block)];
        Assert.Equal(expected, found.Select(block => block.Block));
        Assert.All(found, block => Assert.Equal(block.Block * 2, block.Place.Position));
        Assert.Equal(expected.Length > 0, index.HasAny(first, count));
    }

    [Fact]
    public void Finding_and_setting_allocate_nothing()
    {
        CacheIndex index = new(1000);
        Assert.Equal(0, AllocationMeter.LeastOf(() =>
        {
            for (int block = 0; block < 1000; block++)
            {
                index.Set(block, new CachePlace(block, false));
                index.Find(block / 2);
            }

            for (int block = 0; block < 1000; block++)
            {
                index.Remove(block);
            }
        }));
    }
}
