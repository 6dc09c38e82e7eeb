using TierSpaces.Contracts;
using TierSpaces.Host.Verbs.Mapping;

namespace TierSpaces.Host.Verbs.Subsystems;

/// <summary>
/// The one storage subsystem: this machine. It has both names that Windows uses, for a single machine and for Storage Spaces, since
/// scripts ask for either, or for its model.
/// </summary>
internal static class LocalSubsystem
{
    private static readonly string s_uniqueId = $"TierSpaces:{Environment.MachineName}";
    private static readonly string s_shownName = $"Windows Storage on {Environment.MachineName}";
    private static readonly string[] s_names =
        [s_shownName, $"Storage Spaces on {Environment.MachineName}", $"TierSpaces on {Environment.MachineName}", Environment.MachineName];

    /// <summary>Finds it by any of its names.</summary>
    public static Selector<string> Selector { get; } = new("MSFT_StorageSubSystem", s_names, _ => s_uniqueId, name => name);

    /// <summary>The subsystem as an object.</summary>
    public static StorageSubSystemInfo Describe(string healthStatus, int repairQueueDepth) => new()
    {
        FriendlyName = s_shownName,
        Name = Environment.MachineName,
        UniqueId = s_uniqueId,
        ObjectId = Identifiers.ObjectId("MSFT_StorageSubSystem", s_uniqueId),
        Description = "Pools and virtual disks of this machine",
        HealthStatus = healthStatus,
        OperationalStatus = [DisplayName.Of(OperationalStatus.OK)],
        Manufacturer = "TierSpaces",
        Model = "Storage Spaces",
        AutomaticClusteringEnabled = false,
        PhysicalDisksPerStoragePoolMin = 1,
        SupportsMirrorLocal = true,
        SupportsMirrorRemote = false,
        SupportsSnapshotLocal = false,
        SupportsSnapshotRemote = false,
        SupportsCloneLocal = false,
        SupportsCloneRemote = false,
        SupportsVirtualDiskCreation = true,
        SupportsVirtualDiskModification = true,
        SupportsVirtualDiskDeletion = true,
        SupportsVirtualDiskCapacityExpansion = true,
        SupportsVirtualDiskCapacityReduction = false,
        SupportsVirtualDiskRepair = true,
        SupportsVolumeCreation = false,
        SupportsStoragePoolCreation = true,
        SupportsStoragePoolDeletion = true,
        SupportsStoragePoolFriendlyNameModification = true,
        SupportsStoragePoolAddPhysicalDisk = true,
        SupportsStoragePoolRemovePhysicalDisk = true,
        SupportsAutomaticStoragePoolSelection = false,
        SupportsMultipleResiliencySettingsPerStoragePool = true,
        SupportsStorageTierCreation = true,
        SupportsStorageTierDeletion = true,
        SupportsStorageTierResize = true,
        SupportsStorageTierFriendlyNameModification = true,
        SupportsStorageTieredVirtualDiskCreation = true,
        SupportsMaskingVirtualDiskToHosts = false,
        SupportsFileServer = false,
        SupportsFileServerCreation = false,
        SupportsContinuouslyAvailableFileServer = false,
        VirtualDiskRepairEnabled = true,
        VirtualDiskRepairQueueDepth = (uint)repairQueueDepth,
        FaultDomainAwarenessDefault = DisplayName.Of(FaultDomainType.PhysicalDisk),
    };
}
