using TierSpaces.Engine.Devices;
using TierSpaces.Engine.Devices.Emulated;
using TierSpaces.Engine.Formats;
using TierSpaces.Engine.Pools;
using TierSpaces.Engine.Primitives;

namespace TierSpaces.Engine.Management;

/// <summary>Statuses of physical disks, as functions of a snapshot.</summary>
internal static class PhysicalDiskStatuses
{
    /// <summary>Returns the statuses of the registered disks, then those of missing members.</summary>
    internal static IEnumerable<PhysicalDiskStatus> Of(SubsystemSnapshot now) =>
        now.Disks.All.Select(disk => Of(now, disk)).Concat(now.ManagedPools.SelectMany(managed => OfMissing(now, managed)));

    private static PhysicalDiskStatus Of(SubsystemSnapshot now, RegisteredDiskSnapshot disk)
    {
        PhysicalDiskStatus view = Describe(disk);
        if (now.Disks.MemberOf(disk) is not var (managed, member))
        {
            return WithCondition(view, disk, Poolability.WhyNot(disk, now.Disks.IsInOpenPool(disk)));
        }

        return OfMember(now, managed, member, view) with
        {
            CannotPool = ManagementError.PhysicalDiskInUse, CannotPoolKind = CannotPoolKind.InAPool, CannotPoolReason = "it is in a storage pool.",
        };
    }

    private static PhysicalDiskStatus WithCondition(PhysicalDiskStatus view, RegisteredDiskSnapshot disk, WhyNotPoolable? why)
    {
        bool isUnrecognized = disk.Condition.Problem.Length == 0 && disk.Condition.Scan?.Kind is ScanKind.Damaged or ScanKind.Unsupported;
        return view with
        {
            CannotPool = why?.Error,
            CannotPoolKind = why?.Kind ?? CannotPoolKind.Other,
            CannotPoolReason = why?.Reason ?? "",
            Health = disk.Condition.Problem.Length > 0 || isUnrecognized ? HealthStatus.Unhealthy : HealthStatus.Healthy,
            OperationalStatus = disk.Condition.IsSplit || disk is { Condition.Copy: not CopyState.None, IsOpen: true } ? "Split"
                : disk.Condition.Problem.Length > 0 ? "Lost Communication" : isUnrecognized ? "Unrecognized Metadata" : "OK",
            StatusReason = isUnrecognized ? disk.Condition.Scan!.Reason : disk.Condition.Problem,
        };
    }

    private static IEnumerable<PhysicalDiskStatus> OfMissing(SubsystemSnapshot now, ManagedPoolSnapshot managed) =>
        managed.State is not { } state ? [] : state.Disks.Values
            .Where(disk => now.Disks.DiskOf(managed, disk.Description.Number) is null)
            .Select(disk => OfMember(now, managed, disk.Description, new PhysicalDiskStatus
            {
                UniqueId = disk.Description.Id.Value,
                DeviceId = -1,
                FriendlyName = disk.Description.FriendlyName,
                LogicalSectorSize = disk.Description.LogicalSectorSize,
                PhysicalSectorSize = disk.Description.PhysicalSectorSize,
                SpindleSpeed = disk.Description.SpindleSpeed,
                SerialNumber = disk.Description.SerialNumber,
                Model = disk.Description.Model,
                Manufacturer = disk.Description.Manufacturer,
                FirmwareVersion = disk.Description.FirmwareVersion,
                CannotPool = ManagementError.PhysicalDiskInUse,
                CannotPoolKind = CannotPoolKind.InAPool,
                CannotPoolReason = "it is missing.",
            }));

    private static PhysicalDiskStatus Describe(RegisteredDiskSnapshot disk) => new()
    {
        UniqueId = disk.Stored.Id,
        DeviceId = disk.Stored.DeviceId,
        FriendlyName = disk.Stored.FriendlyName,
        Uri = disk.Stored.Uri,
        Uris = [.. disk.Stored.Uris],
        WorkingUris = disk.WorkingUris,
        SizeBytes = disk.Identity?.SizeBytes ?? 0,
        MediaType = disk.Stored.Overrides.MediaType ?? disk.Identity?.MediaType ?? MediaType.Unspecified,
        BusType = disk.Identity?.BusType ?? BusType.Unknown,
        LogicalSectorSize = disk.Identity?.LogicalSectorSize ?? 512,
        PhysicalSectorSize = disk.Identity?.PhysicalSectorSize ?? 4096,
        SpindleSpeed = disk.Identity?.SpindleSpeed ?? 0,
        IsWriteCacheEnabled = disk.Identity?.IsWriteCacheEnabled ?? false,
        SerialNumber = disk.Stored.SerialNumber(disk.Identity),
        Model = disk.Identity?.Model ?? "",
        Manufacturer = disk.Identity?.Manufacturer ?? "",
        FirmwareVersion = disk.Identity?.FirmwareVersion ?? "",
        Description = disk.Stored.Description,
        Place = disk.Stored.KnownPlace(disk.Identity),
        LatencyProfile = disk.Stored.LatencyProfile,
        IsForced = disk.Stored.IsForced,
        Counters = disk.Counters,
    };

    private static PhysicalDiskStatus OfMember(SubsystemSnapshot now, ManagedPoolSnapshot managed, DiskDescription member, PhysicalDiskStatus view)
    {
        DiskState state = managed.State!.Disk(member.Number)!;
        MemberCondition condition = MemberCondition.Of(now, managed, member);
        long slab = managed.State.Pool!.Slabs.DataBytes;
        return view with
        {
            UniqueId = member.Id.Value,
            FriendlyName = member.FriendlyName,
            SizeBytes = member.SizeBytes,
            AllocatedBytes = member.SizeBytes - (state.FreeSlabs * slab),
            VirtualDiskBytes = state.UsedSlabs * slab,
            MediaType = member.Media(),
            BusType = member.Bus(),
            Usage = member.Usage,
            Description = member.Description,
            Place = DiskPlace.Of(member),
            SerialNumber = member.SerialNumber.Length > 0 ? member.SerialNumber : view.SerialNumber,
            PoolId = managed.Id.Value,
            Member = member.Number,
            HoldsMetadata = managed.Pool?.View.IsMetadata(member.Number) == true,
            Health = condition.Health,
            OperationalStatus = condition.OperationalStatus,
            StatusReason = condition.Reason,
            Counters = managed.Activity(member.Number).Counters ?? view.Counters,
        };
    }
}
