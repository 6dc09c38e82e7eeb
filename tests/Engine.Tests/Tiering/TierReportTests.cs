using TierSpaces.Engine.Tiering;

namespace TierSpaces.Engine.Tests.Tiering;

public sealed class TierReportTests
{
    private const int Mi = 1 << 20;

    private static readonly (string?, long)[] s_two = [(null, 4L * Mi), (null, 20L * Mi)];

    [Fact]
    public void A_row_has_the_size_of_the_hottest_slices_with_so_much_of_the_heat()
    {
        double[] heat = [0, 50, 5, 30, 10, 5, 0];
        TierReport report = TierReport.Make(7, Mi, s_two, static slice => slice < 3 ? 0 : 1, slice => heat[slice], null);
        Assert.Equal(Enumerable.Range(1, 20).Select(static i => 105 - (5 * i)), report.Rows.Select(static row => row.Percent));
        Assert.Equal(
            [(100, 5L), (95, 4L), (90, 3L), (85, 3L), (80, 2L), (55, 2L), (50, 1L), (5, 1L)],
            report.Rows.Where(static row => row.Percent is > 75 or 55 or 50 or 5).Select(static row => (row.Percent, row.Bytes / Mi)));
        Assert.Equal([55.0, 45.0], report.Tiers.Select(static tier => Math.Round(tier.PercentOfIo, 3)));
        Assert.Equal([3L * Mi, 4L * Mi], report.Tiers.Select(static tier => tier.MappedBytes));
    }

    // The largest size that a row asks for serves what the row says, and one slice less does not.
    [Fact]
    public void Sizes_are_the_smallest_that_serve_so_much()
    {
        Random random = new(1);
        for (int round = 0; round < 200; round++)
        {
            double[] heat = [.. Enumerable.Range(0, random.Next(1, 300)).Select(_ => random.Next(3) == 0 ? 0 : Math.Round(random.NextDouble() * 100, 3))];
            TierReport report = TierReport.Make(heat.Length, Mi, s_two, static _ => 1, slice => heat[slice], null);
            double[] hottest = [.. heat.OrderDescending()];
            foreach (TierReportRow row in report.Rows)
            {
                int slices = (int)(row.Bytes / Mi);
                double wanted = heat.Sum() * row.Percent / 100;
                Assert.True(hottest[..slices].Sum() >= wanted - 0.01, $"{row}");
                Assert.True(slices == 0 || hottest[..(slices - 1)].Sum() <= wanted + 0.01, $"{row}");
            }
        }
    }

    [Fact]
    public void Pinned_slices_count_where_they_are_pinned_and_unmapped_ones_nowhere()
    {
        TierReport report = TierReport.Make(
            10, Mi, s_two, static slice => slice == 9 ? -1 : 1, static slice => slice == 9 ? 1000 : slice, static slice => slice switch { 1 or 8 or 9 => 0,
            2 => 1, _ => -1 });
        Assert.Equal([2L * Mi, Mi], report.Tiers.Select(static tier => tier.PinnedBytes));
        Assert.Equal([25.0, 5.556], report.Tiers.Select(static tier => Math.Round(tier.PinnedPercentOfIo, 3)));
        Assert.Equal([0.0, 100.0], report.Tiers.Select(static tier => tier.PercentOfIo));
    }

    [Fact]
    public void The_text_is_that_of_Windows()
    {
        double[] heat = [.. Enumerable.Range(0, 20).Select(static _ => 5.0)];
        TierReport report = TierReport.Make(20, Mi, s_two, static slice => slice < 4 ? 0 : 1, slice => heat[slice], static slice => slice == 3 ? 0 : -1);
        string[] expected =
        [
            "Storage Tier Optimization Report:",
            "",
            "% I/Os Serviced from Perf Tier  Perf Tier Size Required",
            .. Enumerable.Range(0, 20).Select(static i => $"{100 - (5 * i),29}%  {20 - i}.00 MB{(i == 16 ? " *" : "")}"),
            "",
            "* Current size of the Performance tier: 4.00 MB",
            "  Percent of total I/Os serviced from the Performance tier: 20%",
            "",
            "  Size of files pinned to the Performance tier: 1.00 MB",
            "  Percent of total I/Os: 5%",
            "",
            "  Size of files pinned to the Capacity tier: 0 bytes",
            "  Percent of total I/Os: 0%",
            "",
        ];
        Assert.Equal(expected, TierReportText.Format(report).Split('\n'));
    }

    [Fact]
    public void A_load_without_heat_needs_nothing()
    {
        TierReport report = TierReport.Make(10, Mi, s_two, static _ => 0, static _ => 0, null);
        Assert.All(report.Rows, static row => Assert.Equal(0, row.Bytes));
        Assert.Contains("100%  0 bytes *", TierReportText.Format(report), StringComparison.Ordinal);
        Assert.Contains("serviced from the Performance tier: 0%", TierReportText.Format(report), StringComparison.Ordinal);
    }

    [Theory]
    [InlineData(99.9999, "99%")]
    [InlineData(0.0001, "1%")]
    public void All_is_only_said_of_all(double share, string expected)
    {
        TierReport report = TierReport.Make(2, Mi, s_two, static slice => (int)slice, slice => slice == 0 ? share : 100 - share, null);
        Assert.Contains($"serviced from the Performance tier: {expected}", TierReportText.Format(report), StringComparison.Ordinal);
    }

    [Fact]
    public void The_heat_floor_is_named_with_what_is_below_it()
    {
        TierReport report = TierReport.Make(4, Mi, s_two, static slice => (int)slice % 2, static slice => slice * 2, null, minimumHeat: 5);
        Assert.Equal((5.0, 2L * Mi), (report.MinimumHeat, report.BelowMinimumBytes));   // 2 and 4; the first has none
        Assert.Contains(
            "\n  Least heat of what comes to a faster tier (-MinimumHeat): 5\n  Size of what is used and has less: 2.00 MB\n",
            TierReportText.Format(report), StringComparison.Ordinal);
        report = TierReport.Make(4, Mi, s_two, static slice => (int)slice % 2, static slice => slice * 2, null);
        Assert.DoesNotContain("MinimumHeat", TierReportText.Format(report), StringComparison.Ordinal);
    }
}
