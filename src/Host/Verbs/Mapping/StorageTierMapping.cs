using TierSpaces.Contracts;
using TierSpaces.Engine.Management;
using TierSpaces.Engine.Pools;

namespace TierSpaces.Host.Verbs.Mapping;

/// <summary>A storage tier of the engine as the object users see.</summary>
internal static class StorageTierMapping
{
    /// <summary>Maps one.</summary>
    public static StorageTierInfo ToInfo(this StorageTierStatus tier)
    {
        string uniqueId = Identifiers.OfPoolOrDisk(tier.UniqueId);
        return new StorageTierInfo
        {
            FriendlyName = tier.FriendlyName,
            UniqueId = uniqueId,
            ObjectId = Identifiers.ObjectId("MSFT_StorageTier", uniqueId),
            TierClass = DisplayName.Of(ClassOf(tier)),
            MediaType = DisplayName.Of(MediaCode.Of(tier.MediaTypeCode).ToContract()),
            Size = (ulong)tier.SizeBytes,
            AllocatedSize = (ulong)tier.AllocatedBytes,
            FootprintOnPool = (ulong)tier.FootprintBytes,
            ResiliencySettingName = tier.ResiliencySettingName,
            NumberOfColumns = tier.NumberOfColumns > 0 ? (ushort)tier.NumberOfColumns : null,
            NumberOfDataCopies = (ushort)tier.NumberOfDataCopies,
            PhysicalDiskRedundancy = (ushort)tier.PhysicalDiskRedundancy,
            NumberOfGroups = 1,
            ParityLayout = tier.ResiliencySettingName == Engine.Formats.TierDescription.ParityName ? DisplayName.Of(ParityLayout.RotatedParity) : null,
            Interleave = (ulong)tier.Interleave,
            ProvisioningType = DisplayName.Of((ProvisioningType)tier.ProvisioningType),
            AllocationUnitSize = (ulong)tier.SlabBytes,
            FaultDomainAwareness = DisplayName.Of((FaultDomainType)tier.FaultDomainAwareness),
            ColumnIsolation = DisplayName.Of((FaultDomainType)tier.ColumnIsolation),
            Usage = DisplayName.Of((StorageTierUsage)tier.Usage),
            Description = tier.Description,
            StoragePoolUniqueId = Identifiers.OfPoolOrDisk(tier.PoolId),
            VirtualDiskUniqueId = tier.VirtualDisk is { } disk ? Identifiers.OfVirtualDisk(disk) : null,
            MappedSize = tier.IsTemplate ? null : (ulong)tier.MappedBytes,
            FreeSize = tier.IsTemplate ? null : (ulong)tier.FreeBytes,
        };
    }

    // A template has no part in a virtual disk; of the tiers of one the fastest is for performance, when there are others.
    private static StorageTierClass ClassOf(StorageTierStatus tier) =>
        tier.IsTemplate ? StorageTierClass.Unknown : tier.IsFastest ? StorageTierClass.Performance : StorageTierClass.Capacity;
}
