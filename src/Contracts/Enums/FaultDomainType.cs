using System.Text.Json.Serialization;

namespace TierSpaces.Contracts;

/// <summary>Level at which copies are kept apart. Numbered as in Windows.</summary>
[JsonConverter(typeof(JsonStringEnumConverter<FaultDomainType>))]
public enum FaultDomainType
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
}
