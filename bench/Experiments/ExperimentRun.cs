using TierSpaces.Bench.Nbd;
using TierSpaces.Bench.Tables;

namespace TierSpaces.Bench.Experiments;

/// <summary>
/// Carries out comparisons. In each round every arrangement that a load is compared on is loaded once, one after the other and the other way
/// round in the next, or in short turns where that can be, so that what the machine does beside it weighs on all; a ratio is of two loads of one
/// round.
/// </summary>
internal sealed class ExperimentRun(ExperimentSettings settings)
{
    private const double TurnSeconds = 0.1;

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
                MeasureInTurns(arms, [.. loaded.OfType<ITurnArm>().Where(arm => arm.TakesTurns)], load, round);
                Array.ForEach([.. loaded.Where(arm => arm is not ITurnArm { TakesTurns: true })], arm => Keep(load, arm.Name, Measure(arms, arm, load, round)));
                Array.Reverse(loaded);
            }
        }

        return [.. possible.Select(Judge)];
    }

    /// <summary>Loads one of the arrangements when nothing is left to be done in any of them: what one destages would slow the next one down.</summary>
    internal LoadResult Measure(IReadOnlyList<IArm> arms, IArm arm, ArmLoad load, int seed)
    {
        Settle(arms);
        LoadResult result = arm.Measure(load, seed);
        Note(load, arm, result);
        return result;
    }

    private void MeasureInTurns(IReadOnlyList<IArm> arms, ITurnArm[] together, ArmLoad load, int seed)
    {
        if (together.Length == 0)
        {
            return;
        }

        Settle(arms);
        LoadResult[] results = LoadInTurns.Run([.. together.Select(arm => arm.Begin(load, seed))], TurnSeconds);
        foreach ((ITurnArm arm, LoadResult result) in together.Zip(results))
        {
            arm.End(seed);
            Note(load, arm, result);
            Keep(load, arm.Name, result);
        }
    }

    private static void Settle(IReadOnlyList<IArm> arms)
    {
        foreach (IArm arm in arms)
        {
            arm.Settle();
        }
    }

    private void Note(ArmLoad load, IArm arm, LoadResult result)
    {
        Console.WriteLine($"{load.Name}: {arm.Name}: {result.ToJson()}");
        _othersCpu.AddRange(result.OthersCpu is { } others ? [others] : []);
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
