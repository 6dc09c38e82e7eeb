using TierSpaces.Bench.Charts;
using TierSpaces.Bench.Nbd;
using TierSpaces.Bench.Tables;

namespace TierSpaces.Bench.Experiments;

/// <summary>Small random writes to a tiered disk: on its SSD tier, spilled to its HDD tier, and after the optimizer ran.</summary>
internal sealed class Tiering : Experiment
{
    internal const string Empty = "empty tier";
    internal const string Spilled = "spilled";
    internal const string Optimized = "optimized";
    internal const string CacheSuffix = ", write cache";

    private const int Small = 4 << 10;
    private const int DisksOfAState = 4;
    private const int HeatPerSlice = 64;     // writes that heat a slice before the optimizer runs
    private const double LongestHeating = 120;
    private const int HeatingSeed = 500;
    private const int CacheShare = 32;       // of the disk's size, at most

    internal override string Name => "tiering";

    internal override string Title => "Tiers: an empty tier, a spilled one, an optimized one";

    internal override string Question => """
        What is written first lies on the SSD tier of a tiered disk, until that is full; what comes then lies on the HDD tier, however hot it is,
        until the optimizer exchanges it for what is cold. How deep is that cliff, and how much of it does the optimizer give back?

        The three published test cases, scaled down. Each disk is simple, with 4 columns on 4 SSDs and 4 columns on 4 HDDs, in a pool of its own.
        *Empty tier*: the load's range was written to a new disk and lies on SSDs. *Spilled*: the SSD tier was first filled with cold data; the
        range lies on the HDD tier, spread over all of it, with cold data between. *Optimized*: as *spilled*, then the load heated the
        range and the optimizer ran once with its default settings. The load is the same each time: 4 KiB random writes over the range, 16 jobs with 20
        in flight each. Once without a write cache, and once with a small one on an SSD, which has nothing to do where the range lies on SSDs.
        Of *empty tier* and *optimized* there are four disks each, and each round loads the next of them: two disks of one state differ by some percent.
        They are loaded in turns of 0.1 s, *spilled* by itself: the speed of a machine changes by more than what is asked here from one second to the
        next. What writes leave to be done later may be done in the next disk's turn, so each follows every other equally often; that all leave the
        same is what the disks' own counters say: writes and flushes for each write, checksums and metadata included.
        The engine and its NBD server run in the process that loads them.
        """;

    internal override ExperimentResult Run(HostOnDemand host, BackingFolder folder, ExperimentSettings settings, ExperimentRun run)
    {
        TierShape shape = new(settings.Size);
        ArmLoad load = new($"4 KiB random writes, {TierArm.Jobs} × {TierArm.Depth}", Small, Durable: false, settings.Seconds, Warmup: settings.Seconds / 6);
        List<TierArm> arms = [];
        List<(string Name, string Value)> moves = [];
        try
        {
            foreach (long cache in CacheSizes(settings))
            {
                AddArms(arms, moves, folder, shape, cache);
            }

            List<Finding> findings = run.Compare(arms, Comparisons(load));
            LineChart timeline = Timeline(arms, run, load, Spilled, new() { [Spilled] = "#b3402e", [Empty] = "#4a6fa5", [Optimized] = "#3a7d44" });
            return new ExperimentResult(
                findings, timeline, [.. Parameters(settings, shape), .. moves, .. arms.Select(arm => ($"Writes, {arm.Name}", arm.Use()))]);
        }
        finally
        {
            arms.ForEach(arm => arm.Dispose());
        }
    }

    /// <summary>Bytes of the small write cache; 0: none.</summary>
    internal static long CacheBytes(ExperimentSettings settings) =>
        Math.Min(settings.CacheSize, settings.Size / CacheShare) / TierShape.Slice * TierShape.Slice;

    private static long[] CacheSizes(ExperimentSettings settings) => CacheBytes(settings) > 0 ? [0, CacheBytes(settings)] : [0];

    private static ArmComparison[] Comparisons(ArmLoad load) =>
    [
        new(load, Empty, Spilled, Bar: 20), new(load, Optimized, Empty, Bar: 0.962), new(load, Optimized, Spilled),
        new(load, Empty + CacheSuffix, Empty), new(load, Spilled + CacheSuffix, Spilled),
        new(load, Optimized + CacheSuffix, Empty + CacheSuffix, Bar: 0.962),
    ];

    /// <summary>
    /// The disks of each state, made, written and optimized in turn. Their arms are there before them, and dispose of those that could be made.
    /// </summary>
    private static void AddArms(List<TierArm> arms, List<(string, string)> moves, BackingFolder folder, TierShape shape, long cache)
    {
        string suffix = cache > 0 ? CacheSuffix : "";
        string files = cache > 0 ? "-cached" : "";
        List<TieredDisk> empty = Add(Empty, takesTurns: true);
        List<TieredDisk> spilled = Add(Spilled, takesTurns: false);   // one: what tells by fifty needs no others beside it
        List<TieredDisk> optimized = Add(Optimized, takesTurns: true);
        for (int number = 0; number < DisksOfAState; number++)
        {
            empty.Add(New(Empty, number, shape.Range));
            Require(empty[number].Where(shape.RangeSlices).Fast == shape.RangeSlices, "SSD");
            optimized.Add(New(Optimized, number, shape.Spilled));
            moves.Add(($"The optimizer{suffix}, disk {number + 1}", HeatAndOptimize(optimized[number], shape)));
        }

        spilled.Add(New(Spilled, 0, shape.Spilled));
        Require(spilled[0].Where(shape.RangeSlices).Slow == shape.RangeSlices, "HDD");

        List<TieredDisk> Add(string name, bool takesTurns)
        {
            List<TieredDisk> disks = [];
            arms.Add(new TierArm(name + suffix, disks, shape) { TakesTurns = takesTurns });
            return disks;
        }

        TieredDisk New(string name, int number, IEnumerable<int> written)
        {
            TieredDisk disk = new(folder, $"{name.Split(' ')[0]}{files}{number}", shape, cache);
            disk.Write(written);
            return disk;
        }
    }

    /// <summary>Loads a spilled disk until its range is hot and lets the optimizer run; says what came of it.</summary>
    internal static string HeatAndOptimize(TieredDisk disk, TierShape shape)
    {
        TierArm heating = new("heating", [disk], shape);   // its counts are not those of the load that is measured
        LoadResult heat = heating.Measure(new ArmLoad("", Small, Durable: false, LongestHeating, HeatPerSlice * shape.RangeSlices), HeatingSeed);
        heating.Settle();
        (long promoted, long demoted) = disk.Optimize();
        return $"after {heat.Operations} writes of the load promoted {promoted >> 20} MiB and demoted {demoted >> 20} MiB; "
            + $"{disk.Where(shape.RangeSlices).Fast} of {shape.RangeSlices} slices of the range are on the SSD tier then";
    }

    private static void Require(bool isThere, string medium)
    {
        if (!isThere)
        {
            throw new IOException($"The load's range does not lie on the {medium} tier as a whole: that is not the test case.");
        }
    }

    private static IReadOnlyList<(string Name, string Value)> Parameters(ExperimentSettings settings, TierShape shape) =>
    [
        ("Pools", $"4 {CachePool.SsdProfile} and 4 {CachePool.HddProfile} of {shape.DiskBytes >> 20} MiB each; emulated in real time over images in memory"),
        ("Virtual disks", $"simple, fixed, checksums, slices of 1 MiB; SSD tier {shape.FastSlices} MiB, HDD tier {shape.SlowSlices} MiB, 4 columns each"),
        ("Load", $"over a range of {shape.RangeSlices} MiB, {settings.Rounds} rounds of {settings.Seconds:0} s after {settings.Seconds / 6:0} s of the same; the same places for all disks in each"),
        ("Write caches", CacheBytes(settings) == 0 ? "none" : $"{CacheBytes(settings) >> 20} MiB, on the disks that have one"),
    ];
}
