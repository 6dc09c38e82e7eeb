using TierSpaces.Bench.Charts;
using TierSpaces.Bench.Tables;

namespace TierSpaces.Bench.Experiments;

/// <summary>Random writes to rotating disks, with and without a write cache on two SSDs, beside the SSDs alone.</summary>
internal sealed class WriteBackCache : Experiment
{
    private const string OnSsds = "SSDs only";
    private const string OnHdds = "HDDs, no cache";
    private const string Cached = "HDDs, write cache";
    private const string Full = "HDDs, full write cache";
    private const string BareSsd = "one bare SSD";
    private const string BareHdd = "one bare HDD";
    private const int Large = 64 << 10;
    private const int Small = 4 << 10;
    private const int RecordOfSmall = 8 << 10;   // what a small write takes in the cache, header included
    private const int FullShare = 16;            // the cache that shall be full has this part of the other one's size

    internal override string Name => "write-back-cache";

    internal override string Title => "Write-back cache: random writes to rotating disks";

    internal override string Question => """
        Small random writes are what rotating disks are worst at, and what a mirror on them is slowed down by most. A write cache on two SSDs of the
        same pool takes them first and brings them home later, sorted. How close does a virtual disk on rotating disks come to one on the SSDs
        alone, how far is it ahead of the same disk without a cache, and what happens when the cache is full?

        Each arrangement is a two-way mirror in a pool of its own, all of the same 2 SSDs and 8 HDDs: on the SSDs only (`-MediaType SSD`), on the HDDs
        only (`-MediaType HDD -WriteCacheSize 0`), on the HDDs with a write cache on the SSDs, and with one so small that it is full while it is
        measured. *One bare SSD* and *one bare HDD* are the emulated disks by themselves, without virtual disk and server, written all over; the virtual
        disks lie on a small part of their HDDs, where seeks are short and a disk without a cache is faster for it.
        """;

    internal override ExperimentResult Run(HostOnDemand host, BackingFolder folder, ExperimentSettings settings, ExperimentRun run)
    {
        List<IArm> arms = [.. Arms(host.Host, folder, settings)];
        double room = settings.CacheSize * ExperimentSettings.RoomShare;
        ArmLoad large = new("64 KiB, depth 1", Large, Durable: false, settings.Seconds, (long)(room / Large));
        ArmLoad small = new("4 KiB, depth 1, FUA", Small, Durable: true, settings.Seconds / 3, (long)(room / RecordOfSmall));
        ArmLoad full = new("64 KiB, depth 1, cache full", Large, Durable: false, settings.Seconds, Warmup: settings.Seconds / 6);
        ArmLoad whole = new("64 KiB, depth 1", Large, Durable: false, settings.Seconds);
        List<Finding> findings = run.Compare(arms,
        [
            new(large, Cached, OnSsds, Bar: 0.92), new(large, Cached, OnHdds, Bar: 11.44), new(large, Cached, BareHdd, Bar: 11.44), new(large, OnSsds, BareSsd),
            new(large, OnHdds, BareHdd),
            new(small, Cached, OnSsds, Bar: 0.8), new(small, Cached, OnHdds), new(small, OnSsds, BareSsd), new(small, OnHdds, BareHdd),
            new(full, Full, OnHdds, Bar: 0.9),
        ]);
        LineChart timeline = Timeline(arms, run, whole, OnHdds, new() { [OnHdds] = "#b3402e", [Cached] = "#3a7d44" });
        return new ExperimentResult(findings, timeline, [.. Parameters(settings, large, small), .. CacheUse(arms)]);
    }

    private static IEnumerable<IArm> Arms(BenchHost host, BackingFolder folder, ExperimentSettings settings)
    {
        yield return Disk(OnSsds, "ssds", "SSD", 0);
        yield return Disk(OnHdds, "hdds", "HDD", 0);
        if (settings.CacheSize > 0)
        {
            yield return Disk(Cached, "cached", "HDD", settings.CacheSize);
            yield return Disk(Full, "full", "HDD", settings.CacheSize / FullShare);
        }

        yield return new BareArm(BareSsd, folder.NewFile("bare-ssd.img", settings.Size), CachePool.SsdProfile);
        yield return new BareArm(BareHdd, folder.NewFile("bare-hdd.img", settings.Size), CachePool.HddProfile);

        DiskArm Disk(string name, string pool, string media, long cache) =>
            CachePool.Create(host, folder, pool, settings).Arm(name, disks: 1, streams: 1, media, settings.Size, cache);
    }

    private static IReadOnlyList<(string Name, string Value)> Parameters(ExperimentSettings settings, ArmLoad large, ArmLoad small) =>
    [
        .. CachePool.Parameters(settings),
        ("Virtual disks", $"two-way mirror, {settings.Size >> 20} MiB, fixed, checksums; they and their caches written once all over before"),
        ("Write caches", settings.CacheSize == 0 ? "none" : $"{settings.CacheSize >> 20} MiB; the one that is full {settings.CacheSize / FullShare >> 20} MiB"),
        ("Loads", $"random writes over the whole disk, {settings.Rounds} rounds, the same places for all arrangements in each; at most {settings.Seconds:0} s"
            + (large.Operations == 0 ? ""
                : $", and at most {large.Operations} writes of 64 KiB or {small.Operations} of 4 KiB so that the cache does not become full; *cache full*: "
                + $"{settings.Seconds:0} s whatever is written, after {settings.Seconds / 6:0} s of the same")),
    ];
}
