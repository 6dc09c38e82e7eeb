using TierSpaces.Engine.Pools;
using TierSpaces.Engine.Primitives;
using TierSpaces.Engine.Resiliency;
using TierSpaces.Engine.VirtualDisks;

namespace TierSpaces.Engine.Management;

// Why a virtual disk is not OK: what is wrong, what the host does about it by itself and when, what else helps.
//
// Invariants
//  1. Every status that is not OK has a reason; a virtual disk that is only not connected says so in its detached reason.

/// <summary>A missing member under a virtual disk.</summary>
/// <param name="FriendlyName">Its name.</param>
/// <param name="NextLookNs">Time of the next search for the disk, on the lane's clock.</param>
internal readonly record struct MissingCopies(string FriendlyName, long NextLookNs);

/// <summary>Condition of a virtual disk at one moment. The status of the virtual disk follows from it alone.</summary>
internal sealed record VirtualDiskCondition
{
    /// <summary>Reason why the virtual disk is not open; null while it is. If it is not open, no other property counts.</summary>
    internal string? ClosedReason { get; init; }

    /// <summary>Whether it is not open because its pool is being opened.</summary>
    internal bool IsBeingOpened { get; init; }

    /// <summary>Whether a verb makes or removes it, or opens it again.</summary>
    internal bool IsBeingMade { get; init; }

    /// <summary>Whether it is detached until a commit is decided.</summary>
    internal bool AwaitsDecision { get; init; }

    /// <summary>Error for which the virtual disk takes no requests, or None.</summary>
    internal IoError Fault { get; init; }

    /// <summary>The same error in words.</summary>
    internal string FaultReason { get; init; } = "";

    /// <summary>Reason why parts of the virtual disk cannot be read; empty when all can.</summary>
    internal string UnreadableReason { get; init; } = "";

    /// <summary>Whether no copy of its integrity log is there.</summary>
    internal bool LacksLog { get; init; }

    /// <summary>Whether it takes requests, and all of it can be read.</summary>
    internal bool IsComplete { get; init; }

    /// <summary>Name of a disk of its write cache, in another pool, whose file system is full.</summary>
    internal string? FullCacheDisk { get; init; }

    /// <summary>Name of a disk of it whose file system is full.</summary>
    internal string? FullDisk { get; init; }

    /// <summary>Reason why its write cache takes no writes; null when it does.</summary>
    internal string? LostCacheReason { get; init; }

    /// <summary>Reason why its write cache has lost data; null when it has not.</summary>
    internal string? LostBlocksReason { get; init; }

    /// <summary>Whether no copy has some of its data.</summary>
    internal bool HasLost { get; init; }

    /// <summary>Data that no copy has.</summary>
    internal IReadOnlyList<(long Offset, long Length)> Lost { get; init; } = [];

    /// <summary>Reason why the pool lacks room for the virtual disk; null when it has room.</summary>
    internal string? CapacityReason { get; init; }

    /// <summary>Name of a disk of its pool that does not answer.</summary>
    internal string? HungDisk { get; init; }

    /// <summary>Whether it has less redundancy than configured.</summary>
    internal bool IsDegraded { get; init; }

    /// <summary>Missing disks with copies of it.</summary>
    internal IReadOnlyList<MissingCopies> Missing { get; init; } = [];

    /// <summary>Bytes of copies that may be out of date: those of the regions that are marked.</summary>
    internal long BytesBehind { get; init; }

    /// <summary>Percent done of its repair; null when none runs.</summary>
    internal int? RepairPercent { get; init; }

    /// <summary>Whether a user stopped its repair.</summary>
    internal bool IsRepairStopped { get; init; }

    /// <summary>Time at which the next repair begins, on the lane's clock.</summary>
    internal long NextRepairNs { get; init; }

    /// <summary>Whether it is exported.</summary>
    internal bool IsExported { get; init; }

    /// <summary>Reason why the virtual disk is not exported although it should be; empty otherwise.</summary>
    internal string ExportProblem { get; init; } = "";

    /// <summary>The moment, on the lane's clock.</summary>
    internal long NowNs { get; init; }

    /// <summary>Health, operational status and the reason why it is detached; that is empty while it is not.</summary>
    internal (HealthStatus Health, string Status, string Detached) State
    {
        get
        {
            if (ClosedReason is not null)
            {
                return IsBeingMade ? (HealthStatus.Healthy, "In Service", "")
                    : IsBeingOpened ? (HealthStatus.Warning, "In Service", "") : (HealthStatus.Unhealthy, "Detached", "Incomplete");
            }

            if (!IsComplete || AwaitsDecision)
            {
                return (HealthStatus.Unhealthy, Fault != IoError.None || AwaitsDecision ? "Detached" : "No Redundancy", "Incomplete");
            }

            bool lacksRoom = CapacityReason is not null;
            bool lacks = IsDegraded || lacksRoom || HasLost || FullDisk is not null || LostCacheReason is not null || LostBlocksReason is not null
                || ExportProblem.Length > 0;
            HealthStatus health = lacks ? HealthStatus.Warning : HealthStatus.Healthy;
            return IsExported ? (health, HasLost ? "Error" : IsDegraded ? "Degraded" : lacksRoom ? "Stressed" : "OK", "") : (health, "Detached", "By Policy");
        }
    }

    /// <summary>Reason why the virtual disk is not OK; empty when it is.</summary>
    internal string Reason =>
        ClosedReason is { } closed ? closed
        : AwaitsDecision ? "It is detached until a commit is decided that waits for room on a file system under its storage pool or that of its write cache. Free space there; it is attached by itself then."
        : Fault != IoError.None ? $"It takes no more requests: {FaultReason} ({Fault})."
        : UnreadableReason.Length > 0 ? UnreadableReason
        : LacksLog ? "No copy of its integrity log is there: nothing is written until a physical disk that holds one is back."
        : FullCacheDisk is { } cacheDisk
        ? $"The file system under physical disk '{cacheDisk}' of its write cache is full: writes wait. Free space there; after a minute they go to the backing store."
        : FullDisk is { } full ? $"The file system under physical disk '{full}' is full: writes wait. Free space there; after a minute they fail."
        : LostCacheReason is { } lostCache ? $"Its write cache takes no writes: {lostCache}. Set-VirtualDisk -WriteCacheSize gives it another, or none."
        : LostBlocksReason is { } lostBlocks ? $"Its write cache has lost data: {lostBlocks}."
        : Lost.Count > 0 ? DescribeLost()
        : CapacityReason is { } capacity ? capacity
        : HungDisk is { } hung ? $"Physical disk '{hung}' does not answer: what needs it fails until it does."
        : IsDegraded ? DescribeDegraded()
        : ExportProblem.Length > 0 ? $"It is not served: {ExportProblem} Connect-VirtualDisk tries again."
        : "";

    private string DescribeLost()
    {
        const int shown = 8;
        string ranges = string.Join(", ", Lost.Take(shown).Select(static range => $"{ByteText.Exact(range.Length)} at offset {ByteText.Offset(range.Offset)}"));
        string all = $"{ranges}{(Lost.Count > shown ? $" and {Lost.Count - shown} ranges more" : "")}, in all {ByteText.Exact(Lost.Sum(static range => range.Length))}";
        if (Missing.Count == 0)
        {
            return $"Data that no copy has: {all}. Reads of it fail until it is written or unmapped; everything else works. Restore it from a backup.";
        }

        string disks = string.Join(" or ", Missing.Select(static disk => $"'{disk.FriendlyName}'"));
        return $"Data in doubt until physical disk {disks} is back, since no copy that is there has it: {all}. "
            + "Reads of it fail until then, or until it is written or unmapped; everything else works.";
    }

    /// <summary>Returns the copies that are missing or out of date, and the repair of them, in words.</summary>
    private string DescribeDegraded()
    {
        string[] missing = [.. Missing.Select(
            disk => $"Physical disk '{disk.FriendlyName}' with copies of it is missing. {Upcoming.Look(disk.NextLookNs, NowNs)}")];
        return string.Join(' ', BytesBehind > 0 ? missing.Append($"Copies of up to {ByteText.Exact(BytesBehind)} are out of date. {DescribeRepair()}")
            : missing.Length > 0 ? missing
            : ["Copies of it are out of date, and no physical disk that is there has what they lack. Bring back the physical disks that are missing."]);
    }

    private string DescribeRepair() =>
        RepairPercent is { } percent ? $"A repair runs ({percent} % complete, see Get-StorageJob)."
        : IsRepairStopped ? "Their repair was stopped: Repair-VirtualDisk begins another."
        : $"A repair begins {Upcoming.In(NextRepairNs, NowNs)}; Repair-VirtualDisk begins one at once.";

    /// <summary>The condition of a virtual disk that is not open.</summary>
    internal static VirtualDiskCondition OfClosed(ManagedPoolSnapshot managed, VirtualDiskId id) => new()
    {
        ClosedReason = managed.TryGetUnopened(id, out string? problem)
            ? $"It could not be opened: {problem}. After the cause is removed, Connect-VirtualDisk opens it."
            : managed is { Pool: not null, IsBeingOpened: false } ? "It is being made or removed."
            : $"Its storage pool is not open: {managed.Reason}",
        IsBeingOpened = managed.IsBeingOpened && problem is null,
        IsBeingMade = managed is { Pool: not null, IsBeingOpened: false } && problem is null,
    };

    /// <summary>Returns the condition of an open virtual disk.</summary>
    internal static VirtualDiskCondition Of(SubsystemSnapshot now, ManagedPoolSnapshot managed, PoolSnapshot pool, VirtualDiskSnapshot disk)
    {
        if (disk.AwaitsDecision || disk.Fault != IoError.None)
        {
            return new VirtualDiskCondition { AwaitsDecision = disk.AwaitsDecision, Fault = disk.Fault, FaultReason = disk.FaultReason };
        }

        string unreadable = UnreadableRegions.Describe(pool, disk.Description);
        bool isDegraded = disk.IsCacheDegraded || CopySurvey.IsDegraded(pool, disk.Description);
        return new VirtualDiskCondition
        {
            UnreadableReason = unreadable,
            LacksLog = disk.LacksLog,
            IsComplete = !disk.LacksLog && !UnreadableRegions.Any(pool, disk.Description),
            FullCacheDisk = disk is { RemotePool: { } remote, FullRemoteDisk: > 0 and var number } ? NameOf(now.Find(remote)!.State!, number) : null,
            FullDisk = disk.FullDisk is > 0 and var full ? NameOf(pool.State, full) : null,
            LostCacheReason = disk.LostCacheReason,
            LostBlocksReason = disk.LostBlocksReason,
            HasLost = disk.HasLost,
            Lost = disk.HasLost ? disk.LostRanges() : [],
            CapacityReason = CapacityAlert.LacksRoom(pool.State, pool.Allocator, disk.Description) ? CapacityAlert.Describe(pool.State, pool.Allocator) : null,
            HungDisk = managed.HungDisk,
            IsDegraded = isDegraded,
            Missing = isDegraded ? [.. MissingUnder(now, managed, disk)] : [],
            BytesBehind = isDegraded ? CopySurvey.BytesToResync(pool, disk.Description) + disk.RingBytesToResync : 0,
            RepairPercent = disk.Repair?.PercentComplete,
            IsRepairStopped = disk.IsRepairStopped,
            NextRepairNs = disk.NextRepairNs,
            IsExported = disk.IsExported,
            ExportProblem = disk.ExportProblem,
            NowNs = now.NowNs,
        };
    }

    private static string NameOf(PoolState state, int number) => state.Disk(new DiskNumber((ushort)number))!.Description.FriendlyName;

    private static IEnumerable<MissingCopies> MissingUnder(SubsystemSnapshot now, ManagedPoolSnapshot owner, VirtualDiskSnapshot disk)
    {
        IEnumerable<SpaceId> spaces = disk.Description.Spaces.Append(disk.Description.CacheSpace);
        return from managed in now.ManagedPools.Where(pool => pool != owner && pool.Pool is not null && pool.Id == disk.RemotePool).Prepend(owner)
               from number in CopySurvey.MissingUnder(managed.Pool!, spaces)
               select new MissingCopies(managed.State!.Disk(number)!.Description.FriendlyName, now.Disks.NextLookNs(managed, number));
    }
}
