using TierSpaces.Engine.Tiering;
using TierSpaces.Engine.Formats;
using TierSpaces.Engine.Pools;
using TierSpaces.Engine.Primitives;
using TierSpaces.Engine.Resiliency;
using TierSpaces.Engine.VirtualDisks;

namespace TierSpaces.Engine.Management;

/// <summary>Statuses of tier templates and tiers, as functions of a snapshot.</summary>
internal static class TierStatuses
{
    /// <summary>Returns the statuses of the templates of a pool, by name.</summary>
    internal static IEnumerable<StorageTierStatus> TemplatesOf(ManagedPoolSnapshot managed) =>
        (managed.State?.TierTemplates.Values ?? []).Select(template => Of(managed, template))
            .OrderBy(static tier => tier.FriendlyName, StringComparer.OrdinalIgnoreCase);

    /// <summary>Returns the statuses of the tiers of the virtual disks of a pool.</summary>
    internal static IEnumerable<StorageTierStatus> TiersOf(ManagedPoolSnapshot managed) =>
        managed.Descriptions.Where(static disk => disk.IsTiered)
            .SelectMany(disk => Enumerable.Range(0, disk.Tiers.Length).Select(index => Of(managed, disk, index)));

    /// <summary>Returns the status of a template. Settings that the template leaves open have the values that a new virtual disk would get now.</summary>
    internal static StorageTierStatus Of(ManagedPoolSnapshot managed, TierTemplate template)
    {
        PoolDescription pool = managed.State!.Pool!;
        bool isOpen = template.NumberOfDataCopies == 0;
        string layout = isOpen ? pool.ResiliencySettingNameDefault : template.ResiliencySettingName;
        ResiliencyDefaults? setting = pool.ResiliencySettings.FirstOrDefault(setting => FriendlyNames.AreSame(setting.Name, layout));
        return new StorageTierStatus
        {
            UniqueId = template.Id,
            FriendlyName = template.FriendlyName,
            PoolId = managed.Id.Value,
            SlabBytes = pool.Slabs.DataBytes,
            MediaTypeCode = template.MediaTypeCode,
            ResiliencySettingName = layout,
            NumberOfColumns = template.NumberOfColumns,
            NumberOfDataCopies = isOpen ? setting?.NumberOfDataCopiesDefault ?? 1 : template.NumberOfDataCopies,
            PhysicalDiskRedundancy = isOpen ? setting?.PhysicalDiskRedundancyDefault ?? 0 : template.PhysicalDiskRedundancy,
            Interleave = template.Interleave > 0 ? template.Interleave : setting?.InterleaveDefault ?? 0,
            FaultDomainAwareness = template.FaultDomainAwareness,
            ColumnIsolation = template.ColumnIsolation,
            ProvisioningType = template.ProvisioningType ?? pool.ProvisioningTypeDefault,
            Usage = template.Usage,
            Description = template.Description,
        };
    }

    /// <summary>Returns the status of a tier of a virtual disk.</summary>
    internal static StorageTierStatus Of(ManagedPoolSnapshot managed, VirtualDiskDescription disk, int index)
    {
        TierDescription tier = disk.Tiers[index];
        PoolState state = managed.State!;
        long slab = state.Pool!.Slabs.DataBytes;
        SpaceState?[] spaces = [state.Space(tier.DataSpace), state.Space(tier.LogSpace)];
        TierCounters? counters = managed.VirtualDisks.GetValueOrDefault(disk.Id)?.TierCounters.ElementAtOrDefault(tier.Number);
        return new StorageTierStatus
        {
            UniqueId = tier.Id,
            FriendlyName = tier.FriendlyName,
            PoolId = managed.Id.Value,
            VirtualDisk = disk.Id.Value,
            IsFastest = index == 0 && disk.Tiers.Length > 1,
            SizeBytes = tier.SizeBytes,
            AllocatedBytes = (spaces[0]?.MappedRows ?? 0) * tier.RowBytes(slab),
            FootprintBytes = spaces.Sum(static space => (space?.MappedRows ?? 0) * (long)(space?.Description.Positions ?? 0)) * slab,
            MappedBytes = Math.Max(0, state.SliceMap(disk.Id).Mapped(tier.Number) - (counters?.SlicesAhead ?? 0)) * disk.SliceSize,
            Counters = counters,
            SlabBytes = slab,
            MediaTypeCode = tier.MediaTypeCode,
            ResiliencySettingName = tier.ResiliencySettingName,
            NumberOfColumns = tier.NumberOfColumns,
            NumberOfDataCopies = tier.NumberOfDataCopies,
            PhysicalDiskRedundancy = tier.PhysicalDiskRedundancy,
            Interleave = tier.Interleave,
            FaultDomainAwareness = tier.FaultDomainAwareness,
            ColumnIsolation = tier.ColumnIsolation,
            ProvisioningType = disk.ProvisioningType,
            Usage = TierTemplate.UsageData,
            Description = tier.Description,
        };
    }
}
