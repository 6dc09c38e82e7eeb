using TierSpaces.Engine.Devices;
using TierSpaces.Engine.Devices.Emulated;
using TierSpaces.Engine.Formats;
using TierSpaces.Engine.Pools;
using TierSpaces.Engine.Primitives;

namespace TierSpaces.Engine.Management;

/// <summary>Reads the statuses of physical disks, on the lane.</summary>
internal sealed class PhysicalDiskStatuses(SubsystemCore core, DiskChecks diskChecks, ReliabilityRecords reliability)
{
    /// <summary>Registered disks, then missing members.</summary>
    internal IEnumerable<PhysicalDiskStatus> All() => core.Disks.All.Select(Of).Concat(core.Pools.All.SelectMany(OfMissing));

    /// <summary>Returns the status of a registered disk.</summary>
    internal PhysicalDiskStatus Of(RegisteredDisk disk)
    {
        ManagedPool? managed = core.Pools.All.FirstOrDefault(pool => pool.MemberFor(disk) is not null);
        DiskDescription? member = managed is null ? null : managed.MemberFor(disk);
        PhysicalDiskStatus view = Describe(disk);
        if (member is null)
        {
            (ManagementError Error, string Reason)? why = diskChecks.WhyNotPoolable(disk);
            return view with
            {
                CannotPool = why?.Error,
                CannotPoolReason = why?.Reason ?? "",
                Health = disk.Problem.Length > 0 ? HealthStatus.Unhealthy : HealthStatus.Healthy,
                OperationalStatus = disk.IsSplit ? "Split" : disk.Problem.Length > 0 ? "Lost Communication" : "OK",
                StatusReason = disk.Problem,
            };
        }

        return OfMember(managed!, member, view) with { CannotPool = ManagementError.PhysicalDiskInUse, CannotPoolReason = "it is in a storage pool." };
    }

    /// <summary>Returns the statuses of the members of a pool that no registered disk is.</summary>
    internal IEnumerable<PhysicalDiskStatus> OfMissing(ManagedPool managed) =>
        managed.State is not { } state ? [] : state.Disks.Values
            .Where(disk => !core.Disks.All.Any(known => managed.MemberFor(known)?.Number == disk.Description.Number))
            .Select(disk => OfMember(managed, disk.Description, new PhysicalDiskStatus
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
                CannotPoolReason = "it is missing.",
            }));

    private static PhysicalDiskStatus Describe(RegisteredDisk disk) => new()
    {
        UniqueId = disk.Id,
        DeviceId = disk.DeviceId,
        FriendlyName = disk.FriendlyName,
        Uri = disk.Uri,
        SizeBytes = disk.Identity?.SizeBytes ?? 0,
        MediaType = disk.Overrides.MediaType ?? disk.Identity?.MediaType ?? MediaType.Unspecified,
        BusType = disk.Identity?.BusType ?? BusType.Unknown,
        LogicalSectorSize = disk.Identity?.LogicalSectorSize ?? 512,
        PhysicalSectorSize = disk.Identity?.PhysicalSectorSize ?? 4096,
        SpindleSpeed = disk.Identity?.SpindleSpeed ?? 0,
        IsWriteCacheEnabled = disk.Identity?.IsWriteCacheEnabled ?? false,
        SerialNumber = disk.Identity?.SerialNumber ?? "",
        Model = disk.Identity?.Model ?? "",
        Manufacturer = disk.Identity?.Manufacturer ?? "",
        FirmwareVersion = disk.Identity?.FirmwareVersion ?? "",
        Description = disk.Description,
        Place = disk.KnownPlace,
        LatencyProfile = disk.LatencyProfile,
    };

    private PhysicalDiskStatus OfMember(ManagedPool managed, DiskDescription member, PhysicalDiskStatus view)
    {
        DiskState state = managed.State!.Disk(member.Number)!;
        MemberCondition condition = MemberCondition.Of(core, managed, member, reliability.Of(member.Id.Value).IsPastThreshold);
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
            PoolId = managed.Id.Value,
            Member = member.Number,
            HoldsMetadata = managed.Pool?.View.IsMetadata(member.Number) == true,
            Health = condition.Health,
            OperationalStatus = condition.OperationalStatus,
            StatusReason = condition.Reason,
            Counters = (managed.Pool?.Disk(member.Number) as MeteredDisk)?.Counters,
        };
    }
}
