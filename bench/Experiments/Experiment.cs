using TierSpaces.Bench.Charts;
using TierSpaces.Bench.Nbd;
using TierSpaces.Bench.Tables;

namespace TierSpaces.Bench.Experiments;

/// <summary>Outcome of an experiment.</summary>
/// <param name="Findings">Its comparisons.</param>
/// <param name="Timeline">Rates second by second; null when it draws none.</param>
/// <param name="Parameters">Parameters that the reader needs to run it again, beside the command.</param>
internal sealed record ExperimentResult(
    IReadOnlyList<Finding> Findings, LineChart? Timeline, IReadOnlyList<(string Name, string Value)> Parameters)
{
    /// <summary>Ratios over what was varied; null when it draws none.</summary>
    internal CurveChart? Curves { get; init; }

    /// <summary>Explanation of the findings, in Markdown; empty for none.</summary>
    internal string Notes { get; init; } = "";
}

/// <summary>A published experiment that can be run again.</summary>
internal abstract class Experiment
{
    /// <summary>Every one of them.</summary>
    internal static IReadOnlyList<Experiment> All { get; } =
    [
        new WriteBackCache(), new WriteBackCacheSpread(), new Tiering(), new Columns(),
        new ParityJournal(),
        new Scaling(),
        new BlockSizes(),
    ];

    /// <summary>As <c>-Name</c> gives it, and as its files are called.</summary>
    internal abstract string Name { get; }

    /// <summary>Heading of its page.</summary>
    internal abstract string Title { get; }

    /// <summary>The question, and the method: paragraphs of Markdown.</summary>
    internal abstract string Question { get; }

    internal abstract ExperimentResult Run(HostOnDemand host, BackingFolder folder, ExperimentSettings settings, ExperimentRun run);

    /// <summary>Work of caches, for the page.</summary>
    protected static IEnumerable<(string Name, string Value)> CacheUse(IEnumerable<IArm> arms)
    {
        string[] uses = [.. arms.OfType<DiskArm>().Select(arm => arm.CacheUse()).OfType<string>()];
        return uses.Length == 0 ? [] : [("Caches", string.Join("; ", uses))];
    }

    /// <summary>Rates of some arrangements second by second under a load, in units of the median of one of them.</summary>
    protected static LineChart Timeline(IReadOnlyList<IArm> arms, ExperimentRun run, ArmLoad load, string unitArm, Dictionary<string, string> colors)
    {
        const int seed = 1000;
        Dictionary<string, LoadResult> results = arms.Where(arm => colors.ContainsKey(arm.Name))
            .ToDictionary(arm => arm.Name, arm => run.Measure(arms, arm, load, seed));
        double unit = Math.Max(1, Spread.Of(Whole(results[unitArm])).Median);
        return new LineChart(
            $"{load.Name}: rate in each second", $"over the median of: {unitArm}",
            [.. results.Select(one => new ChartLine(one.Key, colors[one.Key], [.. Whole(one.Value).Select(rate => rate / unit)]))]);
    }

    /// <summary>The seconds that were loaded from beginning to end.</summary>
    private static IEnumerable<double> Whole(LoadResult result) =>
        result.Record.PerSecond.Take(Math.Max(1, (int)result.Seconds)).Select(count => (double)count);

    /// <exception cref="ArgumentException">There is none of that name; the message lists those there are.</exception>
    internal static Experiment Find(string name) =>
        All.FirstOrDefault(experiment => experiment.Name.Equals(name, StringComparison.OrdinalIgnoreCase))
        ?? throw new ArgumentException($"-Name is '{name}'; there are {string.Join(" and ", All.Select(experiment => experiment.Name))}.");
}
