using System.Globalization;
using TierSpaces.Contracts;
using TierSpaces.Engine.Devices;
using TierSpaces.Engine.Management;

namespace TierSpaces.Host.Verbs.Mapping;

/// <summary>A physical disk of the engine as the object users see.</summary>
internal static class PhysicalDiskMapping
{
    private static readonly string[] s_usages = DisplayName.Of(Enum.GetValues<PhysicalDiskUsage>().Where(usage => usage != 0));

    /// <summary>Maps one.</summary>
    public static PhysicalDiskInfo ToInfo(this PhysicalDiskStatus disk)
    {
        string uniqueId = Identifiers.OfPoolOrDisk(disk.UniqueId);
        return new PhysicalDiskInfo
        {
            FriendlyName = disk.FriendlyName,
            UniqueId = uniqueId,
            ObjectId = Identifiers.ObjectId("MSFT_PhysicalDisk", uniqueId),
            UniqueIdFormat = DisplayName.Of(UniqueIdFormat.VendorSpecific),
            DeviceId = disk.DeviceId < 0 ? "" : disk.DeviceId.ToString(CultureInfo.InvariantCulture),
            HealthStatus = DisplayName.Of((HealthStatus)disk.Health),
            OperationalStatus = [disk.OperationalStatus],
            OperationalDetails = disk.StatusReason.Length > 0 ? [disk.StatusReason] : null,
            Usage = DisplayName.Of((PhysicalDiskUsage)disk.Usage),
            SupportedUsages = s_usages,
            Description = disk.Description,
            Manufacturer = disk.Manufacturer,
            Model = disk.Model,
            SerialNumber = disk.SerialNumber,
            FirmwareVersion = disk.FirmwareVersion,
            Size = (ulong)disk.SizeBytes,
            AllocatedSize = (ulong)disk.AllocatedBytes,
            VirtualDiskFootprint = (ulong)disk.VirtualDiskBytes,
            BusType = DisplayName.Of(disk.BusType.ToContract()),
            MediaType = DisplayName.Of(disk.MediaType.ToContract()),
            SpindleSpeed = disk.SpindleSpeed,
            IsWriteCacheEnabled = disk.IsWriteCacheEnabled,
            LogicalSectorSize = (ulong)disk.LogicalSectorSize,
            PhysicalSectorSize = (ulong)disk.PhysicalSectorSize,
            EnclosureNumber = disk.Place.EnclosureNumber < 0 ? null : (ushort)disk.Place.EnclosureNumber,
            PhysicalLocation = FaultDomainNames.Location(disk.Place) ?? ImagePath(disk),
            SlotNumber = disk.Place.SlotNumber < 0 ? null : (ushort)disk.Place.SlotNumber,
            CanPool = disk.CannotPool is null,
            CannotPoolReason = disk.CannotPool is null ? [] : [DisplayName.Of((CannotPoolReason)disk.CannotPoolKind)],
            OtherCannotPoolReasonDescription = disk.CannotPool is null ? null : disk.CannotPoolReason,
            IsIndicationEnabled = false,
            StoragePoolUniqueId = disk.PoolId is { } pool ? Identifiers.OfPoolOrDisk(pool) : null,
            Path = disk.Uri.Length > 0 ? DiskUri.Parse(disk.Uri).Path : null,
            Paths = disk.Uris.Count > 0 ? PathsOf(disk.Uris) : null,
            WorkingPaths = disk.Uris.Count > 0 ? PathsOf(disk.WorkingUris) : null,
            LatencyProfile = disk.LatencyProfile.Length > 0 ? disk.LatencyProfile : null,
        };
    }

    private static string[] PathsOf(IEnumerable<string> uris) => [.. uris.Select(static uri => DiskUri.Parse(uri).Path)];

    /// <summary>Path of an image file; null for anything else, and while it is missing.</summary>
    private static string? ImagePath(PhysicalDiskStatus disk) =>
        disk.Uri.Length > 0 && DiskUri.Parse(disk.Uri) is { Kind: not DiskKind.Block } image ? image.Path : null;
}
