using TierSpaces.Engine.Devices;
using TierSpaces.Engine.Formats;
using TierSpaces.Engine.Jobs;
using TierSpaces.Engine.Pools;
using TierSpaces.Engine.Primitives;
using TierSpaces.Engine.VirtualDisks;

namespace TierSpaces.Engine.Management;

// Why a virtual disk is degraded and why a physical disk is not OK: what is wrong, what the host does about it by itself and when, what else helps.
// Every status that is not OK has such a text; a virtual disk that is only not connected says so in its detached reason.
public sealed partial class StorageSubsystem
{
    private const long Second = 1_000_000_000;

    private string ReasonOfClosed(ManagedPool managed, VirtualDiskId id) => managed.Unopened.TryGetValue(id, out string? problem)
        ? $"It could not be opened: {problem}. After the cause is removed, Connect-VirtualDisk opens it."
        : $"Its storage pool is not open: {managed.Reason}";

    /// <summary>Which copies of a virtual disk are missing or out of date, and what is done about them.</summary>
    private string DescribeDegraded(ManagedPool managed, ManagedVirtualDisk disk)
    {
        string[] missing = [.. PoolsUnder(managed, disk).SelectMany(under => MissingUnder(under, disk)
            .Select(number => $"Physical disk '{under.Pool!.State.Disk(number)!.Description.FriendlyName}' with copies of it is missing. {NextLook(under, number)}"))];
        long behind = disk.Open.BytesToResync;
        return string.Join(' ', behind > 0 ? missing.Append($"Copies of {behind} bytes are out of date. {NextRepair(managed, disk)}")
            : missing.Length > 0 ? missing
            : ["Copies of it are out of date, and no physical disk that is there has what they lack. Bring back the physical disks that are missing."]);
    }

    private IEnumerable<ManagedPool> PoolsUnder(ManagedPool home, ManagedVirtualDisk disk) =>
        [home, .. _pools.Values.Where(pool => pool != home && pool.Pool is not null && pool.Pool == disk.Open.Lent?.Pool)];

    private static DiskNumber[] MissingUnder(ManagedPool managed, ManagedVirtualDisk disk)
    {
        Pool pool = managed.Pool!;
        return
        [
            .. disk.Open.Description.Spaces.Append(disk.Open.Description.CacheSpace).Select(pool.State.Space).OfType<SpaceState>()
                .SelectMany(static space => space.EnumerateRows()).SelectMany(static row => row.Row.Mapping.Sources.ToArray())
                .Select(static slab => slab.Disk).Distinct().Where(number => pool.Disk(number) is null).Order(),
        ];
    }

    /// <summary>When a missing member is looked for next.</summary>
    private string NextLook(ManagedPool managed, DiskNumber number)
    {
        long at = Math.Max(
            managed.Absences.GetValueOrDefault(number)?.NotBeforeNs ?? 0,
            _registry.Disks.Find(disk => MemberFor(managed, disk)?.Number == number)?.NextLookNs ?? 0);
        return $"It is looked for again {In(at)}; what it missed is copied when it is back.";
    }

    private string NextRepair(ManagedPool managed, ManagedVirtualDisk disk) => RepairOf(managed, disk) is { } repair
        ? $"A repair runs ({repair.PercentComplete} % complete, see Get-StorageJob)."
        : disk.IsResyncStopped ? "Their repair was stopped: Repair-VirtualDisk begins another."
        : $"A repair begins {In(disk.RepairNotBeforeNs)}; Repair-VirtualDisk begins one at once.";

    private string In(long atNs) => atNs <= _lane.NowNs + Second ? "within a second" : $"in {(atNs - _lane.NowNs + Second - 1) / Second} s";

    /// <summary>Why a member of a pool is not OK; empty when it is.</summary>
    private string ReasonOfMember(ManagedPool managed, DiskDescription member, bool isFailing)
    {
        if (managed.Pool is not { } pool)
        {
            return $"Its storage pool is not open: {managed.Reason}";
        }

        return pool.OutsideDisks.Contains(member.Number) ? $"It is there and does not take part in its storage pool. {NextLook(managed, member.Number)}"
            : pool.Disk(member.Number) is null ? $"It is missing. {NextLook(managed, member.Number)}"
            : pool.Disk(member.Number) is MeteredDisk { IsHung: true } ? "It does not answer: requests have passed their deadline. It leaves its storage pool as soon as that can do without it."
            : !isFailing ? ""
            : member.Usage == DiskUsage.Retired ? "It has had too many errors (see Get-StorageReliabilityCounter) and is retired: what it holds is moved to other disks. Remove it then."
            : "It has had too many errors (see Get-StorageReliabilityCounter). It is retired as soon as its storage pool has room for what it holds: add a disk.";
    }
}
