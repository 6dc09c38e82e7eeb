using TierSpaces.Bench.Nbd;
using TierSpaces.Bench.Tables;

namespace TierSpaces.Bench.Experiments;

/// <summary>
/// Carries out comparisons. In each round every arrangement that a load is compared on is loaded once, one after the other and the other way
/// round in the next, so that what the machine does beside it weighs on all; a ratio is of two loads of one round.
/// </summary>
internal sealed class ExperimentRun(ExperimentSettings settings)
{
    private readonly List<double> _othersCpu = [];
    private readonly Dictionary<(string Load, string Arm), List<LoadResult>> _results = [];

    /// <summary>Processors that neither client nor server used, over all loads; null when nothing tells.</summary>
    internal Spread? OthersCpu => _othersCpu.Count > 0 ? Spread.Of(_othersCpu) : null;

    /// <summary>Comparisons whose arrangements are all there, measured.</summary>
    internal List<Finding> Compare(IReadOnlyList<IArm> arms, IReadOnlyList<ArmComparison> comparisons)
    {
        ArmComparison[] possible = [.. comparisons.Where(one => arms.Any(arm => arm.Name == one.Ours) && arms.Any(arm => arm.Name == one.Other))];
        foreach (ArmLoad load in possible.Select(one => one.Load).Distinct())
        {
            IArm[] loaded = [.. arms.Where(arm => possible.Any(one => one.Load == load && (one.Ours == arm.Name || one.Other == arm.Name)))];
            for (int round = 0; round < settings.Rounds; round++)
            {
                Array.ForEach(loaded, arm => Keep(load, arm.Name, Measure(arms, arm, load, round)));
                Array.Reverse(loaded);
            }
        }

        return [.. possible.Select(Judge)];
    }

    /// <summary>Loads one of the arrangements when nothing is left to be done in any of them: what one destages would slow the next one down.</summary>
    internal LoadResult Measure(IReadOnlyList<IArm> arms, IArm arm, ArmLoad load, int seed)
    {
        foreach (IArm other in arms)
        {
            other.Settle();
        }

        LoadResult result = arm.Measure(load, seed);
        Console.WriteLine($"{load.Name}: {arm.Name}: {result.ToJson()}");
        _othersCpu.AddRange(result.OthersCpu is { } others ? [others] : []);
        return result;
    }

    private void Keep(ArmLoad load, string arm, LoadResult result)
    {
        if (!_results.TryGetValue((load.Name, arm), out List<LoadResult>? kept))
        {
            _results[(load.Name, arm)] = kept = [];
        }

        kept.Add(result);
    }

    private Finding Judge(ArmComparison compared)
    {
        List<LoadResult> ours = _results[(compared.Load.Name, compared.Ours)];
        List<LoadResult> other = _results[(compared.Load.Name, compared.Other)];
        Finding finding = new(compared, Ratio(ours, other, result => result.Iops), Ratio(ours, other, result => result.Latency.PercentileUs(0.99)));
        Console.WriteLine(finding.Row);
        return finding;
    }

    private static Spread Ratio(List<LoadResult> ours, List<LoadResult> other, Func<LoadResult, double> figure) =>
        Spread.Of(ours.Zip(other, (one, two) => figure(one) / figure(two)));
}
