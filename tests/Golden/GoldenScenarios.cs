using TierSpaces.Engine.Devices;
using TierSpaces.Engine.Formats;
using TierSpaces.Engine.Jobs;
using TierSpaces.Engine.Management;
using TierSpaces.Engine.Pools;
using TierSpaces.Engine.Tiering;

namespace TierSpaces.Golden;

// A scenario brings a world to the moment at which its host ends: stopped in an orderly way, or left as it is, which is a kill.
// Scenarios only get more: a pool of an older version says what that version did.

/// <summary>The golden pools, by name.</summary>
internal static class GoldenScenarios
{
    /// <summary>Extension of their files.</summary>
    public const string Extension = ".zip";

    private const int Mebibyte = 1 << 20;
    private const int Block = 4096;
    private const long DiskBytes = 64 * Mebibyte;

    /// <summary>The steps that create each golden pool.</summary>
    public static IReadOnlyDictionary<string, Action<GoldenWorld>> All { get; } = new Dictionary<string, Action<GoldenWorld>>
    {
        ["simple"] = static world => Plain(world, 3, "Simple", 1),
        ["mirror-of-two"] = static world => Plain(world, 4, "Mirror", 2),
        ["mirror-of-two-on-two-disks"] = static world => Plain(world, 2, "Mirror", 2),
        ["mirror-of-three"] = static world => Plain(world, 5, "Mirror", 3),
        ["mirror-killed"] = MirrorKilled,
        ["cache-dirty-killed"] = CacheDirtyKilled,
        ["cache-lent"] = CacheRemote,
        ["tiers"] = Tiers,
        ["disk-missing"] = static world => DiskMissing(world, 3),
        ["disk-missing-of-two"] = static world => DiskMissing(world, 2),   // the witness file makes it open
        ["disk-retired"] = DiskRetired,
        ["scrub-half-done"] = ScrubHalfDone,
        ["fault-domains"] = FaultDomainsOfThree,
        ["parity"] = ParityStopped,
        ["parity-killed"] = static world => ParityKilled(world, isMissing: false),
        ["parity-missing-killed"] = static world => ParityKilled(world, isMissing: true),
        ["disks-lost-at-once"] = DisksLostAtOnce,
        ["lease-killed"] = LeaseKilled,
        ["cache-summary-killed"] = CacheSummaryKilled,
        ["doubt-killed"] = DoubtKilled,
    };

    private static void Plain(GoldenWorld world, int disks, string resiliency, int copies)
    {
        world.NewPool("pool", DiskBytes, [.. Enumerable.Repeat(MediaType.SSD, disks)]);
        VirtualDiskRequest request = new() { FriendlyName = "", ResiliencySettingName = resiliency, NumberOfDataCopies = copies, SizeBytes = 6 * Mebibyte };
        world.NewDisk(request with { FriendlyName = "fixed", ProvisioningType = ProvisioningType.Fixed });
        world.NewDisk(request with { FriendlyName = "thin", ProvisioningType = ProvisioningType.Thin, SizeBytes = 12 * Mebibyte });
        world.NewDisk(request with { FriendlyName = "plain", Checksum = ChecksumKind.None, Interleave = 64 << 10, LogicalSectorSize = 512 });
        world.NewDisk(request with { FriendlyName = "grown", NumberOfColumns = 1, SizeBytes = 2 * Mebibyte });
        Scatter(world, "fixed", 6 * Mebibyte, 1);
        Scatter(world, "thin", 9 * Mebibyte, 2);   // the last quarter has no slabs
        Scatter(world, "plain", 6 * Mebibyte, 3);
        Scatter(world, "grown", 2 * Mebibyte, 4);
        Guid grown = world.Run(world.Subsystem.VirtualDisks.ListAsync()).Single(static disk => disk.Description.FriendlyName == "grown").Description.Id.Value;
        world.Run(world.Subsystem.VirtualDisks.ResizeAsync(grown, 4 * Mebibyte));
        world.Write("grown", 3 * Mebibyte, Block, 5);
        world.Unmap("thin", Mebibyte, Mebibyte);
        world.Write("plain", 512, 1024, 6);
        world.Run(world.Subsystem.Scrubs.SetIntervalAsync(world.Pool, TimeSpan.FromHours(100)));
        world.Restart();
        world.Write("fixed", 40 * Block, 2 * Block, 7);
        world.Stop();
    }

    private static void FaultDomainsOfThree(GoldenWorld world)
    {
        world.NewPool("pool", DiskBytes, [.. Enumerable.Repeat(MediaType.SSD, 6)]);
        foreach ((PhysicalDiskStatus disk, int number) in world.Run(world.Subsystem.PhysicalDisks.ListAsync()).OrderBy(static disk => disk.DeviceId)
            .Select(static (disk, number) => (disk, number)))
        {
            PlaceChange place = new() { EnclosureNumber = number % 3, SlotNumber = number, Rack = "rack" };
            world.Run(world.Subsystem.PhysicalDisks.SetAsync(disk.UniqueId, null, null, null, null, place));
        }

        world.Run(world.Subsystem.Pools.SetAsync(
            world.Pool, static pool => pool with { EnclosureAwareDefault = true, FaultDomainAwarenessDefault = FaultDomainLevel.StorageEnclosure }));
        world.NewDisk(Mirror("apart", 6 * Mebibyte) with { NumberOfColumns = 2 });
        world.NewDisk(Mirror("isolated", 4 * Mebibyte) with { NumberOfColumns = 1, ColumnIsolation = FaultDomainLevel.StorageEnclosure });
        Scatter(world, "apart", 6 * Mebibyte, 1);
        Scatter(world, "isolated", 4 * Mebibyte, 2);
        world.Stop();
    }

    private static void ParityStopped(GoldenWorld world)
    {
        world.NewPool("pool", DiskBytes, [.. Enumerable.Repeat(MediaType.SSD, 5)]);
        world.NewDisk(Parity("single", 6 * Mebibyte, 3, 1));
        world.NewDisk(Parity("double", 6 * Mebibyte, 5, 2) with { ProvisioningType = ProvisioningType.Thin });
        Scatter(world, "single", 5 * Mebibyte, 1);
        Scatter(world, "double", 5 * Mebibyte, 2);
        world.Unmap("single", Mebibyte, Mebibyte);
        world.Unmap("double", 40 * Block, 3 * Block);
        world.Stop();
    }

    // Changes that no flush covers are in the parity journal; with the disks missing nothing else says what their stripes hold.
    private static void ParityKilled(GoldenWorld world, bool isMissing)
    {
        world.NewPool("pool", DiskBytes, [.. Enumerable.Repeat(MediaType.SSD, 6)]);
        world.NewDisk(Parity("single", 6 * Mebibyte, 4, 1));
        world.NewDisk(Parity("double", 6 * Mebibyte, 5, 2));
        Scatter(world, "single", 6 * Mebibyte, 1);
        Scatter(world, "double", 6 * Mebibyte, 2);
        world.Flush("single");
        world.Flush("double");
        if (isMissing)
        {
            world.Pull(1);
            world.Advance(TimeSpan.FromSeconds(1));
        }

        for (int i = 0; i < 16; i++)
        {
            world.Write("single", (37L * i % 1500) * Block, 2 * Block, 3);
            world.Write("double", (41L * i % 1500) * Block, Block, 4);
        }

        world.Unmap("single", 100 * Block, 4 * Block);
    }

    private static VirtualDiskRequest Parity(string name, long size, int columns, int redundancy) => new()
    {
        FriendlyName = name, ResiliencySettingName = "Parity", SizeBytes = size, NumberOfColumns = columns, PhysicalDiskRedundancy = redundancy,
    };

    private static void MirrorKilled(GoldenWorld world)
    {
        world.NewPool("pool", DiskBytes, MediaType.SSD, MediaType.SSD, MediaType.SSD);
        world.NewDisk(Mirror("data", 8 * Mebibyte));
        world.NewDisk(Mirror("plain", 4 * Mebibyte) with { Checksum = ChecksumKind.None, ProvisioningType = ProvisioningType.Thin });
        Scatter(world, "data", 8 * Mebibyte, 1);
        Scatter(world, "plain", 4 * Mebibyte, 2);
        world.Flush("data");
        for (int i = 0; i < 24; i++)   // first writes and overwrites that no flush covers
        {
            world.Write("data", (17L * i % 2000) * Block, Block, 3);
            world.Write("plain", (29L * i % 1000) * Block, Block, 4);
        }
    }

    private static void CacheDirtyKilled(GoldenWorld world)
    {
        world.NewPool("pool", DiskBytes, MediaType.SSD, MediaType.SSD, MediaType.HDD, MediaType.HDD);
        Guid disk = world.NewDisk(Mirror("cached", 8 * Mebibyte) with { WriteCacheSize = 4 * Mebibyte });
        Scatter(world, "cached", 8 * Mebibyte, 1);
        world.Flush("cached");
        world.Until(() => world.Subsystem.VirtualDisks.Opened(disk).Disk.Cache!.DirtyBytes == 0);
        Hold(world, disk);
        for (int i = 0; i < 20; i++)
        {
            world.Write("cached", 13L * i * Block, 2 * Block, 2);
        }

        world.Unmap("cached", 40 * Block, 8 * Block);
        world.Flush("cached");
        world.Write("cached", 41 * Block, Block, 3);
        world.Write("cached", 7 * Mebibyte, 4 * Block, 3);   // acknowledged, and no flush covers them
    }

    private static void CacheSummaryKilled(GoldenWorld world)
    {
        world.NewPool("pool", 2 * DiskBytes, MediaType.SSD, MediaType.SSD, MediaType.HDD, MediaType.HDD);
        Guid disk = world.NewDisk(Mirror("cached", 12 * Mebibyte) with { WriteCacheSize = 24 * Mebibyte });
        Hold(world, disk);
        for (int i = 0; i < 2200; i++)   // a summary repeats 2 048 records of two blocks
        {
            world.Write("cached", (long)(i * 7 % 3072) * Block, Block, 1);
        }

        world.Lane.Advance(1_000_000_000);
        world.Write("cached", 41 * Block, Block, 3);   // acknowledged, and no flush covers it
    }

    private static void CacheRemote(GoldenWorld world)
    {
        world.NewPool("home", DiskBytes, MediaType.HDD, MediaType.HDD, MediaType.HDD);
        Guid home = world.Pool;
        world.NewPool("fast", DiskBytes, MediaType.SSD, MediaType.SSD, MediaType.SSD);
        Guid disk = world.NewDisk(home, Mirror("borrower", 8 * Mebibyte) with { WriteCacheSize = 4 * Mebibyte, CachePool = world.Pool });
        world.NewDisk(world.Pool, Mirror("neighbour", 2 * Mebibyte));
        world.Run(world.Subsystem.Pools.SetAsync(world.Pool, static pool => pool with { LentWriteCacheSizeMax = 12 * Mebibyte }));
        Scatter(world, "borrower", 8 * Mebibyte, 1);
        Scatter(world, "neighbour", 2 * Mebibyte, 2);
        world.Until(() => world.Subsystem.VirtualDisks.Opened(disk).Disk.Cache!.DirtyBytes == 0);
        Hold(world, disk);
        for (int i = 0; i < 12; i++)
        {
            world.Write("borrower", 11L * i * Block, Block, 3);
        }

        world.Stop();
    }

    private static void Tiers(GoldenWorld world)
    {
        world.NewPool("pool", DiskBytes, MediaType.SSD, MediaType.SSD, MediaType.HDD, MediaType.HDD);
        TierRequest[] tiers = [new(Template(world, "Fast", MediaType.SSD), 4 * Mebibyte), new(Template(world, "Slow", MediaType.HDD), 12 * Mebibyte)];
        Guid disk = world.NewDisk(
            new VirtualDiskRequest { FriendlyName = "tiered", Tiers = tiers, SliceSize = Mebibyte, ProvisioningType = ProvisioningType.Thin });
        for (int slice = 0; slice < 14; slice++)
        {
            world.Write("tiered", (long)slice * Mebibyte, 4 * Block, 1);
        }

        for (int i = 0; i < 120; i++)
        {
            world.Write("tiered", (11L * Mebibyte) + (i % 3 * Block), Block, 2);
        }

        Guid Tier(int number) => world.Subsystem.VirtualDisks.Opened(disk).Description.Tiers[number].Id;
        world.Run(world.Subsystem.TierOptimizer.OptimizeAsync(disk));
        world.Run(world.Subsystem.Pins.SetAsync(
            new PinRequest(disk, Tier(0), "/database", [new PinnedRange(5 * Mebibyte, Mebibyte + Block), new PinnedRange(9 * Mebibyte, Block)])));
        world.Run(world.Subsystem.Pins.SetAsync(new PinRequest(disk, Tier(1), "", [new PinnedRange(Mebibyte, Mebibyte)])));
        world.Run(world.Subsystem.Pins.MoveAsync(disk));
        world.Run(world.Subsystem.TierSchedules.SetAsync(world.Pool, new TierSchedule(true, [90, 800], false, 20)));
        for (int i = 0; i < 60; i++)
        {
            world.Write("tiered", (8L * Mebibyte) + (i % 2 * Block), Block, 3);
        }

        world.Stop();
    }

    private static void DiskMissing(GoldenWorld world, int disks)
    {
        world.NewPool("pool", DiskBytes, [.. Enumerable.Repeat(MediaType.SSD, disks)]);
        world.NewDisk(Mirror("data", 8 * Mebibyte));
        world.NewDisk(Mirror("plain", 4 * Mebibyte) with { Checksum = ChecksumKind.None });
        Scatter(world, "data", 8 * Mebibyte, 1);
        Scatter(world, "plain", 4 * Mebibyte, 2);
        world.Flush("data");
        world.Flush("plain");
        world.Pull(1);
        Scatter(world, "data", 3 * Mebibyte, 3);
        Scatter(world, "plain", 2 * Mebibyte, 4);
        world.Flush("data");
        world.Flush("plain");
        world.Stop();
    }

    // The disk that a block in doubt waits for is there again, and the host has not noticed.
    private static void DoubtKilled(GoldenWorld world)
    {
        world.NewPool("pool", DiskBytes, MediaType.SSD, MediaType.SSD);
        world.NewDisk(Mirror("data", 4 * Mebibyte));
        Scatter(world, "data", 4 * Mebibyte, 1);
        world.Flush("data");
        world.Advance(TimeSpan.FromMinutes(1));
        world.Pull(1);
        world.Advance(TimeSpan.FromSeconds(1));
        world.Rot(0, 1);
        world.RequireLost("data", 0, Block);
        world.Write("data", 5 * Block, Block, 2);
        world.PutBack(1);
    }

    private static void LeaseKilled(GoldenWorld world)
    {
        world.NewPool("pool", DiskBytes, MediaType.SSD, MediaType.SSD, MediaType.SSD);
        world.NewDisk(Mirror("data", 8 * Mebibyte));
        Scatter(world, "data", 8 * Mebibyte, 1);
        world.Flush("data");
        world.Restart();
        world.Advance(TimeSpan.FromSeconds(30));   // the second session renews its lease; the first has closed
        Scatter(world, "data", 2 * Mebibyte, 2);
    }

    private static void DisksLostAtOnce(GoldenWorld world)
    {
        world.NewPool("pool", DiskBytes, [.. Enumerable.Repeat(MediaType.SSD, 8)]);
        foreach (PhysicalDiskStatus disk in world.Run(world.Subsystem.PhysicalDisks.ListAsync()).OrderBy(static disk => disk.DeviceId).Take(3))
        {
            world.Run(world.Subsystem.PhysicalDisks.SetAsync(disk.UniqueId, null, null, null, DiskUsage.ManualSelect));   // metadata only
        }

        world.NewDisk(Mirror("data", 8 * Mebibyte));
        Scatter(world, "data", 8 * Mebibyte, 1);
        world.Flush("data");
        Array.ForEach([0, 1, 2], world.Pull);   // three of the five metadata disks, and three of eight votes
        Scatter(world, "data", 3 * Mebibyte, 2);
        world.Flush("data");
        world.Stop();
    }

    private static void DiskRetired(GoldenWorld world)
    {
        world.NewPool("pool", DiskBytes, MediaType.SSD, MediaType.SSD);   // no other disk takes what it holds
        world.NewDisk(Mirror("data", 8 * Mebibyte));
        Scatter(world, "data", 8 * Mebibyte, 1);
        Guid retired = world.Run(world.Subsystem.PhysicalDisks.ListAsync())[1].UniqueId;
        world.Run(world.Subsystem.PhysicalDisks.SetAsync(retired, "worn", "to be replaced", null, DiskUsage.Retired));
        world.Advance(TimeSpan.FromSeconds(10));
        world.Write("data", 5 * Block, 3 * Block, 2);
        world.Stop();
    }

    private static void ScrubHalfDone(GoldenWorld world)
    {
        world.NewPool("pool", DiskBytes, MediaType.SSD, MediaType.SSD, MediaType.SSD);
        world.NewDisk(Mirror("data", 24 * Mebibyte));
        for (int at = 0; at < 24 * Mebibyte; at += 256 << 10)
        {
            world.Write("data", at, 256 << 10, 1);
        }

        world.Flush("data");
        world.Run(world.Subsystem.Scrubs.SetIntervalAsync(world.Pool, TimeSpan.FromHours(2)));
        world.Until(() => world.Subsystem.Jobs.Listed.Any(static job => job.State == JobState.Running && job.BytesProcessed >= 10 * Mebibyte));
        world.Stop();
    }

    private static VirtualDiskRequest Mirror(string name, long bytes) => new() { FriendlyName = name, ResiliencySettingName = "Mirror", SizeBytes = bytes };

    private static Guid Template(GoldenWorld world, string name, MediaType medium) => world.Run(world.Subsystem.Tiers.CreateTemplateAsync(
        world.Pool, new TierTemplateRequest { FriendlyName = name, MediaType = medium, ResiliencySettingName = "Mirror" })).UniqueId;

    private static void Hold(GoldenWorld world, Guid disk) => world.Run(world.Subsystem.VirtualDisks.SetAsync(
        disk, static description => description with { Destage = description.Destage with { Hold = true } }));

    // Some blocks in every 256 KiB: every row and column gets data, and the file stays small.
    private static void Scatter(GoldenWorld world, string disk, long bytes, ulong seed)
    {
        const int stride = 256 << 10;
        for (long at = 0; at < bytes; at += stride)
        {
            world.Write(disk, at + (at / stride % 5 * Block), 3 * Block, seed);
        }
    }
}
