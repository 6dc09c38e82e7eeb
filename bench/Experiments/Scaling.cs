using System.Globalization;
using TierSpaces.Bench.Charts;
using TierSpaces.Bench.Tables;

namespace TierSpaces.Bench.Experiments;

/// <summary>Pools of more and more rotating disks, each with one simple virtual disk over all of them.</summary>
internal sealed class Scaling : Experiment
{
    private const string Profile = "HDD7200";
    private const double LeastShare = 0.85;        // of what so many disks would do one by one
    private const int RandomDepth = 16;            // of each disk
    private const int SequentialDepth = 4;         // of each disk, in requests of 1 MiB
    private const int BarredInSequence = 4;        // disks whose data one processor surely moves
    private const long SequentialBytes = 48L << 20;

    private static readonly int[] s_disks = [1, 2, 4, 8, 16, 32];

    internal override string Name => "scaling";

    internal override string Title => "Scaling: one virtual disk over more and more disks";

    internal override string Question => """
        Do n disks do n times what one does? Pools of 1, 2, 4, 8, 16 and 32 HDDs, each with one simple virtual disk that has as many columns as the pool has
        disks, and checksums. The requests in flight grow with the disks, as they do where more clients use more disks.

        At least 0.85 of linear is required of random requests, where 32 of these disks leave the processor nearly idle, and of loads in sequence with up to
        four disks. With more disks all bytes still pass one thread, which checks them and copies them out of memory: where that is the limit, the
        emulated disks lose time, and the page says how much. The engine runs in the process that loads it, without a server.
        """;

    internal override ExperimentResult Run(HostOnDemand host, BackingFolder folder, ExperimentSettings settings, ExperimentRun run)
    {
        List<EmulatedPool> pools = [];
        try
        {
            EngineArm[] arms = [.. s_disks.Select(disks => Arm(disks))];
            List<Finding> findings = run.Compare(arms, [.. Comparisons(settings)]);
            return new ExperimentResult(findings, null, [.. Parameters(settings)]) { Curves = Curves(findings), Notes = Notes(findings, arms) };
        }
        finally
        {
            pools.ForEach(pool => pool.Dispose());
        }

        EngineArm Arm(int disks)
        {
            EmulatedPool pool = new(folder, string.Create(CultureInfo.InvariantCulture, $"pool{disks}-"), Profile, disks);
            pools.Add(pool);
            DiskPart[] parts = [new(0, SequentialBytes * disks)];
            return new EngineArm(NameOf(disks), pool, pool.NewDisk("Simple", disks, 1, parts), parts) { Streams = disks };
        }
    }

    /// <summary>Least ratio that is required of so many disks over one; null: reported only.</summary>
    internal static double? Bar(int disks, bool isSequential) => isSequential && disks > BarredInSequence ? null : LeastShare * disks;

    /// <summary>Rates of each disk over that of the only one, as a table in Markdown, and what the processor did.</summary>
    internal static string Notes(IReadOnlyList<Finding> findings, IReadOnlyList<EngineArm> arms)
    {
        List<string> lines =
        [
            "For each disk, over the rate of the only one; in brackets the processors that engine and load used, and the share of the time that a disk lost because",
            "these were too slow for it. Where the share lost is more than a few percent, the processor is the limit and not the disks. Writes in sequence fall behind",
            "sooner than reads, without time lost. The cause was not measured; their checksums, which are computed before they are submitted, are a candidate.",
            "",
            $"| Load | {string.Join(" | ", s_disks.Select(disks => NameOf(disks)))} |",
            $"|---|{string.Concat(s_disks.Select(_ => "---|"))}",
        ];
        foreach (IGrouping<string, Finding> load in findings.GroupBy(finding => finding.Compared.Load.Name))
        {
            IEnumerable<string> cells = s_disks.Select(disks =>
            {
                double share = load.FirstOrDefault(one => one.Compared.Ours == NameOf(disks))?.Rate.Median / disks ?? 1;
                List<LoadUse>? uses = arms.FirstOrDefault(arm => arm.Name == NameOf(disks))?.Uses.GetValueOrDefault(load.Key);
                string used = uses is null ? "" : string.Create(
                    CultureInfo.InvariantCulture,
                    $" ({uses.Average(use => use.Processors):0.00}, {uses.Average(use => use.LostShare):0.00})");
                return string.Create(CultureInfo.InvariantCulture, $"{share:0.00}{used}");
            });
            lines.Add($"| {load.Key} | {string.Join(" | ", cells)} |");
        }

        return string.Join('\n', lines);
    }

    private static string NameOf(int disks) => string.Create(CultureInfo.InvariantCulture, $"{disks} disk{(disks > 1 ? "s" : "")}");

    private static IEnumerable<ArmComparison> Comparisons(ExperimentSettings settings)
    {
        foreach (bool isSequential in (bool[])[false, true])
        {
            foreach (bool reads in (bool[])[true, false])
            {
                string verb = reads ? "reads" : "writes";
                ArmLoad load = new(
                    isSequential ? $"1 MiB {verb} in sequence, {SequentialDepth} for each disk" : $"8 KiB {verb} at random, {RandomDepth} for each disk",
                    isSequential ? 1 << 20 : 8 << 10, Durable: false, settings.Seconds, Warmup: settings.Seconds / 6, Reads: reads, Sequential: isSequential,
                    Depth: isSequential ? SequentialDepth : RandomDepth);
                foreach (int disks in s_disks.Skip(1))
                {
                    yield return new ArmComparison(load, NameOf(disks), NameOf(1), Bar(disks, isSequential));
                }
            }
        }
    }

    private static CurveChart Curves(IReadOnlyList<Finding> findings)
    {
        string[] colors = ["#3a7d44", "#b3402e", "#4a6fa5", "#8a6fa5"];
        ChartCurve linear = new("linear", "#bbbbbb", [.. s_disks.Select(disks => ((double)disks, (double)disks))]);
        return new CurveChart("Rate over that of one disk", "disks", "over one disk",
        [
            linear,
            .. findings.GroupBy(finding => finding.Compared.Load.Name).Select((load, index) => new ChartCurve(
                load.Key, colors[index % colors.Length],
                [(1, 1), .. load.Select(one => ((double)s_disks.First(disks => NameOf(disks) == one.Compared.Ours), one.Rate.Median))])),
        ]);
    }

    private static IEnumerable<(string Name, string Value)> Parameters(ExperimentSettings settings)
    {
        yield return ("Pools", $"1 to 32 {Profile} of {EmulatedPool.DiskBytes >> 30} GiB each; emulated in real time over sparse images in memory");
        yield return ("Virtual disks", "simple, fixed, checksums, interleave 256 KiB, one row of 256 MiB for each column, without write cache");
        yield return ("Loads", $"{settings.Rounds} rounds of {settings.Seconds:0} s after {settings.Seconds / 6:0.#} s of the same; over {SequentialBytes >> 20} MiB for each disk, which are "
            + "written before");
    }
}
