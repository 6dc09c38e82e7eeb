using System.Text.Json.Serialization;

namespace TierSpaces.Contracts;

/// <summary>Purpose of a virtual disk. Numbered as in Windows.</summary>
[JsonConverter(typeof(JsonStringEnumConverter<VirtualDiskUsage>))]
public enum VirtualDiskUsage
{
    /// <summary>Shown as "Unknown".</summary>
    Unknown = 0,

    /// <summary>Shown as "Other".</summary>
    Other = 1,

    /// <summary>Shown as "Unrestricted".</summary>
    Unrestricted = 2,

    /// <summary>Shown as "Reserved for ComputerSystem (the block server)".</summary>
    ReservedForComputerSystem = 3,

    /// <summary>Shown as "Reserved by Replication Services".</summary>
    ReservedForReplicationServices = 4,

    /// <summary>Shown as "Reserved by Migration Services".</summary>
    ReservedForMigrationServices = 5,

    /// <summary>Shown as "Local Replica Source".</summary>
    LocalReplicaSource = 6,

    /// <summary>Shown as "Remote Replica Source".</summary>
    RemoteReplicaSource = 7,

    /// <summary>Shown as "Local Replica Target".</summary>
    LocalReplicaTarget = 8,

    /// <summary>Shown as "Remote Replica Target".</summary>
    RemoteReplicaTarget = 9,

    /// <summary>Shown as "Local Replica Source or Target".</summary>
    LocalReplicaSourceOrTarget = 10,

    /// <summary>Shown as "Remote Replica Source or Target".</summary>
    RemoteReplicaSourceOrTarget = 11,

    /// <summary>Shown as "Delta Replica Target".</summary>
    DeltaReplicaTarget = 12,

    /// <summary>Shown as "Element Component".</summary>
    ElementComponent = 13,

    /// <summary>Shown as "Reserved as Pool Contributor".</summary>
    ReservedAsPoolContributer = 14,

    /// <summary>Shown as "Composite Volume Member".</summary>
    CompositeVolumeMember = 15,

    /// <summary>Shown as "Composite VirtualDisk Member".</summary>
    CompositeVirtualDiskMember = 16,

    /// <summary>Shown as "Reserved for Sparing".</summary>
    ReservedForSparing = 17,
}
