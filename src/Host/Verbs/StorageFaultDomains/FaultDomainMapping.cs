using System.Globalization;
using TierSpaces.Contracts;
using TierSpaces.Engine.Management;
using TierSpaces.Engine.Pools;
using TierSpaces.Host.Verbs.Mapping;

namespace TierSpaces.Host.Verbs.StorageFaultDomains;

/// <summary>Fault domains as the objects that users see.</summary>
internal static class FaultDomainMapping
{
    /// <summary>An enclosure.</summary>
    public static StorageEnclosureInfo ToEnclosure(this FaultDomain domain)
    {
        DiskPlace place = domain.Place;
        BusType[] buses = [.. domain.Disks.Select(static disk => disk.BusType.ToContract()).Distinct()];
        return new StorageEnclosureInfo
        {
            FriendlyName = domain.FriendlyName,
            UniqueId = domain.UniqueId,
            ObjectId = Identifiers.ObjectId("MSFT_StorageEnclosure", domain.UniqueId),
            DeviceId = place.EnclosureNumber >= 0 ? place.EnclosureNumber.ToString(CultureInfo.InvariantCulture) : "",
            HealthStatus = HealthOf(domain),
            OperationalStatus = StatusOf(domain),
            OperationalDetails = domain.Reason is { } reason ? [reason] : null,
            PhysicalLocation = FaultDomainNames.Location(place),
            SerialNumber = FaultDomains.PartsOf(place.Path, -1)[^1],
            BusType = DisplayName.Of(buses is [var one] ? one : BusType.Unknown),
            NumberOfSlots = Slots(domain.Disks),
        };
    }

    /// <summary>Any domain.</summary>
    public static StorageFaultDomainInfo ToInfo(this FaultDomain domain)
    {
        PhysicalDiskInfo? disk = domain.Type == StorageFaultDomainType.PhysicalDisk ? domain.Disks[0].ToInfo() : null;
        return new StorageFaultDomainInfo
        {
            Type = DisplayName.Of(domain.Type),
            FriendlyName = domain.FriendlyName,
            UniqueId = domain.UniqueId,
            ObjectId = Identifiers.ObjectId($"MSFT_{domain.Type}", domain.UniqueId),
            Description = disk?.Description,
            HealthStatus = disk?.HealthStatus ?? HealthOf(domain),
            OperationalStatus = disk?.OperationalStatus ?? StatusOf(domain),
            OperationalDetails = disk is not null ? disk.OperationalDetails : domain.Reason is { } reason ? [reason] : null,
            PhysicalLocation = disk is not null ? disk.PhysicalLocation : FaultDomainNames.Location(Trimmed(domain)),
            Manufacturer = disk?.Manufacturer,
            Model = disk?.Model,
            SerialNumber = disk?.SerialNumber ?? "",
            PhysicalDisk = disk,
            StorageEnclosure = domain.Type == StorageFaultDomainType.StorageEnclosure ? domain.ToEnclosure() : null,
        };
    }

    private static string HealthOf(FaultDomain domain) => DisplayName.Of(domain.IsLost ? Contracts.HealthStatus.Unhealthy : Contracts.HealthStatus.Healthy);

    private static string[] StatusOf(FaultDomain domain) => [DisplayName.Of(domain.IsLost ? OperationalStatus.LostCommunication : OperationalStatus.OK)];

    /// <summary>The place of a domain without what is narrower than it.</summary>
    private static DiskPlace Trimmed(FaultDomain domain)
    {
        string[] parts = FaultDomains.PartsOf(domain.Place.Path, domain.Place.EnclosureNumber);
        return domain.Type switch
        {
            StorageFaultDomainType.StorageRack => At(parts[0], parts[1], "", ""),
            StorageFaultDomainType.StorageChassis => At(parts[0], parts[1], parts[2], ""),
            StorageFaultDomainType.StorageScaleUnit => At(parts[0], parts[1], parts[2], parts[3]),
            _ => domain.Place,
        };

        static DiskPlace At(string site, string rack, string chassis, string node) => new(FaultDomains.Path(site, rack, chassis, node), -1, -1);
    }

    // Slots are numbered from 0 or from 1.
    private static uint? Slots(IReadOnlyList<PhysicalDiskStatus> disks)
    {
        int[] known = [.. disks.Select(static disk => disk.Place.SlotNumber).Where(static slot => slot >= 0)];
        return known.Length == 0 ? null : (uint)(known.Contains(0) ? known.Max() + 1 : known.Max());
    }
}
