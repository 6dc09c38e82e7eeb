using TierSpaces.Bench.Charts;
using TierSpaces.Bench.Tables;

namespace TierSpaces.Bench.Experiments;

/// <summary>What came of an experiment.</summary>
/// <param name="Findings">Its comparisons.</param>
/// <param name="Timeline">Rates second by second; null when it draws none.</param>
/// <param name="Parameters">What the reader has to know to run it again, beside the command.</param>
internal sealed record ExperimentResult(
    IReadOnlyList<Finding> Findings, LineChart? Timeline, IReadOnlyList<(string Name, string Value)> Parameters);

/// <summary>A published experiment that can be run again.</summary>
internal abstract class Experiment
{
    /// <summary>Every one of them.</summary>
    internal static IReadOnlyList<Experiment> All { get; } = [new WriteBackCache(), new WriteBackCacheSpread()];

    /// <summary>As <c>-Name</c> gives it, and as its files are called.</summary>
    internal abstract string Name { get; }

    /// <summary>Heading of its page.</summary>
    internal abstract string Title { get; }

    /// <summary>What is asked, and how it is gone about: paragraphs of Markdown.</summary>
    internal abstract string Question { get; }

    internal abstract ExperimentResult Run(BenchHost host, BackingFolder folder, ExperimentSettings settings, ExperimentRun run);

    /// <summary>What caches did, for the page.</summary>
    protected static IEnumerable<(string Name, string Value)> CacheUse(IEnumerable<IArm> arms)
    {
        string[] uses = [.. arms.OfType<DiskArm>().Select(arm => arm.CacheUse()).OfType<string>()];
        return uses.Length == 0 ? [] : [("Caches", string.Join("; ", uses))];
    }

    /// <exception cref="ArgumentException">There is none of that name; the message lists those there are.</exception>
    internal static Experiment Find(string name) =>
        All.FirstOrDefault(experiment => experiment.Name.Equals(name, StringComparison.OrdinalIgnoreCase))
        ?? throw new ArgumentException($"-Name is '{name}'; there are {string.Join(" and ", All.Select(experiment => experiment.Name))}.");
}
