using TierSpaces.Bench.Experiments;
using TierSpaces.Bench.Tables;

namespace TierSpaces.Bench.Tests;

/// <summary>Requests and bytes a second, shown beside each other.</summary>
public sealed class BlockSizesTests
{
    private const int Small = 4 << 10;

    [Fact]
    public void Bytes_a_second_are_the_rate_times_the_size()
    {
        ArmLoad load = new("a load", Small, Durable: false, Seconds: 1);
        Finding[] findings =
        [
            new(new ArmComparison(load, "SSD, 16 KiB", "SSD, 4 KiB"), new Spread(0.5, 0.5, 0.5), default),
            new(new ArmComparison(load, "SSD, 4 MiB", "SSD, 4 KiB"), new Spread(0.01, 0.01, 0.01), default),
        ];

        Assert.Contains("| a load | SSD | 0.500 (2.0) | 0.010 (10.2) |", BlockSizes.Notes(findings), StringComparison.Ordinal);
    }
}
