using System.Diagnostics;
using System.Xml.Linq;
using TierSpaces.Bench.Charts;
using TierSpaces.Bench.Experiments;
using TierSpaces.Bench.Nbd;
using TierSpaces.Bench.Tables;

namespace TierSpaces.Bench.Tests;

/// <summary>From loads to a page, with arrangements whose rates are known.</summary>
public sealed class ExperimentTests
{
    private static readonly ArmLoad s_load = new("a load", 4096, Durable: false, Seconds: 1);
    private static readonly ExperimentSettings s_settings = new(Rounds: 3, Seconds: 1, Size: 64 << 20, CacheSize: 0);

    [Fact]
    public void A_ratio_is_of_the_loads_of_one_round_and_every_other_round_goes_backwards()
    {
        List<string> order = [];
        FakeArm slow = new("slow", order, 100, 200, 400);
        FakeArm fast = new("fast", order, 300, 1200, 800);

        List<Finding> findings = new ExperimentRun(s_settings).Compare(
            [slow, fast], [new(s_load, "fast", "slow", Bar: 3), new(s_load, "fast", "slow", Bar: 3.5), new(s_load, "fast", "not there")]);

        Assert.Equal(2, findings.Count);
        Assert.Equal(new Spread(3, 2, 6), findings[0].Rate);
        Assert.False(findings[0].Misses);
        Assert.True(findings[1].Misses);
        string[] settled = ["settle slow", "settle fast"];
        Assert.Equal([.. settled, "slow 0", .. settled, "fast 0", .. settled, "fast 1", .. settled, "slow 1", .. settled, "slow 2", .. settled, "fast 2"],
            order);
    }

    [Fact]
    public void The_page_names_command_parameters_ratios_and_what_was_missed()
    {
        string page = Document(new Spread(0.5, 0.4, 0.6)).Page();

        Assert.StartsWith("# ", page, StringComparison.Ordinal);
        Assert.Contains("`./build.sh Experiment -Name write-back-cache`", page, StringComparison.Ordinal);
        Assert.Contains("](write-back-cache.svg)", page, StringComparison.Ordinal);
        Assert.Contains("| Pool | of this kind |", page, StringComparison.Ordinal);
        Assert.Contains("| a load | fast | slow | 0.50 (0.40–0.60) **missed** | ≥ 0.92 | 1.00 (1.00–1.00) |", page, StringComparison.Ordinal);
        Assert.Contains("which is missed", page, StringComparison.Ordinal);
    }

    [Fact]
    public void What_is_reached_is_not_called_missed()
    {
        string page = Document(new Spread(0.95, 0.9, 1)).Page();

        Assert.DoesNotContain("missed", page, StringComparison.Ordinal);
        Assert.Contains("which is reached", page, StringComparison.Ordinal);
    }

    [Fact]
    public void A_disturbed_run_says_so()
    {
        Assert.Contains("disturbed", (Document(new Spread(1, 1, 1)) with { OthersCpu = new Spread(0.9, 0.1, 1) }).Page(), StringComparison.Ordinal);
        Assert.DoesNotContain("disturbed", Document(new Spread(1, 1, 1)).Page(), StringComparison.Ordinal);
        string preferred = (Document(new Spread(1, 1, 1)) with { OthersCpu = new Spread(0.9, 0.1, 1), Niceness = -5 }).Page();
        Assert.DoesNotContain("disturbed", preferred, StringComparison.Ordinal);
        Assert.Contains("nice -5", preferred, StringComparison.Ordinal);
    }

    [Fact]
    public void The_picture_has_lines_and_bars()
    {
        XElement picture = XElement.Parse(Document(new Spread(0.95, 0.9, 1)).Picture());

        Assert.Single(picture.Descendants(), element => element.Name.LocalName == "polyline");
        Assert.Contains(picture.Descendants(), element => element.Value.Contains("a load: fast over slow", StringComparison.Ordinal));
    }

    [Fact]
    public void Curves_and_what_explains_the_findings_are_there()
    {
        ExperimentDocument document = Document(new Spread(0.95, 0.9, 1));
        document = document with
        {
            Result = document.Result with
            {
                Timeline = null,
                Notes = "Why: the processor.",
                Curves = new CurveChart("Curves", "disks", "rate", [new ChartCurve("reads", "#111111", [(1, 1), (2, 1.9), (4, 3.6)])]),
            },
        };

        XElement picture = XElement.Parse(document.Picture());
        Assert.Single(picture.Descendants(), element => element.Name.LocalName == "polyline");
        Assert.Contains(picture.Descendants(), element => element.Value == "reads");
        Assert.EndsWith("which is reached.\n\nWhy: the processor.\n", document.Page(), StringComparison.Ordinal);
        Assert.EndsWith("which is reached.\n", Document(new Spread(0.95, 0.9, 1)).Page(), StringComparison.Ordinal);
    }

    [Fact]
    public void An_experiment_that_is_not_there_is_refused_with_those_that_are()
    {
        string message = Assert.Throws<ArgumentException>(() => Experiment.Find("write-cache")).Message;

        Assert.All(Experiment.All, experiment => Assert.Contains(experiment.Name, message, StringComparison.Ordinal));
        Assert.All(Experiment.All, experiment => Assert.Same(experiment, Experiment.Find(experiment.Name.ToUpperInvariant())));
    }

    [Fact]
    public void A_bare_disk_writes_at_the_rate_of_its_class()
    {
        using BackingFolder folder = new(Path.GetTempPath());
        BareArm arm = new("bare", folder.NewFile("bare.img", 256 << 20), "HDD10K");

        LoadResult result = arm.Measure(new ArmLoad("64 KiB", 64 << 10, Durable: false, Seconds: 60, Operations: 200), seed: 1);

        Assert.Equal(200, result.Operations);
        Assert.InRange(result.Iops, 100, 190);   // 142 in the mean of many
    }

    private static ExperimentDocument Document(Spread rate) => new(
        Experiment.Find("write-back-cache"),
        new ExperimentResult(
            [new Finding(new ArmComparison(s_load, "fast", "slow", Bar: 0.92), rate, new Spread(1, 1, 1))],
            new LineChart("Rates", "rate", [new ChartLine("slow", "#111111", [1, 2])]),
            [("Pool", "of this kind")]),
        "./build.sh Experiment -Name write-back-cache",
        new MachineFacts("a processor", 2, "6.1", "0.00", []),
        ".NET, io_uring",
        new Spread(0, 0, 0));

    /// <summary>An arrangement that answers with these rates, one per round.</summary>
    private sealed class FakeArm(string name, List<string> order, params int[] rates) : IArm
    {
        public string Name => name;

        public void Settle() => order.Add($"settle {name}");

        public LoadResult Measure(ArmLoad load, int seed)
        {
            order.Add($"{name} {seed}");
            LoadRecord record = new();
            record.Add(Stopwatch.GetTimestamp(), 1000);
            return new LoadResult(rates[seed], 1, load.Block, record, 0, null, 0);
        }
    }
}
