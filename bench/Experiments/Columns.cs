using System.Globalization;
using TierSpaces.Bench.Charts;
using TierSpaces.Bench.Tables;

namespace TierSpaces.Bench.Experiments;

/// <summary>Simple virtual disks with more and more columns, on rotating disks and on SSDs: loads in sequence and at random.</summary>
internal sealed class Columns : Experiment
{
    internal const string HddProfile = "HDD7200";
    internal const string SsdProfile = "SSDSata";

    private const double HddBytesPerSecond = 150e6;   // of the profiles
    private const double SsdBytesPerSecond = 500e6;
    private const int Hdds = 12;
    private const int Ssds = 4;
    private const int Large = 1 << 20;
    private const int SequentialDepth = 32;
    private const int SsdDepth = 8;                  // published: 902 MB/s at 8 ms
    private const long HddBytes = 64L << 20;         // of each column in sequence: going back to the start is a seek
    private const long SsdBytes = 8L << 20;          // there it is none, and what the processor's cache holds costs it less
    private const long RandomBytes = 8L << 20;       // of each column in each row

    private static readonly int[] s_hddColumns = [1, 2, 4, 8, 12];
    private static readonly int[] s_ssdColumns = [2, 4];

    internal override string Name => "columns";

    internal override string Title => "Columns: more disks at a time";

    internal override string Question => """
        A virtual disk with more columns reads and writes more disks at a time. How far does a load in sequence rise with the columns, and does a random one
        gain anything?

        Published: 1 MB reads in sequence on four SSDs, 902 MB/s with two columns and 1,622 MB/s with four, at half of the latency, while random loads hardly
        change; and 150, almost 300 and close to 600 MB/s with one, two and four columns.

        Simple virtual disks with checksums on the same disks: with 1, 2, 4, 8 and 12 columns on twelve HDDs, with 2 and 4 columns on four SSDs. A load in
        sequence goes round the beginning of one row, so it uses as many disks as there are columns. Random loads are spread evenly over rows on all disks
        of the pool, as on a virtual disk that is full: then every disk works for it whatever the number of columns is.
        The engine runs in the process that loads it, without a server.
        """;

    internal override ExperimentResult Run(HostOnDemand host, BackingFolder folder, ExperimentSettings settings, ExperimentRun run)
    {
        using EmulatedPool hdds = new(folder, "hdd", HddProfile, Hdds);
        using EmulatedPool ssds = new(folder, "ssd", SsdProfile, Ssds);
        EngineArm[] arms =
        [
            .. s_hddColumns.Select(columns => Arm("HDDs", hdds, columns, Rows(columns, Hdds), HddBytes)),
            .. s_ssdColumns.Select(columns => Arm("SSDs", ssds, columns, Rows(columns, Ssds), SsdBytes)),
        ];
        List<Finding> findings = run.Compare(arms, [.. Comparisons(settings)]);
        return new ExperimentResult(findings, null, [.. Parameters(settings, arms)]) { Curves = Curves(findings), Notes = Notes(findings, arms) };
    }

    /// <summary>Rows that use each disk of a pool equally often, the fewest that do.</summary>
    internal static int Rows(int columns, int disks)
    {
        int rows = 1;
        while (rows * columns % disks != 0)
        {
            rows++;
        }

        return rows;
    }

    /// <summary>Parts of a virtual disk that are written: the beginning of each row, so many bytes for each column of the first one.</summary>
    internal static DiskPart[] Parts(int columns, int rows, long first) =>
    [
        new(0, first * columns),
        .. Enumerable.Range(1, rows - 1).Select(row => new DiskPart(row * columns * EmulatedPool.ColumnBytes, RandomBytes * columns)),
    ];

    private static EngineArm Arm(string media, EmulatedPool pool, int columns, int rows, long first)
    {
        DiskPart[] parts = Parts(columns, rows, first);
        return new EngineArm(NameOf(media, columns), pool, pool.NewDisk("Simple", columns, rows, parts), parts) { RandomBytes = RandomBytes * columns };
    }

    private static string NameOf(string media, int columns) => string.Create(
        CultureInfo.InvariantCulture, $"{media}, {columns} column{(columns > 1 ? "s" : "")}");

    private static IEnumerable<ArmComparison> Comparisons(ExperimentSettings settings)
    {
        double[] bars = [1.8, 3.4];   // of two columns and of four
        foreach (bool reads in (bool[])[true, false])
        {
            ArmLoad along = new(
                $"1 MiB {Verb(reads)}s in sequence, depth {SequentialDepth}", Large, Durable: false, settings.Seconds, Warmup: settings.Seconds / 6, Reads: reads,
                Sequential: true, Depth: SequentialDepth);
            for (int index = 1; index < s_hddColumns.Length; index++)
            {
                yield return new ArmComparison(
                    along, NameOf("HDDs", s_hddColumns[index]), NameOf("HDDs", 1), index <= bars.Length ? bars[index - 1] : null);
            }

            yield return new ArmComparison(
                along with { Name = $"1 MiB {Verb(reads)}s in sequence, depth {SsdDepth}", Depth = SsdDepth }, NameOf("SSDs", 4), NameOf("SSDs", 2),
                reads ? 1.6 : null);
        }

        foreach (int block in (int[])[4 << 10, 8 << 10])
        {
            foreach (bool reads in (bool[])[true, false])
            {
                ArmLoad random = new(
                    $"{block >> 10} KiB {Verb(reads)}s at random, depth 8", block, Durable: false, settings.Seconds, Warmup: settings.Seconds / 6, Reads: reads,
                    Depth: 8);
                yield return new ArmComparison(random, NameOf("HDDs", 2), NameOf("HDDs", 1));
                yield return new ArmComparison(random, NameOf("HDDs", 4), NameOf("HDDs", 1));
                yield return new ArmComparison(random, NameOf("HDDs", 12), NameOf("HDDs", 1));
                yield return new ArmComparison(random, NameOf("SSDs", 4), NameOf("SSDs", 2));
            }
        }
    }

    private static string Verb(bool reads) => reads ? "read" : "write";

    /// <summary>The loads on the HDDs over their columns.</summary>
    private static CurveChart Curves(IReadOnlyList<Finding> findings)
    {
        string[] colors = ["#3a7d44", "#b3402e", "#4a6fa5", "#8a6fa5", "#a58a4a", "#222222"];
        IGrouping<string, Finding>[] loads =
            [.. findings.Where(one => one.Compared.Other == NameOf("HDDs", 1)).GroupBy(one => one.Compared.Load.Name)];
        return new CurveChart("HDDs: rate over that of one column", "columns", "over one column",
        [
            .. loads.Select((load, index) => new ChartCurve(
                load.Key, colors[index % colors.Length],
                [(1, 1), .. load.Select(one => ((double)s_hddColumns.First(columns => NameOf("HDDs", columns) == one.Compared.Ours), one.Rate.Median))])),
        ]);
    }

    private static IEnumerable<(string Name, string Value)> Parameters(ExperimentSettings settings, IReadOnlyList<EngineArm> arms)
    {
        yield return ("Pools", $"{Hdds} {HddProfile}, {Ssds} {SsdProfile} of {EmulatedPool.DiskBytes >> 30} GiB each; emulated in real time over sparse images in memory");
        yield return ("Virtual disks", "simple, fixed, checksums, interleave 256 KiB, rows of 256 MiB for each column, without write cache");
        yield return ("Loads", $"{settings.Rounds} rounds of {settings.Seconds:0} s after {settings.Seconds / 6:0.#} s of the same; in sequence over {HddBytes >> 20} MiB of HDDs and {SsdBytes >> 20} MiB of "
            + $"SSDs for each column, at random over {RandomBytes >> 20} MiB for each column of each row: all of these are written before");
        LoadUse[] uses = [.. arms.SelectMany(arm => arm.Uses.Values).SelectMany(use => use)];
        yield return ("Time that the disks lost to the processor", string.Create(
            CultureInfo.InvariantCulture,
            $"{100 * uses.Average(use => use.LostShare):0.0} % of the time of all disks of a pool, {100 * uses.Max(use => use.LostShare):0.0} % in the worst load"));
    }

    /// <summary>Explanation of the findings: rates over those of the media, the range of the random ones, and where latencies come from.</summary>
    internal static string Notes(IReadOnlyList<Finding> findings, IReadOnlyList<EngineArm> arms)
    {
        double[] random = [.. findings.Where(finding => !finding.Compared.Load.Sequential).Select(finding => finding.Rate.Median)];
        string[] media =
        [
            .. Shares("HDDs", s_hddColumns, HddBytesPerSecond), .. Shares("SSDs", s_ssdColumns, SsdBytesPerSecond),
        ];
        return string.Create(CultureInfo.InvariantCulture, $"""
            - Reads in sequence, over what the disks of a row transfer at most ({HddBytesPerSecond / 1e6:0} MB/s an HDD, {SsdBytesPerSecond / 1e6:0} MB/s an SSD): {string.Join(", ", media)}.
            - Writes over 12 columns stay behind reads, without time lost to the processor; the cause was not measured.
            - Random loads keep their rate: the medians over all of them are {random.DefaultIfEmpty(1).Min():0.00} to {random.DefaultIfEmpty(1).Max():0.00}. A request that is smaller than a strip uses one disk, and
              all disks have requests in either case.
            - *p99* of loads in sequence on HDDs is what their disks make of it: an emulated HDD takes the nearest of the requests that wait, and one that has waited for half a
              second before all.
            """);

        IEnumerable<string> Shares(string name, int[] columns, double bytesPerSecond) =>
            from arm in arms
            from number in columns
            where arm.Name == NameOf(name, number)
            from use in arm.Uses
            where use.Key.Contains("reads in sequence", StringComparison.Ordinal)
            select string.Create(
                CultureInfo.InvariantCulture,
                $"{arm.Name} {Spread.Of(use.Value.Select(one => one.BytesPerSecond)).Median / number / bytesPerSecond:0.00}");
    }
}
