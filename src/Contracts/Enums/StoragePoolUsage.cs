using System.Text.Json.Serialization;

namespace TierSpaces.Contracts;

/// <summary>Purpose of a storage pool. Numbered as in Windows.</summary>
[JsonConverter(typeof(JsonStringEnumConverter<StoragePoolUsage>))]
public enum StoragePoolUsage
{
    /// <summary>Shown as "Unknown".</summary>
    Unknown = 0,

    /// <summary>Shown as "Other".</summary>
    Other = 1,

    /// <summary>Shown as "Unrestricted".</summary>
    Unrestricted = 2,

    /// <summary>Shown as "Reserved for ComputerSystem (the block server)".</summary>
    ReservedForComputerSystem = 3,

    /// <summary>Shown as "Reserved as a Delta Replica Container".</summary>
    ReservedAsDeltaReplicaContainer = 4,

    /// <summary>Shown as "Reserved for Migration Services".</summary>
    ReservedForMigrationServices = 5,

    /// <summary>Shown as "Reserved for Local Replication Services".</summary>
    ReservedForLocalReplicationServices = 6,

    /// <summary>Shown as "Reserved for Remote Replication Services".</summary>
    ReservedForRemoteReplicationServices = 7,

    /// <summary>Shown as "Reserved for Sparing".</summary>
    ReservedForSparing = 8,
}
