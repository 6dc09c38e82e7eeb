namespace TierSpaces.Bench.Tables;

/// <summary>Cost of checksums: pairs of simple disks that differ in nothing else.</summary>
internal static class ChecksumCost
{
    internal const string Title = "Checksum CRC32C against None";

    /// <summary>Bytes of a disk whose checksum pages fill the page cache eight times.</summary>
    internal const long LargeSize = 8 * CachedPages * PageReach;

    /// <summary>Bytes that one checksum page covers.</summary>
    internal const long PageReach = 2L << 20;

    /// <summary>Factor of the time for which the rotating disk is loaded.</summary>
    internal const int SlowStretch = 5;

    private const long CachedPages = 16384;   // what a virtual disk keeps in memory
    private const long Size = 512 << 20;
    private const long SlowSize = 128 << 20;
    private const string Profile = "HDD7200";
    private const string On = "checksums";
    private const string Off = "none";
    private const string Large = ", 8 times the page cache";
    private const string Slow = $", emulated {Profile}";

    private static readonly (Workload, Comparison[])[] s_loads =
    [
        (new("4 KiB random write, depth 32", "randwrite", 4096, 32), Pair("", bar: 0.75)),
        (new("4 KiB random read, depth 32", "randread", 4096, 32), Pair("", bar: 0.9)),
        (new("4 KiB random write, depth 1, FLUSH after every write", "randwrite", 4096, 1, Flushes: true), Pair("", aim: 0.75)),
        (new("4 KiB random write, depth 32, FLUSH after every write", "randwrite", 4096, 32, Flushes: true), Pair("", aim: 0.75)),
        (new("4 KiB random write, depth 32", "randwrite", 4096, 32, Stride: PageReach), Pair(Large, aim: 0.75)),
        (new("4 KiB random read, depth 32", "randread", 4096, 32, Stride: PageReach), Pair(Large, aim: 0.9)),
        (new("4 KiB random write, depth 32", "randwrite", 4096, 32, Stretch: SlowStretch), Pair(Slow, aim: 0.75)),
        (new("4 KiB random read, depth 32", "randread", 4096, 32, Stretch: SlowStretch), Pair(Slow, aim: 0.9)),
        (new("4 KiB random write, depth 1, FLUSH after every write", "randwrite", 4096, 1, Flushes: true, Stretch: SlowStretch), Pair(Slow, aim: 0.75)),
    ];

    internal static Section Prepare(BenchHost host, BackingFolder folder)
    {
        host.CreatePool("cost", Size * 5 / 2, folder.File("cost1.img"));
        host.CreatePool("large", LargeSize * 9 / 4, folder.File("large1.img"));
        host.CreateEmulatedPool("slow", SlowSize * 4, Profile, folder.File("slow1.img"));
        return new Section(Title, [.. Disks(host, "cost", "", Size, 0), .. Disks(host, "large", Large, LargeSize, PageReach),
            .. Disks(host, "slow", Slow, SlowSize, 0)], s_loads);
    }

    private static IEnumerable<IMeasured> Disks(BenchHost host, string pool, string kind, long size, long stride) =>
    [
        host.CreateDisk(pool, Off + kind, "Simple", "None", size).Filled(stride),
        host.CreateDisk(pool, On + kind, "Simple", "CRC32C", size).Filled(stride),
    ];

    private static Comparison[] Pair(string kind, double? bar = null, double? aim = null) => [new(On + kind, Off + kind, Bar: bar, Aim: aim)];
}
