using TierSpaces.Engine.Devices;
using TierSpaces.Engine.Formats;
using TierSpaces.Engine.Pools;
using TierSpaces.Engine.Primitives;

namespace TierSpaces.Engine.Management;

// A disk is pooled if nothing speaks against it: neither a pool that has it, nor its condition, nor the system that it belongs to, nor its bus, nor what is
// on it. The first reason in this order is given, with the documented kind that an administrator knows from Windows:
//
//   In a Pool               it is a member, open or not
//   Offline                 it is not there, hangs, or is write-protected
//   Starting                a process that has ended holds it still
//   Not Healthy             it cannot be read, or metadata of ours on it is damaged or of a newer release
//   Removable Media         its medium can be taken out
//   Reserved by subsystem   another storage system has it: a RAID, a volume group, a process that has it open
//   Insufficient Capacity   it is too small, or a partition table or a file system takes its capacity
//   Other                   policy: RAID volumes (unless forced), iSCSI, Fibre Channel and other disks behind a network; memory

/// <summary>Reason why a disk cannot be pooled.</summary>
/// <param name="Error">Error of a verb that is to pool it all the same.</param>
/// <param name="Kind">Documented kind.</param>
/// <param name="Reason">In words, for people.</param>
internal sealed record WhyNotPoolable(ManagementError Error, CannotPoolKind Kind, string Reason);

/// <summary>Decides whether disks can be pooled.</summary>
internal static class Poolability
{
    private const string ForceHint = "If that is accepted, register it again with -Force (Unregister-PhysicalDisk, Register-PhysicalDisk -Force).";

    /// <summary>Returns the reason why a disk cannot be pooled; null if it can.</summary>
    /// <param name="disk">The disk.</param>
    /// <param name="isInOpenPool">Whether an open pool uses it.</param>
    internal static WhyNotPoolable? WhyNot(RegisteredDiskSnapshot disk, bool isInOpenPool) =>
        isInOpenPool ? new WhyNotPoolable(ManagementError.PhysicalDiskInUse, CannotPoolKind.InAPool, "it is in a storage pool.")
        : !disk.IsOpen || disk.Condition.Scan is null ? new WhyNotPoolable(ManagementError.Failed, disk.Condition.ProblemKind, disk.Condition.Problem)
        : disk.Condition.Copy != CopyState.None ? new WhyNotPoolable(ManagementError.CloneDisk, CannotPoolKind.NotHealthy, disk.Condition.Problem)
        : disk.Condition.IsSplit ? new WhyNotPoolable(ManagementError.DamagedMember, CannotPoolKind.NotHealthy, disk.Condition.Problem)
        : OfSystem(disk) ?? OfBus(disk) ?? OfContent(disk);

    private static WhyNotPoolable? OfSystem(RegisteredDiskSnapshot disk)
    {
        DiskIdentity identity = disk.Identity!;
        PoolingObstacle obstacle = disk.Stored.IsForced && identity.IfForced is { } left ? left
            : new PoolingObstacle(identity.CannotPoolReason, identity.CannotPoolKind);
        string hint = identity.IfForced is not null && !disk.Stored.IsForced ? $". {ForceHint}" : "";
        return obstacle.Reason.Length == 0 ? null : new WhyNotPoolable(ManagementError.SystemManagedDisk, obstacle.Kind, obstacle.Reason + hint);
    }

    private static WhyNotPoolable? OfBus(RegisteredDiskSnapshot disk) => disk.Identity!.BusType switch
    {
        BusType.RAID when !disk.Stored.IsForced => new WhyNotPoolable(
            ManagementError.SystemManagedDisk, CannotPoolKind.Other,
            $"its bus is RAID: the controller hides identity and health of the disks below. Set the controller to pass its disks through. {ForceHint}"),
        BusType.iSCSI or BusType.FibreChannel => new WhyNotPoolable(
            ManagementError.SystemManagedDisk, CannotPoolKind.Other,
            $"its bus is {(disk.Identity.BusType == BusType.iSCSI ? "iSCSI" : "Fibre Channel")}: only local disks are pooled."),
        _ => null,
    };

    private static WhyNotPoolable? OfContent(RegisteredDiskSnapshot disk)
    {
        PoolScan scan = disk.Condition.Scan!;
        return scan.Kind switch
        {
            ScanKind.Blank or ScanKind.Forming => disk.Identity!.SizeBytes >= DiskLayout.SmallestDisk ? null : new WhyNotPoolable(
                ManagementError.NotEnoughCapacity, CannotPoolKind.InsufficientCapacity,
                $"it has {ByteText.Exact(disk.Identity.SizeBytes)}; a member has at least {ByteText.Exact(DiskLayout.SmallestDisk)}."),
            ScanKind.Member => new WhyNotPoolable(
                ManagementError.PhysicalDiskInUse, CannotPoolKind.InAPool, "it is a member of a storage pool that is not open."),
            ScanKind.Foreign => new WhyNotPoolable(ManagementError.ForeignSignature, KindOf(scan.Signatures), scan.Reason),
            _ => new WhyNotPoolable(
                scan.Kind == ScanKind.Unreadable ? ManagementError.Failed : ManagementError.DamagedMember, CannotPoolKind.NotHealthy, scan.Reason),
        };
    }

    private static CannotPoolKind KindOf(IReadOnlyList<DiskSignature> signatures) =>
        signatures.Any(static signature => signature.Kind == SignatureKind.Member) ? CannotPoolKind.ReservedBySubsystem : CannotPoolKind.InsufficientCapacity;
}
