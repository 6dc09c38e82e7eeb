namespace TierSpaces.Contracts;

/// <summary>
/// Table of the properties of objects that hold a value of an enumeration. Records carry the value's text (<see cref="DisplayName"/>); a shell makes
/// of it a value that compares with text and number.
/// </summary>
public static class ObjectEnumerations
{
    private static readonly Dictionary<string, Type> s_enumerations = new()
    {
        ["Access"] = typeof(Access),
        ["BusType"] = typeof(BusType),
        ["CannotPoolReason"] = typeof(CannotPoolReason),
        ["ColumnIsolation"] = typeof(FaultDomainType),
        ["DedupMode"] = typeof(DedupMode),
        ["DesiredStorageTierClass"] = typeof(StorageTierClass),
        ["DetachedReason"] = typeof(DetachedReason),
        ["DriveType"] = typeof(DriveType),
        ["FaultDomainAwareness"] = typeof(FaultDomainType),
        ["FaultDomainAwarenessDefault"] = typeof(FaultDomainType),
        ["FileSystemType"] = typeof(FileSystemType),
        ["HealthStatus"] = typeof(HealthStatus),
        ["JobState"] = typeof(StorageJobState),
        ["LocalOrUtcTime"] = typeof(LocalOrUtcTime),
        ["MediaType"] = typeof(MediaType),
        ["MediaTypeDefault"] = typeof(MediaType),
        ["OfflineReason"] = typeof(OfflineReason),
        ["OperationalStatus"] = typeof(OperationalStatus),
        ["ParityLayout"] = typeof(ParityLayout),
        ["PartitionStyle"] = typeof(PartitionStyle),
        ["PlacementStatus"] = typeof(FilePlacementStatus),
        ["ProvisioningType"] = typeof(ProvisioningType),
        ["ProvisioningTypeDefault"] = typeof(ProvisioningType),
        ["ReadOnlyReason"] = typeof(ReadOnlyReason),
        ["RecoveryAction"] = typeof(RecoveryAction),
        ["ReFSDedupMode"] = typeof(RefsDedupMode),
        ["RepairPolicy"] = typeof(RepairPolicy),
        ["RepairStatus"] = typeof(RepairStatus),
        ["RetireMissingPhysicalDisks"] = typeof(RetireMissingPhysicalDisks),
        ["SupportedProvisioningTypes"] = typeof(ProvisioningType),
        ["SupportedUsages"] = typeof(PhysicalDiskUsage),
        ["TierClass"] = typeof(StorageTierClass),
        ["UniqueIdFormat"] = typeof(UniqueIdFormat),
    };

    /// <summary>The enumerations that objects show, each once.</summary>
    public static IEnumerable<Type> All =>
        s_enumerations.Values.Concat(
        [
            typeof(PhysicalDiskUsage), typeof(StoragePoolUsage), typeof(StorageTierUsage), typeof(VirtualDiskUsage), typeof(FileStorageTierState),
            typeof(StorageNodeOperationalStatus), typeof(StorageFaultDomainType), typeof(DiskOperationalStatus), typeof(PartitionOperationalStatus),
            typeof(VolumeOperationalStatus), typeof(VolumeHealthStatus),
        ]).Distinct();

    /// <summary>The enumeration of a record's property; null where it holds something else.</summary>
    public static Type? Of(Type record, string property) =>
        property == "Usage" ? Usage(record)
        : property == "OperationalStatus" ? OperationalStatus(record)
        : property == "HealthStatus" && record == typeof(VolumeInfo) ? typeof(VolumeHealthStatus)
        : property == "Type" && record == typeof(StorageFaultDomainInfo) ? typeof(StorageFaultDomainType)
        : property == "State" ? (record == typeof(FileStorageTierInfo) ? typeof(FileStorageTierState) : null)
        : s_enumerations.GetValueOrDefault(property);

    // Five enumerations share the documented name.
    private static Type OperationalStatus(Type record) =>
        record == typeof(StorageNodeInfo) ? typeof(StorageNodeOperationalStatus)
        : record == typeof(DiskInfo) ? typeof(DiskOperationalStatus)
        : record == typeof(PartitionInfo) ? typeof(PartitionOperationalStatus)
        : record == typeof(VolumeInfo) ? typeof(VolumeOperationalStatus)
        : typeof(OperationalStatus);

    // Four enumerations share the documented name.
    private static Type? Usage(Type record) =>
        record == typeof(PhysicalDiskInfo) ? typeof(PhysicalDiskUsage)
        : record == typeof(StoragePoolInfo) ? typeof(StoragePoolUsage)
        : record == typeof(StorageTierInfo) ? typeof(StorageTierUsage)
        : record == typeof(VirtualDiskInfo) ? typeof(VirtualDiskUsage)
        : null;
}
