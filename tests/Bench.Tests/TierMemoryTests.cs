using TierSpaces.Bench.Tables;

namespace TierSpaces.Bench.Tests;

/// <summary>Memory that tiered disks take: of the whole process, so nothing else runs meanwhile.</summary>
[CollectionDefinition(nameof(TierMemoryTests), DisableParallelization = true)]
[Collection(nameof(TierMemoryTests))]
public sealed class TierMemoryTests(ITestOutputHelper output)
{
    private const long TiB = 1L << 40;

    [Theory]
    [InlineData(TiB / 1024, 1)]
    [InlineData(TiB / 4, 1)]
    [InlineData(4 * TiB, 16)]
    public void Map_and_heat_take_at_most_what_is_required(long size, int stride)
    {
        TierMemoryCase one = new(size, 1 << 20, stride);

        TierMemoryResult result = TierMemory.Measure(one);

        output.WriteLine(result.Row);
        Assert.Equal(one.Stretches.Sum(stretch => stretch.Count), result.Mapped);
        Assert.InRange(result.PerTiB, 11, TierMemoryResult.Required);   // 8 bytes of map and 3 of heat, at the least
    }
}
