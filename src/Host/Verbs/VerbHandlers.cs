using TierSpaces.Host.Serving;
using TierSpaces.Host.Verbs.StorageFaultDomains;
using TierSpaces.Host.Verbs.Hosts;
using TierSpaces.Host.Verbs.PhysicalDisks;
using TierSpaces.Host.Verbs.StorageJobs;
using TierSpaces.Host.Verbs.StoragePools;
using TierSpaces.Host.Verbs.StorageTiers;
using TierSpaces.Host.Verbs.Subsystems;
using TierSpaces.Host.Verbs.VirtualDisks;
using TierSpaces.Host.Verbs.Volumes;

namespace TierSpaces.Host.Verbs;

/// <summary>
/// The list of handlers, one per verb. A list and not a search: a host must be up in a fraction of a second. A test holds it against
/// the contracts.
/// </summary>
internal static class VerbHandlers
{
    /// <summary>Makes the handlers of one host.</summary>
    public static IVerbHandler[] Create(HostServices services) =>
    [
        new GetTierSpacesHostHandler(services),
        new StartTierSpacesHostHandler(services),
        new StopTierSpacesHostHandler(services),
        new NewPhysicalDiskHandler(services),
        new RegisterPhysicalDiskHandler(services),
        new UnregisterPhysicalDiskHandler(services),
        new GetPhysicalDiskHandler(services),
        new SetPhysicalDiskHandler(services),
        new AddPhysicalDiskHandler(services),
        new RemovePhysicalDiskHandler(services),
        new ResetPhysicalDiskHandler(services),
        new GetStorageEnclosureHandler(services),
        new GetStorageFaultDomainHandler(services),
        new GetStorageNodeHandler(services),
        new GetStorageReliabilityCounterHandler(services),
        new ResetStorageReliabilityCounterHandler(services),
        new SetEmulatedDiskFaultHandler(services),
        new NewStoragePoolHandler(services),
        new GetStoragePoolHandler(services),
        new SetStoragePoolHandler(services),
        new RemoveStoragePoolHandler(services),
        new UpdateStoragePoolHandler(services),
        new GetResiliencySettingHandler(services),
        new SetResiliencySettingHandler(services),
        new NewVirtualDiskHandler(services),
        new GetVirtualDiskHandler(services),
        new SetVirtualDiskHandler(services),
        new RemoveVirtualDiskHandler(services),
        new ResizeVirtualDiskHandler(services),
        new RepairVirtualDiskHandler(services),
        new OptimizeStoragePoolHandler(services),
        new ConnectVirtualDiskHandler(services),
        new DisconnectVirtualDiskHandler(services),
        new GetVirtualDiskSupportedSizeHandler(services),
        new GetVirtualDiskWriteCacheHandler(services),
        new NewStorageTierHandler(services),
        new GetStorageTierHandler(services),
        new SetStorageTierHandler(services),
        new RemoveStorageTierHandler(services),
        new AddStorageTierHandler(services),
        new ResizeStorageTierHandler(services),
        new GetStorageTierSupportedSizeHandler(services),
        new SetFileStorageTierHandler(services),
        new GetFileStorageTierHandler(services),
        new ClearFileStorageTierHandler(services),
        new OptimizeStorageTierHandler(services),
        new OptimizeVolumeHandler(services),
        new GetDiskHandler(services),
        new InitializeDiskHandler(services),
        new SetDiskHandler(services),
        new UpdateDiskHandler(services),
        new ClearDiskHandler(services),
        new NewVolumeHandler(services),
        new NewPartitionHandler(services),
        new GetPartitionHandler(services),
        new ResizePartitionHandler(services),
        new RemovePartitionHandler(services),
        new SetPartitionHandler(services),
        new GetPartitionSupportedSizeHandler(services),
        new AddPartitionAccessPathHandler(services),
        new RemovePartitionAccessPathHandler(services),
        new FormatVolumeHandler(services),
        new GetVolumeHandler(services),
        new SetVolumeHandler(services),
        new RepairVolumeHandler(services),
        new WriteVolumeCacheHandler(services),
        new UpdateHostStorageCacheHandler(services),
        new GetSupportedFileSystemsHandler(services),
        new GetSupportedClusterSizesHandler(services),
        new GetStorageTierScheduleHandler(services),
        new SetStorageTierScheduleHandler(services),
        new GetStorageTierHeatMapHandler(services),
        new ShowStorageTierHeatMapHandler(services),
        new CompareStorageTierHeatMapHandler(),
        new ExportStorageTierHeatMapHandler(services),
        new ImportStorageTierHeatMapHandler(services),
        new GetStorageTierExplanationHandler(services),
        new GetPhysicalExtentHandler(services),
        new GetStorageJobHandler(services),
        new StopStorageJobHandler(services),
        new GetStorageSubSystemHandler(services),
        new SetStorageSubSystemHandler(services),
        new UpdateStorageProviderCacheHandler(services),
        new GetStorageFeatureHandler(),
        new GetStorageDiskProfileHandler(),
        new GetStorageCounterHandler(services),
        new TestStoragePowerCutHandler(services),
    ];
}
