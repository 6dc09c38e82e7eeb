using TierSpaces.Bench.Experiments;
using TierSpaces.Bench.Nbd;
using TierSpaces.Bench.Tables;

namespace TierSpaces.Bench.Tests;

/// <summary>The states of tiered disks that the experiment compares, at its smallest size.</summary>
public sealed class TieringTests
{
    private const long Size = 64 << 20;

    private static readonly ArmLoad s_load = new("a load", 4096, Durable: false, Seconds: 60, Operations: 400);

    [Theory]
    [InlineData(64L << 20)]
    [InlineData(1L << 30)]
    public void Spilled_fills_the_fast_tier_with_cold_slices_before_it_writes_those_of_the_load(long size)
    {
        TierShape shape = new(size);
        int[] written = [.. shape.Spilled];

        Assert.Equal(written.Length, written.Distinct().Count());
        Assert.All(written, slice => Assert.InRange(slice, 0, shape.FastSlices + shape.SlowSlices - 1));
        Assert.All(written[..shape.FastSlices], slice => Assert.True(slice >= shape.RangeSlices));
        Assert.Empty(shape.Range.Except(written));
        Assert.InRange(written.Length - shape.FastSlices, shape.SlowSlices * 3 / 4, shape.SlowSlices);
    }

    [Theory]
    [InlineData(0)]
    [InlineData(2 << 20)]
    public void Writes_go_to_the_tier_that_holds_the_range_and_the_cache_has_nothing_to_do_on_SSDs(long cache)
    {
        TierShape shape = new(Size);
        using BackingFolder folder = new(Path.GetTempPath());
        using TieredDisk disk = new(folder, "tiered", shape, cache);
        disk.Write(shape.Range);
        Assert.Equal((shape.RangeSlices, 0), disk.Where(shape.RangeSlices));
        OnlyOnTheFastTier(disk, shape, cache);
    }

    [Theory]
    [InlineData(0)]
    [InlineData(2 << 20)]
    public void What_has_spilled_is_on_the_slow_tier_and_the_optimizer_brings_it_back(long cache)
    {
        TierShape shape = new(Size);
        using BackingFolder folder = new(Path.GetTempPath());
        using TieredDisk disk = new(folder, "tiered", shape, cache);
        disk.Write(shape.Spilled);
        Assert.Equal((0, shape.RangeSlices), disk.Where(shape.RangeSlices));
        TierArm spilled = new("spilled", [disk], shape);
        long writes = spilled.Measure(s_load, seed: 1).Operations;
        spilled.Settle();
        Assert.Equal((0, 0), (spilled.Places.Fast, spilled.Places.Resident));
        Assert.True(cache > 0 ? spilled.Places.Cached > 0 : spilled.Places.Slow >= writes, $"{spilled.Places}");

        string outcome = Tiering.HeatAndOptimize(disk, shape);

        Assert.Contains($"{shape.RangeSlices} of {shape.RangeSlices} slices", outcome, StringComparison.Ordinal);
        Assert.Equal((shape.RangeSlices, 0), disk.Where(shape.RangeSlices));
        OnlyOnTheFastTier(disk, shape, cache);
    }

    [Fact]
    public void Disks_that_take_turns_are_loaded_in_every_round_and_their_writes_are_counted()
    {
        TierShape shape = new(Size);
        using BackingFolder folder = new(Path.GetTempPath());
        using TieredDisk one = new(folder, "one", shape, cacheBytes: 0);
        using TieredDisk first = new(folder, "first", shape, cacheBytes: 0);
        using TieredDisk second = new(folder, "second", shape, cacheBytes: 0);
        TierArm[] arms = [new("one", [one], shape) { TakesTurns = true }, new("two", [first, second], shape) { TakesTurns = true }];
        ArmLoad load = new("turns", 4096, Durable: false, Seconds: 0.15);

        List<Finding> findings = new ExperimentRun(new ExperimentSettings(Rounds: 3, Seconds: 1, Size, CacheSize: 0)).Compare(arms, [new(load, "two", "one")]);

        Assert.InRange(Assert.Single(findings).Rate.Median, 0.1, 10);
        Assert.All(arms, arm => Assert.True(arm.Places.Fast > 0 && arm.Places.Below >= arm.Places.Fast, $"{arm.Name}: {arm.Places}"));
        Assert.All([first, second], disk => Assert.True(disk.Places.Fast > 0));
        Assert.Equal((one.Places.Fast, first.Places.Fast + second.Places.Fast), (arms[0].Places.Fast, arms[1].Places.Fast));
    }

    private static void OnlyOnTheFastTier(TieredDisk disk, TierShape shape, long cache)
    {
        TierArm arm = new("arm", [disk], shape);
        LoadResult result = arm.Measure(s_load, seed: 2);

        Assert.True(arm.Places.Fast >= result.Operations, $"{arm.Places} of {result.Operations} writes");
        Assert.Equal((0, 0, 0), (arm.Places.Slow, arm.Places.Cached, arm.Places.PastFull));
        Assert.Equal(cache > 0 ? arm.Places.Fast : 0, arm.Places.Resident);
    }
}
