using System.Text.Json.Serialization;

namespace TierSpaces.Contracts;

/// <summary>Type of a fault domain. Numbered as in Windows.</summary>
[JsonConverter(typeof(JsonStringEnumConverter<StorageFaultDomainType>))]
public enum StorageFaultDomainType
{
    /// <summary>Shown as "PhysicalDisk".</summary>
    PhysicalDisk = 1,

    /// <summary>Shown as "StorageEnclosure".</summary>
    StorageEnclosure = 2,

    /// <summary>Shown as "StorageScaleUnit".</summary>
    StorageScaleUnit = 3,

    /// <summary>Shown as "StorageChassis".</summary>
    StorageChassis = 4,

    /// <summary>Shown as "StorageRack".</summary>
    StorageRack = 5,

    /// <summary>Shown as "StorageSite".</summary>
    StorageSite = 6,
}
