using TierSpaces.Engine.Formats;
using TierSpaces.Engine.Pools;
using TierSpaces.Engine.Primitives;
using TierSpaces.Engine.VirtualDisks;

namespace TierSpaces.Engine.Management;

// Chooses the size of the write cache of a new virtual disk. A cache has a copy for each copy of the data, on as many disks of usage Journal or flash
// (SSD, SCM); its size is that of one copy, in whole slabs.
//
//  - A size that is asked for, or that is the pool's default, is honoured or refused.
//  - Chosen by itself it is 1 GiB where those disks have room for it, else an eighth of the smallest of them at most. It does not depend on the
//    size of the virtual disk, so that the supported sizes are true; only a single row of data is left room for. A virtual disk that was given its disks
//    has it on these, or on disks of usage Journal, and none where they do not suffice.
//  - A disk whose data can only lie on flash gets none by itself, unless there are journal disks: its writes would pass the cache by.
//  - A disk with parity and no tiers has one on any medium where those disks are too few: it gathers parts of stripes. By itself that has one slab, at least
//    32 MiB and 16 stripes, but no more than an eighth of the smallest disk. Where there are such disks, and not enough, a size that is asked for is refused.

/// <summary>Decides the size of a new virtual disk's write cache. Changes nothing.</summary>
/// <param name="pool">The pool.</param>
/// <param name="request">Request for the virtual disk.</param>
/// <param name="remark">Takes remarks on the size, for the user.</param>
internal sealed class WriteCachePlan(IPoolReader pool, VirtualDiskRequest request, Action<string> remark)
{
    internal const long AutomaticBytes = 1L << 30;
    internal const int AutomaticShare = 8;   // of the capacity of the smallest disk, where that has no room for 1 GiB
    private const int ReplaySecondsPerGiB = 2;   // without summaries
    private const int SummarizedGiBPerSecond = 4;
    private const int ReplaySecondsToName = 4;
    private const long GatheringBytesMin = 32 << 20;
    private const int GatheringStripesMin = 16;

    private static readonly AllocationPreferences s_ofSimple = new() { Purpose = AllocationPurpose.Cache };
    private static readonly TierDescription s_simple = new() { FriendlyName = "", ResiliencySettingName = "Simple", SizeBytes = 1 };

    private long Slab => pool.Slabs.DataBytes;

    private string PoolName => pool.State.Pool!.FriendlyName;

    /// <summary>The size for a disk whose data may lie on these disks; everything else of its specification is decided.</summary>
    /// <param name="spec">The disk, with no size and no cache yet.</param>
    /// <param name="rows">Rows of data that were asked for; 1 where the disk becomes as large as possible, 0 where it is thin.</param>
    /// <param name="dataDisks">Disks that its data may lie on.</param>
    internal long Decide(VirtualDiskDescription spec, long rows, IReadOnlyCollection<DiskNumber> dataDisks)
    {
        RequireOneSize(request);
        PoolDescription settings = pool.State.Pool!;
        bool automatic = request.AutoWriteCacheSize || settings.AutoWriteCacheSize || settings.WriteCacheSizeDefault > long.MaxValue;
        return request.WriteCacheSize is { } size ? Explicit(spec, size, rows, $"-WriteCacheSize {ByteText.Exact(size)}")
            : automatic ? Automatic(spec, dataDisks) * Slab
            : Explicit(spec, (long)settings.WriteCacheSizeDefault, rows, $"-WriteCacheSizeDefault {ByteText.Exact(settings.WriteCacheSizeDefault)} of the storage pool");
    }

    /// <summary>A size is asked for, or left to the pool.</summary>
    internal static void RequireOneSize(VirtualDiskRequest request)
    {
        if (request is { AutoWriteCacheSize: true, WriteCacheSize: { } both })
        {
            throw new ManagementException(ManagementError.WriteCacheSizeRange, $"-WriteCacheSize {ByteText.Exact(both)} contradicts -AutoWriteCacheSize.", "Give one of them.");
        }
    }

    /// <summary>The largest cache that a Simple virtual disk of one row could have now, in bytes; 0: none.</summary>
    internal static long LargestOfSimple(IPoolReader pool)
    {
        NewRows log = new();
        long largest = 0;
        if (log.TryReserveLog(pool, 0, s_simple, out _))
        {
            long run = pool.Allocator.LargestRunCount(1, s_ofSimple);
            bool onJournal = MembersOf(pool, static disk => disk.Usage == DiskUsage.Journal).Any(disk => pool.Allocator.FreeSlabs(disk.Number) >= run);
            long data = pool.Allocator.LargestRowCount(1, 1, AllocationPreferences.Default) - (onJournal ? 0 : run);
            largest = data > 0 ? run : onJournal ? 0 : run - 1;   // the row of data is on the same disk when there is no other
        }

        log.Release(pool);
        return Math.Max(0, largest) * pool.Slabs.DataBytes;
    }

    /// <summary>The size for a disk that is in use: its new cache is made beside the one that it has.</summary>
    internal static long Resized(IPoolReader pool, VirtualDiskDescription disk, long size, Action<string> remark)
    {
        long slab = pool.Slabs.DataBytes;
        long count = (size / slab) + (size % slab > 0 ? 1 : 0);
        if (count == 0 || count == disk.WriteCacheSize / slab)
        {
            return count * slab;
        }

        int copies = disk.CacheCopies;
        RequireDisks(pool, disk, $"-WriteCacheSize {ByteText.Exact(size)}");
        long largest = pool.Allocator.LargestRunCount(copies, AllocationPreferences.ForCache(disk));
        if (count > largest)
        {
            throw new ManagementException(
                ManagementError.WriteCacheSizeRange,
                $"-WriteCacheSize {ByteText.Exact(size)} of virtual disk '{disk.FriendlyName}' is more than there is room for beside the cache it has: at most {ByteText.Exact(largest * slab)}, with {Copies(copies)} on as many disks{Kinds(disk)}.",
                disk.WriteCacheSize > 0 ? "Give a smaller size, or give 0 first, which frees the room of the cache it has."
                    : "Give a smaller size, or add such disks.");
        }

        WarnOfReplay(pool.State.Pool!, disk.FriendlyName, count * slab, remark);
        return count * slab;
    }

    private static IEnumerable<DiskDescription> MembersOf(IPoolReader pool, Func<DiskDescription, bool> choice) =>
        pool.State.Disks.Values.Select(disk => disk.Description).Where(disk => pool.IsUsable(disk.Number) && choice(disk));

    private long Explicit(VirtualDiskDescription spec, long size, long rows, string what)
    {
        long count = (size / Slab) + (size % Slab > 0 ? 1 : 0);
        long least = Math.Min(rows, 1);
        VirtualDiskDescription smallest = Smallest(spec);
        if (count == 0 || RowsBeside(smallest, 0) < least)
        {
            return 0;   // or there is no room for data at all, which is refused as such
        }

        RequireDisks(pool, spec, what);
        if (RowsBeside(smallest, count) < least)
        {
            long largest = Largest(smallest, RowsBeside(smallest, 0) >= rows ? rows : least) * Slab;
            throw new ManagementException(
                ManagementError.WriteCacheSizeRange,
                $"{what} is more than there is room for: at most {ByteText.Exact(largest)}, with {Copies(spec.CacheCopies)} on as many disks{Kinds(spec)} of storage pool '{PoolName}'.",
                largest > 0 ? $"Give at most {ByteText.Exact(largest)} (0: none), or add such disks." : "Give 0 for none, or add such disks.");
        }

        WarnOfReplay(pool.State.Pool!, spec.FriendlyName, count * Slab, remark);
        return count * Slab;
    }

    /// <summary>The disk with tiers of one slice each: tiers that leave a cache no room are refused as too large, with the size that does.</summary>
    private static VirtualDiskDescription Smallest(VirtualDiskDescription spec) => spec.Tiers.IsDefaultOrEmpty ? spec
        : spec with { Tiers = [.. spec.Tiers.Select(tier => tier with { SizeBytes = spec.SliceSize })] };

    private long Automatic(VirtualDiskDescription spec, IReadOnlyCollection<DiskNumber> dataDisks)
    {
        int copies = spec.CacheCopies;
        bool hasJournals = MembersOf(pool, static disk => disk.Usage == DiskUsage.Journal).Count() >= copies;
        AllocationPreferences preferences = AllocationPreferences.ForCache(spec);
        DiskDescription[] disks = [.. BestCacheDisks(pool, spec, preferences.MayTakeByItself).Take(copies)];
        if (disks.Length < copies && preferences.TakesAnyMedium)
        {
            return Gathering(spec, dataDisks);
        }

        if (disks.Length < copies || (!hasJournals && dataDisks.All(number => pool.State.Disk(number)!.Description.IsFlash())))
        {
            return 0;
        }

        long wanted = AutomaticBytes / Slab;
        if (RowsBeside(spec, wanted) > 0)
        {
            return wanted;
        }

        long rows = Math.Min(disks.Min(disk => disk.SlabCount) / AutomaticShare, Largest(spec, 1));
        remark($"The write cache of virtual disk '{spec.FriendlyName}' has {ByteText.Exact(rows * Slab)}: there is no room for {ByteText.Exact(AutomaticBytes)} on the disks of usage Journal "
            + $"or flash of storage pool '{PoolName}', and no more than 1/{AutomaticShare} of such a disk is taken by itself. -WriteCacheSize asks for another size.");
        return rows;
    }

    /// <summary>Rows of a cache that gathers stripes on the disks of the data.</summary>
    private long Gathering(VirtualDiskDescription spec, IReadOnlyCollection<DiskNumber> dataDisks)
    {
        long wanted = Math.Max(GatheringBytesMin, GatheringStripesMin * (long)spec.Parts[0].DataColumns * spec.Interleave);
        long most = dataDisks.Min(number => (long)pool.State.Disk(number)!.Description.SlabCount) / AutomaticShare;
        long rows = Math.Min((wanted + Slab - 1) / Slab, most);
        return RowsBeside(spec, rows) > 0 ? rows : 0;
    }

    internal static DiskDescription[] CacheDisks(IPoolReader pool) =>
        [.. MembersOf(pool, static disk => disk.Usage == DiskUsage.Journal || (disk.Usage == DiskUsage.AutoSelect && disk.IsFlash()))];

    /// <summary>The disks that could have a copy of a cache, the one with most free slabs of each fault domain, in that order.</summary>
    internal static IEnumerable<DiskDescription> BestCacheDisks(IPoolReader pool, VirtualDiskDescription spec, Predicate<DiskDescription>? choice = null) =>
        CacheDisks(pool).Where(disk => choice?.Invoke(disk) != false && RowRule.IsKnown(disk, AllocationPreferences.ForCache(spec)))
        .OrderByDescending(disk => pool.Allocator.FreeSlabs(disk.Number))
        .DistinctBy(disk => FaultDomains.DomainOf(disk, AllocationPreferences.ForCache(spec).FaultDomainAwareness));

    internal static void RequireDisks(IPoolReader pool, VirtualDiskDescription spec, string what)
    {
        int copies = spec.CacheCopies;
        DiskDescription[] disks = CacheDisks(pool);
        if (disks.Length == 0 && AllocationPreferences.ForCache(spec).TakesAnyMedium)
        {
            return;   // as many disks as its data needs
        }

        int missing = copies - disks.Length;
        if (missing > 0)
        {
            int journals = disks.Count(disk => disk.Usage == DiskUsage.Journal);
            throw new ManagementException(
                ManagementError.NotEnoughPhysicalDisks,
                $"{what}: the write cache of {OwnerOf(spec)} needs {CountText.Of(copies, "disk")} of usage Journal or flash (SSD, SCM); "
                + $"storage pool '{pool.State.Pool!.FriendlyName}' has {journals} of usage Journal and {disks.Length - journals} more of flash.",
                $"Add {TieredDiskPlan.DisksText(missing)} of that kind, say what the disks are (Set-PhysicalDisk -MediaType SSD or -Usage Journal), or give -WriteCacheSize 0.");
        }

        int domains = BestCacheDisks(pool, spec).Count();
        if (domains < copies)
        {
            throw new ManagementException(
                ManagementError.NotEnoughPhysicalDisks,
                $"{what}: the write cache of {OwnerOf(spec)} needs disks of usage Journal or flash (SSD, SCM) in {copies} fault domains "
                + $"({AllocationPreferences.ForCache(spec).FaultDomainAwareness}); such disks of storage pool '{pool.State.Pool!.FriendlyName}' are in {domains}.",
                $"Add such disks in {copies - domains} more, or give -WriteCacheSize 0.");
        }
    }

    /// <summary>Says how long a large cache takes to open after a crash, in the pool that it lies in.</summary>
    internal static void WarnOfReplay(PoolDescription at, string name, long bytes, Action<string> remark)
    {
        long gibibytes = (bytes + AutomaticBytes - 1) / AutomaticBytes;
        long seconds = at.HasCacheSummaries ? gibibytes / SummarizedGiBPerSecond : gibibytes * ReplaySecondsPerGiB;
        if (seconds >= ReplaySecondsToName)
        {
            remark($"The write cache of virtual disk '{name}' has {ByteText.Exact(bytes)}: after a crash, reading it again may take about {CountText.Of(seconds, "second")} before the disk serves.");
        }
    }

    /// <summary>The largest cache beside which so many rows of data fit; 0 where there is none.</summary>
    private long Largest(VirtualDiskDescription spec, long rows)
    {
        long low = 0;
        long high = pool.Allocator.LargestRunCount(spec.CacheCopies, AllocationPreferences.ForCache(spec));
        while (low < high)
        {
            long middle = low + ((high - low + 1) / 2);
            (low, high) = RowsBeside(spec, middle) >= rows ? (middle, high) : (low, middle - 1);
        }

        return low;
    }

    private long RowsBeside(VirtualDiskDescription spec, long cacheRows) =>
        cacheRows > SpaceDescription.MaxRows ? -1
        : spec.Tiers.IsDefaultOrEmpty ? RoomPlans.LargestRowCount(pool, spec with { WriteCacheSize = cacheRows * Slab })
        : RoomPlans.TiersFit(pool, spec with { WriteCacheSize = cacheRows * Slab });

    private static string Kinds(VirtualDiskDescription spec) => AllocationPreferences.ForCache(spec).TakesAnyMedium ? "" : " of usage Journal or flash";

    /// <summary>The layout that the copies of a cache follow from; where that is the one of a tier, the tier.</summary>
    private static string OwnerOf(VirtualDiskDescription spec)
    {
        if (spec.Tiers.IsDefaultOrEmpty)
        {
            return $"{spec.ResiliencySettingName} with {Copies(spec.CacheCopies)}";
        }

        TierDescription tier = spec.Tiers.First(part => part.RingCopies == spec.CacheCopies);
        return $"virtual disk '{spec.FriendlyName}' has {Copies(spec.CacheCopies)}, as its storage tier '{tier.FriendlyName}' is {tier.ResiliencySettingName} and "
            + $"survives the loss of {TieredDiskPlan.DisksText(tier.PhysicalDiskRedundancy)}: it";
    }

    internal static string Copies(int copies) => copies == 1 ? "1 copy" : $"{copies} copies";
}
