using TierSpaces.Contracts;
using TierSpaces.Host.Verbs.Mapping;
using TierSpaces.Host.Volumes;

namespace TierSpaces.Host.Verbs.Volumes;

/// <summary>A disk as the object users see.</summary>
internal static class DiskMapping
{
    /// <summary>Maps one whose contents were read.</summary>
    public static DiskInfo ToInfo(this VolumeDisk disk)
    {
        DiskContents contents = disk.Contents;
        return new DiskInfo
        {
            Number = (uint)disk.Number,
            FriendlyName = disk.FriendlyName,
            UniqueId = disk.UniqueId,
            UniqueIdFormat = DisplayName.Of(UniqueIdFormat.VendorSpecific),
            ObjectId = Identifiers.ObjectId("MSFT_Disk", disk.UniqueId),
            Path = disk.Path,
            Location = disk.Device,
            SerialNumber = disk.UniqueId,
            Manufacturer = "TierSpaces",
            Model = "Storage Space",
            FirmwareVersion = ContractsVersion.Text,
            Size = (ulong)disk.Size,
            AllocatedSize = (ulong)contents.Partitions.Sum(static partition => partition.Size),
            LogicalSectorSize = (uint)disk.SectorSize,
            PhysicalSectorSize = (uint)disk.Status.Description.PhysicalSectorSize,
            LargestFreeExtent = (ulong)PartitionRoom.LargestFree(contents, disk.Stripe.AlignmentFor(disk.Size)),
            NumberOfPartitions = (uint)contents.Partitions.Count,
            ProvisioningType = DisplayName.Of((ProvisioningType)disk.Status.Description.ProvisioningType),
            OperationalStatus = [DisplayName.Of(StatusOf(disk))],
            HealthStatus = DisplayName.Of(contents.Fault is null ? (HealthStatus)disk.Status.Health : HealthStatus.Unhealthy),
            BusType = DisplayName.Of(BusType.Spaces),
            PartitionStyle = DisplayName.Of(contents.Style),
            Signature = contents.Signature,
            Guid = contents.Guid,
            IsOffline = disk.Entry.IsOffline,
            OfflineReason = disk.Entry.IsOffline ? DisplayName.Of(OfflineReason.Policy) : null,
            IsReadOnly = disk.IsReadOnly,
            OtherOperationalStatusDescription = RemarkOn(disk),
        };
    }

    private static DiskOperationalStatus StatusOf(VolumeDisk disk) =>
        disk.Entry.IsOffline ? DiskOperationalStatus.Offline
        : disk.Contents.Fault is not null ? DiskOperationalStatus.NotReady
        : DiskOperationalStatus.Online;

    private static string? RemarkOn(VolumeDisk disk) =>
        disk.Contents.Fault
        ?? (disk.Contents.Whole is { } whole ? $"The device holds the file system {whole.Type} without a partition table."
            : disk.Contents.Foreign is { } foreign ? $"The device holds {foreign} without a partition table."
            : disk.Status.StatusReason.Length > 0 ? disk.Status.StatusReason
            : disk.SizeAdvice is { } advice ? $"The virtual disk has {SizeText.Exact(disk.Status.Description.SizeBytes)}, and its block device {SizeText.Exact(disk.Size)}. {advice}"
            : null);
}
