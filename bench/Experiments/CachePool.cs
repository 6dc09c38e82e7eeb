using System.Globalization;
using TierSpaces.Bench.Tables;

namespace TierSpaces.Bench.Experiments;

/// <summary>The pool that the experiments on write caches use: two SSDs and eight rotating disks.</summary>
internal sealed class CachePool
{
    internal const string SsdProfile = "SSDSas";
    internal const string HddProfile = "HDD10K";

    private const int Ssds = 2;
    private const int Hdds = 8;
    private const int SizeFactor = 8;   // large disks have large slabs, and few of them are used: their images are sparse

    private readonly BenchHost _host;
    private readonly string _name;

    private CachePool(BenchHost host, string name) => (_host, _name) = (host, name);

    internal static CachePool Create(BenchHost host, BackingFolder folder, string name, ExperimentSettings settings)
    {
        host.CreateEmulatedPool(name, folder, new DiskShelf(SsdProfile, Ssds, DiskSize(settings)), new DiskShelf(HddProfile, Hdds, DiskSize(settings)));
        return new CachePool(host, name);
    }

    internal static IEnumerable<(string Name, string Value)> Parameters(ExperimentSettings settings) =>
    [
        ("Pool", $"{Ssds} {SsdProfile} and {Hdds} {HddProfile} of {DiskSize(settings) >> 20} MiB each; emulated in real time over images in memory"),
    ];

    /// <summary>Virtual disks of this pool as an arrangement; sizes are of all of them together. They and their caches are written once all over.</summary>
    internal DiskArm Arm(string name, int disks, int streams, string media, long size, long cache)
    {
        NbdTarget[] made = [.. Enumerable.Range(1, disks).Select(number => _host.CreateDisk(
            _name, number.ToString(CultureInfo.InvariantCulture), size / disks, "-ResiliencySettingName", "Mirror", "-NumberOfDataCopies", "2",
            "-MediaType", media, "-WriteCacheSize", (cache / disks).ToString(CultureInfo.InvariantCulture)).Filled())];
        DiskArm arm = new(name, _host, made, streams, hasCache: cache > 0) { CacheBytes = cache };
        WriteRound(arm);
        return arm;
    }

    /// <summary>Fills the rings of the caches in two halves: what a disk's image has never held costs the host more than what it has.</summary>
    private static void WriteRound(DiskArm arm)
    {
        const int block = 64 << 10;
        const int longestSeconds = 120;
        long writes = (long)(arm.CacheBytes * ExperimentSettings.RoomShare / block);
        for (int half = 0; half < 2 && writes > 0; half++)
        {
            arm.Measure(new ArmLoad("", block, Durable: false, longestSeconds, writes), half);
            arm.Settle();
        }
    }

    private static long DiskSize(ExperimentSettings settings) => Math.Max(settings.Size, settings.CacheSize) * SizeFactor;
}
