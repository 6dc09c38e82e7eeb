using TierSpaces.Bench.Experiments;
using TierSpaces.Bench.Tables;

namespace TierSpaces.Bench.Tests;

/// <summary>Bars for pools of more and more disks, and the form of their rates.</summary>
public sealed class ScalingTests
{
    private const int Small = 4 << 10;

    [Fact]
    public void Scaling_requires_a_share_of_linear_where_the_processor_is_not_the_limit()
    {
        Assert.Equal(27.2, Scaling.Bar(32, isSequential: false)!.Value, 1e-9);
        Assert.Equal(3.4, Scaling.Bar(4, isSequential: true)!.Value, 1e-9);
        Assert.Null(Scaling.Bar(8, isSequential: true));
        ArmLoad load = new("a load", Small, Durable: false, Seconds: 1);
        string notes = Scaling.Notes([new Finding(new ArmComparison(load, "4 disks", "1 disk"), new Spread(3.6, 3, 4), default)], []);
        Assert.Contains("| a load | 1.00 | 1.00 | 0.90 |", notes, StringComparison.Ordinal);
    }
}
