namespace TierSpaces.PowerCuts;

/// <summary>The whole machine loses its power: host, kernel, page cache and mounted file systems at once, and its disks what they had not flushed.</summary>
public sealed class PowerCutTests
{
    private const ulong Seed = 1;
    private const int Cuts = 20;
    private const ulong LyingSeed = 3;
    private const int LyingCuts = 8;

    public PowerCutTests()
    {
        Assert.SkipUnless(Environment.GetEnvironmentVariable("TIERSPACES_TEST_LONG") == "1", "20 power cuts take a quarter of an hour: ./build.sh Test -Long");
        string? reason = Machine.WhyNot();
        Assert.SkipWhen(reason is not null, reason ?? "");
    }

    [Fact]
    public void What_was_flushed_survives_power_cuts_of_a_machine()
    {
        using CutSeries series = new(Seed, Console.WriteLine);
        CutResult result = series.Run(Cuts);
        Assert.True(result.Violation is null, result.Violation);
        Assert.Equal(Cuts, result.Cuts);
        Assert.True(result.Flushes > 0 && result.Pending > 0 && result.Sectors > 0 && result.Files > 0, result.ToString());
    }

    [Fact]
    public void Disks_that_lie_about_flushes_are_noticed()
    {
        using CutSeries series = new(LyingSeed, Console.WriteLine) { FlushesLie = true };
        Assert.NotNull(series.Run(LyingCuts).Violation);
    }
}
