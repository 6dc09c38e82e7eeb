using TierSpaces.Contracts;
using TierSpaces.Engine.Formats;
using TierSpaces.Engine.Management;
using TierSpaces.Engine.Pools;

namespace TierSpaces.Host.Verbs.Mapping;

/// <summary>A pool of the engine, and the primordial pool, as the objects users see.</summary>
internal static class StoragePoolMapping
{
    private static readonly string[] s_provisioningTypes =
        DisplayName.Of([Contracts.ProvisioningType.Thin, Contracts.ProvisioningType.Fixed]);

    /// <summary>Maps one.</summary>
    public static StoragePoolInfo ToInfo(this StoragePoolStatus pool)
    {
        string uniqueId = Identifiers.OfPoolOrDisk(pool.UniqueId);
        PoolDescription settings = pool.Description;
        bool readOnly = settings.IsReadOnly || pool.OperationalStatus == PoolOperationalStatus.ReadOnly;
        return new StoragePoolInfo
        {
            FriendlyName = settings.FriendlyName,
            Name = settings.FriendlyName,
            UniqueId = uniqueId,
            ObjectId = Identifiers.ObjectId("MSFT_StoragePool", uniqueId),
            Usage = DisplayName.Of(StoragePoolUsage.Other),
            IsPrimordial = false,
            HealthStatus = DisplayName.Of((Contracts.HealthStatus)pool.Health),
            OperationalStatus = [StatusOf(pool.OperationalStatus)],
            OtherOperationalStatusDescription = pool.StatusReason.Length > 0 ? pool.StatusReason : null,
            Size = (ulong)pool.SizeBytes,
            AllocatedSize = (ulong)pool.AllocatedBytes,
            LogicalSectorSize = (ulong)pool.LogicalSectorSize,
            PhysicalSectorSize = (ulong)pool.PhysicalSectorSize,
            ProvisioningTypeDefault = DisplayName.Of((Contracts.ProvisioningType)settings.ProvisioningTypeDefault),
            SupportedProvisioningTypes = s_provisioningTypes,
            ResiliencySettingNameDefault = settings.ResiliencySettingNameDefault,
            IsReadOnly = readOnly,
            ReadOnlyReason = DisplayName.Of(ReadOnlyReasonOf(pool, readOnly)),
            IsClustered = false,
            SupportsDeduplication = false,
            ThinProvisioningAlertThresholds = [settings.ThinProvisioningAlertThreshold],
            ClearOnDeallocate = false,
            ScrubIntervalDays = pool.ScrubInterval?.TotalDays,
            MetadataPagesUsed = (ulong?)pool.MetadataPages?.Used,
            MetadataPages = (ulong?)pool.MetadataPages?.Most,
            FormatVersion = pool.IsOpen ? settings.FormatVersion : null,
            LentWriteCacheSize = (ulong)pool.RemoteCacheBytes,
            LentWriteCacheSizeMax = settings.LentWriteCacheSizeMax,
            IsPowerProtected = settings.IsPowerProtected,
            RepairPolicy = DisplayName.Of(settings.RepairsInTurn ? RepairPolicy.Sequential : RepairPolicy.Parallel),
            EnclosureAwareDefault = settings.EnclosureAwareDefault,
            FaultDomainAwarenessDefault = DisplayName.Of((FaultDomainType)settings.FaultDomainAwarenessDefault),
            RetireMissingPhysicalDisks = DisplayName.Of((Contracts.RetireMissingPhysicalDisks)settings.RetireMissingPhysicalDisks),
            WriteCacheSizeDefault = settings.WriteCacheSizeDefault,
            WriteCacheSizeMin = 0,
            WriteCacheSizeMax = (ulong)pool.WriteCacheSizeMax,
            MediaTypeDefault = DisplayName.Of(MediaType.Unspecified),
            MinimumAllocationSize = (ulong)settings.Slabs.DataBytes,
        };
    }

    /// <summary>The pool of everything that is registered; it cannot be changed.</summary>
    public static StoragePoolInfo Primordial(IReadOnlyCollection<PhysicalDiskStatus> disks) => new()
    {
        FriendlyName = StoragePoolTarget.PrimordialName,
        Name = StoragePoolTarget.PrimordialName,
        UniqueId = Identifiers.OfPoolOrDisk(Guid.Empty),
        ObjectId = Identifiers.ObjectId("MSFT_StoragePool", Identifiers.OfPoolOrDisk(Guid.Empty)),
        Usage = DisplayName.Of(StoragePoolUsage.Other),
        IsPrimordial = true,
        HealthStatus = DisplayName.Of(Contracts.HealthStatus.Healthy),
        OperationalStatus = [DisplayName.Of(OperationalStatus.OK)],
        Size = (ulong)disks.Sum(disk => disk.SizeBytes),
        AllocatedSize = (ulong)disks.Where(disk => disk.PoolId is not null).Sum(disk => disk.SizeBytes),
        SupportedProvisioningTypes = s_provisioningTypes,
        ReadOnlyReason = DisplayName.Of(ReadOnlyReason.None),
    };

    private static string StatusOf(PoolOperationalStatus status) => status switch
    {
        PoolOperationalStatus.ReadOnly => "Read-only",
        PoolOperationalStatus.InService => DisplayName.Of(OperationalStatus.InService),
        _ => status.ToString(),
    };

    private static ReadOnlyReason ReadOnlyReasonOf(StoragePoolStatus pool, bool readOnly) =>
        !readOnly ? ReadOnlyReason.None
        : pool.OperationalStatus == PoolOperationalStatus.Incomplete ? ReadOnlyReason.MajorityDisksUnhealthy
        : ReadOnlyReason.ByPolicy;
}
