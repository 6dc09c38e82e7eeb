namespace TierSpaces.Engine.Tests.VirtualDisks;

/// <summary>Two clients change the same blocks while changes wait for every reason, and clients go at any moment.</summary>
public sealed class WaitLoadTests
{
    private const int Kinds = 6;
    private static readonly int s_changes = (Environment.GetEnvironmentVariable("TIERSPACES_TEST_LONG") == "1" ? 100_000 : 6_000) / Kinds;

    [Theory]
    [InlineData("mirror")]
    [InlineData("no checksums")]
    [InlineData("parity")]
    [InlineData("cache")]
    [InlineData("parity behind a cache")]
    [InlineData("tiers")]
    public void What_is_read_in_the_end_is_never_older_than_an_acknowledged_change(string kind)
    {
        int changes = 0;
        int dropped = 0;
        for (ulong seed = 1; changes < s_changes; seed++)
        {
            WaitLoad load = new(kind, seed);
            load.Run(Math.Min(1000, s_changes - changes));
            changes += load.Changes;
            dropped += load.Dropped;
        }

        Assert.True(dropped > s_changes / 200, $"Only {dropped} changes of clients that went were dropped.");
    }
}
