using TierSpaces.Bench.Tables;

namespace TierSpaces.Bench.Experiments;

/// <summary>Writes in sequence to parity on three rotating disks, with and without two SSDs for journals.</summary>
internal sealed class ParityJournal : Experiment
{
    private const string Alone = "3 HDDs";
    private const string Journals = "3 HDDs, 2 SSDs for journals";
    private const int Hdds = 3;
    private const int Ssds = 2;
    private const int Stripe = 512 << 10;   // two columns of data
    private const int Commit = 16;          // writes of 64 KiB in 1 MiB

    internal override string Name => "parity-journal";

    internal override string Title => "Parity: two SSDs for journals";

    internal override string Question => """
        Parity on rotating disks is slowest where its data must be durable in small pieces: a part of a stripe goes to the write cache and its ring first,
        which is on the disks of the data if the pool has nothing else, and their arms go to and fro. What do two SSDs bring that the administrator
        dedicates to journals (`Set-PhysicalDisk -Usage Journal`)?

        Published: sequential writes to parity on three disks rise by 150 % with two SSDs as dedicated journals, 2.5 times the rate without them.

        One virtual disk with parity over three columns of three HDDs, and the same in a pool that has two SSDs of usage `Journal` beside them; the write
        cache is there in both, as `New-VirtualDisk` makes it by itself on the disks that it finds. Three loads in sequence: 64 KiB at depth 1 with a FLUSH after
        each MiB, as a log or a copy that commits; 1 MiB at depth 1; and whole stripes of 512 KiB, which need no cache and are reported beside them.
        """;

    internal override ExperimentResult Run(HostOnDemand host, BackingFolder folder, ExperimentSettings settings, ExperimentRun run)
    {
        DiskArm[] arms = [Arm(host.Host, folder, settings, Alone, "alone", 0), Arm(host.Host, folder, settings, Journals, "journals", Ssds)];
        ArmLoad commits = new(
            "64 KiB in sequence, depth 1, FLUSH every 1 MiB", 64 << 10, Durable: false, settings.Seconds, Warmup: settings.Seconds / 6,
            Sequential: true, FlushEvery: Commit);
        ArmLoad large = new(
            "1 MiB in sequence, depth 1", 1 << 20, Durable: false, settings.Seconds, Warmup: settings.Seconds / 6, Sequential: true);
        ArmLoad stripes = new(
            "whole stripes of 512 KiB in sequence, depth 8", Stripe, Durable: false, settings.Seconds, Warmup: settings.Seconds / 6,
            Sequential: true, Depth: 8);
        List<Finding> findings = run.Compare(arms, [new(commits, Journals, Alone, Bar: 2.5), new(large, Journals, Alone), new(stripes, Journals, Alone)]);
        return new ExperimentResult(
            findings, Timeline(arms, run, commits, Alone, new() { [Alone] = "#b3402e", [Journals] = "#3a7d44" }), [.. Parameters(settings, arms)])
        {
            Notes = Notes,
        };
    }

    private static DiskArm Arm(BenchHost host, BackingFolder folder, ExperimentSettings settings, string name, string pool, int ssds)
    {
        DiskShelf hdds = new(Columns.HddProfile, Hdds, EmulatedPool.DiskBytes);
        host.CreateEmulatedPool(pool, folder, ssds > 0 ? [hdds, new DiskShelf(Columns.SsdProfile, ssds, EmulatedPool.DiskBytes)] : [hdds]);
        for (int number = 1; number <= ssds; number++)
        {
            host.Run("Set-PhysicalDisk", "-FriendlyName", $"{pool}-{Columns.SsdProfile}-{number}", "-Usage", "Journal");
        }

        NbdTarget disk = host.CreateDisk(pool, "parity", settings.Size, "-ResiliencySettingName", "Parity", "-NumberOfColumns", "3").Filled();
        return new DiskArm(name, host, [disk], hasCache: true) { CacheBytes = host.CacheCounter(disk.Export, "Size") };
    }

    private static IEnumerable<(string Name, string Value)> Parameters(ExperimentSettings settings, IReadOnlyList<DiskArm> arms) =>
    [
        ("Pools", $"{Hdds} {Columns.HddProfile}, and {Hdds} with {Ssds} {Columns.SsdProfile} of usage Journal; {EmulatedPool.DiskBytes >> 30} GiB each; emulated in real time over sparse "
            + "images in memory"),
        ("Virtual disks", $"parity, 3 columns, interleave 256 KiB, {settings.Size >> 20} MiB, fixed, checksums; written once all over before"),
        ("Write caches", string.Join("; ", arms.Select(arm => $"{arm.Name}: {arm.CacheBytes >> 20} MiB"))),
        ("Loads", $"{settings.Rounds} rounds of {settings.Seconds:0} s after {settings.Seconds / 6:0.#} s of the same, over the whole disk; each begins when the cache is destaged"),
    ];

    private const string Notes = """
        - In simulated time, where the processor costs nothing, the same load gains far more ([performance.md](../performance.md), *Parity*): two SSDs acknowledge 64 KiB in some
          200 µs. Here each request also goes through two processes that wait for each other, which takes as long again and more: the rate with journals
          is bounded by this machine as well, and the ratio differs from run to run with what else it does.
        - Whole stripes go to the three HDDs at once in both pools. 1 MiB at depth 1 is two whole stripes, for which the write cache has nothing to do. What is on the SSDs in these
          loads is the integrity log: checksum entries and dirty regions.
        """;
}
