using System.Globalization;
using TierSpaces.Bench.Charts;
using TierSpaces.Bench.Tables;

namespace TierSpaces.Bench.Experiments;

/// <summary>Random requests from 4 KiB to 4 MiB: how rate and throughput exchange.</summary>
internal sealed class BlockSizes : Experiment
{
    private const int Depth = 4;
    private const long Bytes = 256L << 20;   // one row of one column

    private static readonly int[] s_blocks = [4 << 10, 16 << 10, 64 << 10, 256 << 10, 1 << 20, 4 << 20];

    internal override string Name => "block-size";

    internal override string Title => "Block size: requests a second against bytes a second";

    internal override string Question => """
        The same disks, and requests from 4 KiB to 4 MiB: the larger they are, the fewer of them are served in a second, and the more bytes. How do the two
        exchange on rotating disks and on flash?

        Random reads and writes, four in flight, over one row of a two-way mirror on two HDDs and of a simple virtual disk on one SSD, both with checksums.
        The rate is in requests a second; what it is in bytes a second is beside it below. A rotating disk pays for moving its arm and waiting for the
        sector, whatever the size is, so up to some hundred KiB a larger request costs hardly more; an SSD is bounded by requests first, and by its
        link when they are larger. The engine runs in the process that loads it, without a server.
        """;

    internal override ExperimentResult Run(HostOnDemand host, BackingFolder folder, ExperimentSettings settings, ExperimentRun run)
    {
        using EmulatedPool hdds = new(folder, "hdd", Columns.HddProfile, 2);
        using EmulatedPool ssds = new(folder, "ssd", Columns.SsdProfile, 1);
        EngineArm[] arms = [.. Arms("HDD mirror", hdds, "Mirror"), .. Arms("SSD", ssds, "Simple")];
        List<Finding> findings = run.Compare(arms, [.. Comparisons(settings)]);
        return new ExperimentResult(findings, null, [.. Parameters(settings)]) { Curves = Curves(findings), Notes = Notes(findings) };
    }

    /// <summary>Requests and bytes a second over those of the smallest block, as a table in Markdown.</summary>
    internal static string Notes(IReadOnlyList<Finding> findings)
    {
        List<string> lines =
        [
            "Requests a second, and in brackets bytes a second, over those of 4 KiB:",
            "",
            $"| Load | Disk | {string.Join(" | ", s_blocks.Skip(1).Select(SizeText))} |",
            $"|---|---|{string.Concat(s_blocks.Skip(1).Select(_ => "---|"))}",
        ];
        lines.AddRange(findings.GroupBy(finding => (Load: finding.Compared.Load.Name, Disk: MediumOf(finding))).Select(group =>
            $"| {group.Key.Load} | {group.Key.Disk} | {string.Join(" | ", group.Select(Cell))} |"));
        return string.Join('\n', lines);

        static string Cell(Finding finding) => string.Create(
            CultureInfo.InvariantCulture, $"{finding.Rate.Median:0.000} ({finding.Rate.Median * BlockOf(finding) / s_blocks[0]:0.0})");
    }

    private static EngineArm[] Arms(string medium, EmulatedPool pool, string resiliency)
    {
        DiskPart[] parts = [new(0, Bytes)];
        TierSpaces.Engine.VirtualDisks.OpenVirtualDisk disk = pool.NewDisk(resiliency, 1, 1, parts);
        return [.. s_blocks.Select(block => new EngineArm(NameOf(medium, block), pool, disk, parts) { Block = block })];
    }

    private static string NameOf(string medium, int block) => $"{medium}, {SizeText(block)}";

    private static string SizeText(int block) => string.Create(
        CultureInfo.InvariantCulture, $"{(block < 1 << 20 ? block >> 10 : block >> 20)} {(block < 1 << 20 ? "KiB" : "MiB")}");

    private static string MediumOf(Finding finding) => finding.Compared.Ours[..finding.Compared.Ours.IndexOf(',', StringComparison.Ordinal)];

    private static int BlockOf(Finding finding) => s_blocks.First(block => finding.Compared.Ours == NameOf(MediumOf(finding), block));

    private static IEnumerable<ArmComparison> Comparisons(ExperimentSettings settings)
    {
        foreach (bool reads in (bool[])[true, false])
        {
            ArmLoad load = new(
                $"{(reads ? "reads" : "writes")} at random, depth {Depth}", s_blocks[0], Durable: false, settings.Seconds, Warmup: settings.Seconds / 6,
                Reads: reads, Depth: Depth);
            foreach (string medium in (string[])["HDD mirror", "SSD"])
            {
                foreach (int block in s_blocks.Skip(1))
                {
                    yield return new ArmComparison(load, NameOf(medium, block), NameOf(medium, s_blocks[0]));
                }
            }
        }
    }

    private static CurveChart Curves(IReadOnlyList<Finding> findings)
    {
        string[] colors = ["#3a7d44", "#b3402e", "#4a6fa5", "#8a6fa5"];
        return new CurveChart("Requests a second (falling) and bytes a second (rising) over those of 4 KiB", "KiB of a request", "over 4 KiB",
        [
            .. findings.GroupBy(finding => $"{MediumOf(finding)}: {finding.Compared.Load.Name}").SelectMany((group, index) => (ChartCurve[])
            [
                new(group.Key, colors[index % colors.Length], [(4, 1), .. group.Select(one => (BlockOf(one) / 1024.0, one.Rate.Median))]),
                new(
                    "", colors[index % colors.Length],
                    [(4, 1), .. group.Select(one => (BlockOf(one) / 1024.0, one.Rate.Median * BlockOf(one) / s_blocks[0]))]),
            ]),
        ]);
    }

    private static IEnumerable<(string Name, string Value)> Parameters(ExperimentSettings settings)
    {
        yield return ("Pools", $"2 {Columns.HddProfile}, 1 {Columns.SsdProfile} of {EmulatedPool.DiskBytes >> 30} GiB each; emulated in real time over sparse images in memory");
        yield return ("Virtual disks", "two-way mirror and simple, fixed, checksums, one row of 256 MiB, which is written before; without write cache");
        yield return ("Loads", $"{settings.Rounds} rounds of {settings.Seconds:0} s after {settings.Seconds / 6:0.#} s of the same");
    }
}
