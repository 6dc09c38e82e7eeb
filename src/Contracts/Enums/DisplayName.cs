namespace TierSpaces.Contracts;

/// <summary>
/// Table of the texts that objects show for values of enumerations, as Windows spells them. A value without a row is shown as its identifier. Objects
/// carry these texts; parameters take the identifiers.
/// </summary>
public static class DisplayName
{
    private static readonly Dictionary<Enum, string> s_names = new()
    {
        [BusType.FireWire] = "1394",
        [BusType.FibreChannel] = "Fibre Channel",
        [BusType.FileBackedVirtual] = "File Backed Virtual",
        [BusType.Spaces] = "Storage Spaces",
        [PhysicalDiskUsage.AutoSelect] = "Auto-Select",
        [PhysicalDiskUsage.ManualSelect] = "Manual-Select",
        [PhysicalDiskUsage.HotSpare] = "Hot Spare",
        [StoragePoolUsage.ReservedForComputerSystem] = "Reserved for ComputerSystem (the block server)",
        [StoragePoolUsage.ReservedAsDeltaReplicaContainer] = "Reserved as a Delta Replica Container",
        [StoragePoolUsage.ReservedForMigrationServices] = "Reserved for Migration Services",
        [StoragePoolUsage.ReservedForLocalReplicationServices] = "Reserved for Local Replication Services",
        [StoragePoolUsage.ReservedForRemoteReplicationServices] = "Reserved for Remote Replication Services",
        [StoragePoolUsage.ReservedForSparing] = "Reserved for Sparing",
        [VirtualDiskUsage.ReservedForComputerSystem] = "Reserved for ComputerSystem (the block server)",
        [VirtualDiskUsage.ReservedForReplicationServices] = "Reserved by Replication Services",
        [VirtualDiskUsage.ReservedForMigrationServices] = "Reserved by Migration Services",
        [VirtualDiskUsage.LocalReplicaSource] = "Local Replica Source",
        [VirtualDiskUsage.RemoteReplicaSource] = "Remote Replica Source",
        [VirtualDiskUsage.LocalReplicaTarget] = "Local Replica Target",
        [VirtualDiskUsage.RemoteReplicaTarget] = "Remote Replica Target",
        [VirtualDiskUsage.LocalReplicaSourceOrTarget] = "Local Replica Source or Target",
        [VirtualDiskUsage.RemoteReplicaSourceOrTarget] = "Remote Replica Source or Target",
        [VirtualDiskUsage.DeltaReplicaTarget] = "Delta Replica Target",
        [VirtualDiskUsage.ElementComponent] = "Element Component",
        [VirtualDiskUsage.ReservedAsPoolContributer] = "Reserved as Pool Contributor",
        [VirtualDiskUsage.CompositeVolumeMember] = "Composite Volume Member",
        [VirtualDiskUsage.CompositeVirtualDiskMember] = "Composite VirtualDisk Member",
        [VirtualDiskUsage.ReservedForSparing] = "Reserved for Sparing",
        [FileStorageTierState.InsufficientCapacity] = "Insufficient Capacity",
        [FileStorageTierState.InProcess] = "In Process",
        [FilePlacementStatus.CompletelyOnTier] = "Completely on tier",
        [FilePlacementStatus.PartiallyOnTier] = "Partially on tier",
        [FilePlacementStatus.NotOnTier] = "Not on tier",
        [OperationalStatus.PredictiveFailure] = "Predictive Failure",
        [OperationalStatus.NonRecoverableError] = "Non-Recoverable Error",
        [OperationalStatus.InService] = "In Service",
        [OperationalStatus.NoContact] = "No Contact",
        [OperationalStatus.LostCommunication] = "Lost Communication",
        [OperationalStatus.SupportingEntityInError] = "Supporting Entity in Error",
        [OperationalStatus.PowerMode] = "Power Mode",
        [OperationalStatus.MajorityDisksUnhealthy] = "Majority Disks Unhealthy",
        [OperationalStatus.MinorityDisksUnhealthy] = "Minority Disks Unhealthy",
        [OperationalStatus.FailedMedia] = "Failed Media",
        [OperationalStatus.StaleMetadata] = "Stale Metadata",
        [OperationalStatus.IOError] = "IO Error",
        [OperationalStatus.UnrecognizedMetadata] = "Unrecognized Metadata",
        [Access.ReadWrite] = "Read/Write",
        [Access.WriteOnce] = "Write Once",
        [ReadOnlyReason.ByPolicy] = "By Policy",
        [ReadOnlyReason.MajorityDisksUnhealthy] = "Majority Disks Unhealthy",
        [DetachedReason.ByPolicy] = "By Policy",
        [DetachedReason.MajorityDisksUnhealthy] = "Majority Disks Unhealthy",
        [CannotPoolReason.InAPool] = "In a Pool",
        [CannotPoolReason.NotHealthy] = "Not Healthy",
        [CannotPoolReason.RemovableMedia] = "Removable Media",
        [CannotPoolReason.InUseByCluster] = "In Use by Cluster",
        [CannotPoolReason.InsufficientCapacity] = "Insufficient Capacity",
        [CannotPoolReason.SpareDisk] = "Spare Disk",
        [CannotPoolReason.ReservedBySubsystem] = "Reserved by subsystem",
        [ParityLayout.NonRotatedParity] = "Non-rotated Parity",
        [ParityLayout.RotatedParity] = "Rotated Parity",
        [StorageJobState.ShuttingDown] = "Shutting Down",
        [StorageJobState.QueryPending] = "Query Pending",
        [LocalOrUtcTime.LocalTime] = "Local Time",
        [LocalOrUtcTime.UtcTime] = "UTC Time",
        [RecoveryAction.DoNotContinue] = "Do Not Continue",
        [RecoveryAction.ContinueWithNextJob] = "Continue With Next Job",
        [RecoveryAction.RerunJob] = "Re-run Job",
        [UniqueIdFormat.VendorSpecific] = "Vendor Specific",
        [UniqueIdFormat.VendorId] = "Vendor Id",
        [UniqueIdFormat.FCPHName] = "FCPH Name",
        [UniqueIdFormat.ScsiNameString] = "SCSI Name String",
    };

    /// <summary>The text of a value, for example "Auto-Select".</summary>
    public static string Of(Enum value) => s_names.TryGetValue(value, out string? name) ? name : value.ToString();

    /// <summary>The texts of several values, in order.</summary>
    public static string[] Of<TEnum>(IEnumerable<TEnum> values)
        where TEnum : struct, Enum => values.Select(value => Of(value)).ToArray();
}
