using System.Diagnostics;

namespace TierSpaces.Bench.Tables;

/// <summary>
/// Measures a section: every load on every target that a row of it names, and all of that again in the next round. A ratio is of one
/// round, so that what the machine does beside it weighs on both. Reads of servers alone are taken in short turns; writes leave work behind them,
/// so that each target takes its own as a whole, in an order that is reversed every other round. Where others were at work, more rounds are run, as long as
/// there is time, and the least disturbed count: they are chosen by that alone, never by their result.
/// </summary>
internal sealed class SectionRun(int rounds, double seconds, TimeSpan patience)
{
    private const double QuietEnough = 0.25;   // processors

    private readonly Stopwatch _watch = Stopwatch.StartNew();
    private readonly List<double> _othersCpu = [];

    /// <summary>Processors that neither client nor server used, over all runs that count.</summary>
    internal Spread? OthersCpu => _othersCpu.Count > 0 ? Spread.Of(_othersCpu) : null;

    internal List<MeasuredRow> Measure(Section section)
    {
        List<MeasuredRow> rows = [];
        foreach ((Workload load, Comparison[] comparisons) in section.Loads)
        {
            Comparison[] possible = [.. comparisons.Where(row => Has(section, row.Ours) && Has(section, row.Other))];
            IMeasured[] targets = [.. section.Targets.Where(target => possible.Any(row => row.Ours == target.Name || row.Other == target.Name))];
            List<Dictionary<string, Measurement>> measured = [.. Rounds(load, targets).OrderBy(Disturbance).Take(rounds)];
            _othersCpu.AddRange(measured.SelectMany(round => round.Values).Select(result => result.OthersCpu).OfType<double>());
            foreach (Comparison row in possible)
            {
                MeasuredRow result = Compare(load, row, measured);
                Console.WriteLine($"{section.Title}: {load.Name}: {row.Ours} over {row.Other}: {result.Rate}, CPU {result.Cpu?.ToString() ?? "–"}{(result.Misses ? "  MISSED" : "")}");
                rows.Add(result);
            }
        }

        return rows;
    }

    private IEnumerable<Dictionary<string, Measurement>> Rounds(Workload load, IMeasured[] targets)
    {
        for (int run = 0, quiet = 0; run < rounds || (quiet < rounds && run < 3 * rounds && _watch.Elapsed < patience); run++)
        {
            Dictionary<string, Measurement> round = Round(load, targets);
            Array.Reverse(targets);
            quiet += Disturbance(round) <= QuietEnough ? 1 : 0;
            yield return round;
        }
    }

    /// <summary>A turn includes the end of what it has begun: only what takes turns as well is compared with it.</summary>
    private Dictionary<string, Measurement> Round(Workload load, IMeasured[] targets) =>
        !load.Writes && targets.All(target => target is NbdTarget)
            ? NbdTarget.MeasureInTurns([.. targets.Cast<NbdTarget>()], load, seconds * load.Stretch)
            : targets.ToDictionary(target => target.Name, target => target.Measure(load, seconds * load.Stretch));

    private static double Disturbance(Dictionary<string, Measurement> round) => round.Values.Max(result => result.OthersCpu ?? 0);

    private static bool Has(Section section, string name) => section.Targets.Any(target => target.Name == name);

    private static MeasuredRow Compare(Workload load, Comparison row, List<Dictionary<string, Measurement>> rounds)
    {
        Spread rate = Spread.Of(rounds.Select(round => round[row.Ours].Rate / round[row.Other].Rate));
        bool hasServers = rounds.All(round => round[row.Ours].CpuUs > 0 && round[row.Other].CpuUs > 0);
        return new MeasuredRow(
            load, row, rate, hasServers ? Spread.Of(rounds.Select(round => round[row.Ours].CpuUs!.Value / round[row.Other].CpuUs!.Value)) : null);
    }
}
