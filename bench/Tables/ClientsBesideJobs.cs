using System.Diagnostics;

namespace TierSpaces.Bench.Tables;

/// <summary>
/// Rate that clients keep while a job runs with its default pacing: the same disk alone and beside the job, in turn. The disks are
/// emulated in real time, so that it is disks that are shared, as in life, and not the processors of this machine. Each round starts a
/// new job and ends it before the next round, so every other round moves the same bytes back.
/// </summary>
internal static class ClientsBesideJobs
{
    internal const string Title = "Clients beside jobs";

    /// <summary>Factor of the time for which these loads run: a job that is paced needs time to show its worst.</summary>
    internal const int Stretch = 3;

    private const long GiB = 1L << 30;
    private const long MirrorSize = 3 * GiB / 2;
    private const long TierSize = GiB;
    private const long LoadedRange = 256L << 20;
    private const long Moved = 96L << 20;
    private const string Fast = "SSDSas";
    private const string Slow = "HDD10K";

    private static readonly Workload s_write = new("4 KiB random write, depth 32", "randwrite", 4096, 32, Stretch: Stretch, Length: LoadedRange);
    private static readonly Workload s_read = new("4 KiB random read, depth 32", "randread", 4096, 32, Stretch: Stretch, Length: LoadedRange);

    internal static Section Prepare(BenchHost host, BackingFolder folder)
    {
        IMeasured[] drained = Drained(host, folder);
        IMeasured[] onFast = Tiered(host, folder, "fast", Fast);
        IMeasured[] onSlow = Tiered(host, folder, "slow", Slow);
        return new Section(
            Title,
            [.. drained, .. onFast, .. onSlow],
            [
                (s_write, [Pair(drained), Pair(onFast), Pair(onSlow)]),
                (s_read, [Pair(drained)]),
            ]);
    }

    private static Comparison Pair(IMeasured[] pair) => new(pair[1].Name, pair[0].Name, Bar: 0.9);

    /// <summary>A two-way mirror on two of three SSDs. The job drains one of them onto the one that is free, which is free again then.</summary>
    private static IMeasured[] Drained(BenchHost host, BackingFolder folder)
    {
        const string pool = "drained";
        host.CreateEmulatedPool(pool, folder, new DiskShelf(Fast, 3, MirrorSize * 2));
        string[] disks = [.. Enumerable.Range(1, 3).Select(number => $"{pool}-{Fast}-{number}")];
        int free = 2;
        host.Run("Set-PhysicalDisk", "-FriendlyName", disks[free], "-Usage", "Retired");
        NbdTarget disk = host.CreateDisk(pool, $"two-way mirror on {Fast}", "Mirror", "CRC32C", MirrorSize).Filled();
        return [disk, new BesideJob(disk, "a drain", Start)];

        Process Start()
        {
            int next = (free + 1) % disks.Length;
            host.Run("Set-PhysicalDisk", "-FriendlyName", disks[free], "-Usage", "AutoSelect");
            host.Run("Set-PhysicalDisk", "-FriendlyName", disks[next], "-Usage", "Retired");
            free = next;
            return host.Begin("Repair-VirtualDisk", "-FriendlyName", disk.Export);
        }
    }

    /// <summary>A disk with two tiers whose loaded range stays where it is, while two others of the disk change places.</summary>
    private static IMeasured[] Tiered(BenchHost host, BackingFolder folder, string pool, string profile)
    {
        host.CreateEmulatedPool(pool, folder, new DiskShelf(Fast, 1, TierSize * 5 / 4), new DiskShelf(Slow, 1, TierSize * 5 / 4));
        NbdTarget disk = host.CreateTieredDisk(pool, $"tiered, range on {profile}", TierSize, TierSize).Filled();
        Pin(0, LoadedRange, isFast: profile == Fast);
        bool isTurned = false;
        return [disk, new BesideJob(disk, "an optimization", Start)];

        Process Start()
        {
            isTurned = !isTurned;
            Pin(LoadedRange, Moved, isFast: !isTurned);
            Pin(2 * TierSize - Moved, Moved, isFast: isTurned);
            return host.Begin("Optimize-StorageTier", "-VirtualDisk", disk.Export);
        }

        void Pin(long offset, long length, bool isFast) => host.Run(
            "Set-FileStorageTier", "-VirtualDiskFriendlyName", disk.Export, "-Offset", BenchHost.Text(offset), "-Length", BenchHost.Text(length),
            "-DesiredStorageTierFriendlyName", $"{disk.Export}_{pool}{(isFast ? BenchHost.FastTier : BenchHost.SlowTier)}");
    }
}

/// <summary>A disk under load while a job runs, from before the load begins until after it ends.</summary>
internal sealed class BesideJob(NbdTarget disk, string job, Func<Process> start) : IMeasured
{
    public string Name => $"{disk.Name}, beside {job}";

    public Measurement Measure(Workload workload, double seconds)
    {
        using Process process = start();
        Measurement measured = disk.Measure(workload, seconds);
        bool wasBeside = !process.HasExited;
        string errors = process.StandardError.ReadToEnd();
        process.WaitForExit();
        return wasBeside && process.ExitCode == 0
            ? measured
            : throw new IOException(
                $"{Name}: the job {(wasBeside ? $"failed: {errors.Trim()}" : $"ended before the load of {seconds:0.#} s did; run shorter ones")}.");
    }
}
