using TierSpaces.Bench.Tables;

namespace TierSpaces.Bench.Experiments;

/// <summary>One large write cache, or the same capacity divided among many virtual disks.</summary>
internal sealed class WriteBackCacheSpread : Experiment
{
    private const int Disks = 12;
    private const int Large = 64 << 10;
    private const string One = "1 disk, 1 cache";
    private const string Many = "12 disks, 12 caches";

    internal override string Name => "write-back-cache-spread";

    internal override string Title => "Write-back cache: one large or many small ones";

    internal override string Question => """
        Two SSDs hold so much write cache. Is it better as one cache of one virtual disk, or divided among twelve virtual disks under the same
        load? Both are two-way mirrors on the same 8 HDDs with their caches on the same 2 SSDs, each in a pool of its own; twelve streams of
        random writes, one write at a time each, go to the one disk, or one stream to each of the twelve. Sizes are the same in total.
        """;

    internal override ExperimentResult Run(HostOnDemand host, BackingFolder folder, ExperimentSettings settings, ExperimentRun run)
    {
        long cache = settings.CacheSize * 3 / 4;   // 768 MiB of 1 GiB: what divides by twelve into whole slabs
        IArm[] arms = [Disk(One, "one", 1), Disk(Many, "many", Disks)];
        ArmLoad room = new("64 KiB, 12 streams, room in the cache", Large, Durable: false, settings.Seconds,
            (long)(cache * ExperimentSettings.RoomShare / Large));
        ArmLoad full = new("64 KiB, 12 streams, until the end", Large, Durable: false, settings.Seconds);
        ArmLoad durable = new("4 KiB, 12 streams, FUA", 4 << 10, Durable: true, settings.Seconds, (long)(cache * ExperimentSettings.RoomShare / (8 << 10)));
        List<Finding> findings = run.Compare(arms, [new(room, Many, One), new(full, Many, One), new(durable, Many, One)]);
        return new ExperimentResult(findings, null, [.. Parameters(settings, cache), .. CacheUse(arms)]);

        DiskArm Disk(string name, string pool, int disks) =>
            CachePool.Create(host.Host, folder, pool, settings).Arm(name, disks, streams: Disks, "HDD", settings.Size, cache);
    }

    private static IReadOnlyList<(string Name, string Value)> Parameters(ExperimentSettings settings, long cache) =>
    [
        .. CachePool.Parameters(settings),
        ("Virtual disks", $"two-way mirror, fixed, checksums, they and their caches written once all over before; 1 of {settings.Size >> 20} MiB, or {Disks} of {settings.Size / Disks >> 20} MiB"),
        ("Write caches", $"1 of {cache >> 20} MiB, or {Disks} of {cache / Disks >> 20} MiB"),
        ("Loads", $"{Disks} streams of random writes, {settings.Rounds} rounds of at most {settings.Seconds:0} s"),
    ];
}
