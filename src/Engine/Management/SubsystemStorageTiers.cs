using TierSpaces.Engine.Formats;
using TierSpaces.Engine.Pools;
using TierSpaces.Engine.Primitives;

namespace TierSpaces.Engine.Management;

public sealed partial class StorageSubsystem
{
    /// <summary>The storage tiers of every pool that is known.</summary>
    public Task<StorageTierStatus[]> StorageTiersAsync() => Look(() => _pools.Values
        .SelectMany(static managed => (managed.State?.TierTemplates.Values ?? []).Select(template => StatusOf(managed, template)))
        .OrderBy(static tier => tier.FriendlyName, StringComparer.OrdinalIgnoreCase).ToArray());

    /// <summary>Makes a tier template in a pool.</summary>
    /// <exception cref="RefusedException">A parameter is outside its range or the name is taken; nothing was changed.</exception>
    public Task<StorageTierStatus> NewStorageTierAsync(Guid pool, TierTemplateRequest request) => Change(async LaneTask<StorageTierStatus> () =>
    {
        (ManagedPool managed, TierTemplate template) = NewTemplate(pool, request);
        return await Keep(managed, template);
    });

    /// <summary>Refuses what <see cref="NewStorageTierAsync"/> would refuse.</summary>
    public Task<bool> CheckNewStorageTierAsync(Guid pool, TierTemplateRequest request) => Check(() => NewTemplate(pool, request));

    /// <summary>Changes a tier template; virtual disks that were made of it stay as they are.</summary>
    /// <exception cref="RefusedException">A parameter is outside its range or the name is taken; nothing was changed.</exception>
    public Task<StorageTierStatus> SetStorageTierAsync(Guid id, TierTemplateRequest request) => Change(async LaneTask<StorageTierStatus> () =>
    {
        (ManagedPool managed, TierTemplate template) = ChangedTemplate(id, request);
        return await Keep(managed, template);
    });

    /// <summary>Refuses what <see cref="SetStorageTierAsync"/> would refuse.</summary>
    public Task<bool> CheckSetStorageTierAsync(Guid id, TierTemplateRequest request) => Check(() => ChangedTemplate(id, request));

    /// <summary>Removes a tier template; virtual disks that were made of it stay as they are.</summary>
    public Task<bool> RemoveStorageTierAsync(Guid id) => Change(async LaneTask<bool> () =>
    {
        (ManagedPool managed, TierTemplate template) = OpenTemplate(id);
        Require(await managed.Pool!.Commit(new TierTemplateRemoved(id)), template.FriendlyName);
        return true;
    });

    /// <summary>Refuses what <see cref="RemoveStorageTierAsync"/> would refuse.</summary>
    public Task<bool> CheckRemoveStorageTierAsync(Guid id) => Check(() => OpenTemplate(id));

    private (ManagedPool Pool, TierTemplate Template) NewTemplate(Guid pool, TierTemplateRequest request)
    {
        ManagedPool managed = OpenPool(pool);
        RequireWritable(managed);
        return (managed, TierTemplatePlan.Change(managed.Pool!.State, new TierTemplate { Id = _lane.NewGuid(), FriendlyName = "" }, request));
    }

    private (ManagedPool Pool, TierTemplate Template) ChangedTemplate(Guid id, TierTemplateRequest request)
    {
        (ManagedPool managed, TierTemplate template) = OpenTemplate(id);
        return (managed, TierTemplatePlan.Change(managed.Pool!.State, template, request));
    }

    private (ManagedPool Pool, TierTemplate Template) OpenTemplate(Guid id)
    {
        ManagedPool known = _pools.Values.FirstOrDefault(managed => managed.State?.TierTemplates.ContainsKey(id) == true)
            ?? throw new RefusedException(Refusal.ObjectNotFound, $"There is no storage tier {id}.", "Look at Get-StorageTier.");
        ManagedPool open = OpenPool(known.Id.Value);
        RequireWritable(open);
        return (open, open.Pool!.State.TierTemplates[id]);
    }

    private static async LaneTask<StorageTierStatus> Keep(ManagedPool managed, TierTemplate template)
    {
        Require(await managed.Pool!.Commit(new TierTemplateSet(template)), template.FriendlyName);
        return StatusOf(managed, template);
    }

    // What a template leaves open is shown as it would be decided now.
    private static StorageTierStatus StatusOf(ManagedPool managed, TierTemplate template)
    {
        PoolDescription pool = managed.State!.Pool!;
        bool isOpen = template.NumberOfDataCopies == 0;
        string layout = isOpen ? pool.ResiliencySettingNameDefault : template.ResiliencySettingName;
        ResiliencyDefaults? setting = pool.ResiliencySettings.FirstOrDefault(setting => SameName(setting.Name, layout));
        ushort copies = isOpen ? setting?.NumberOfDataCopiesDefault ?? 1 : template.NumberOfDataCopies;
        return new StorageTierStatus
        {
            UniqueId = template.Id,
            FriendlyName = template.FriendlyName,
            PoolId = managed.Id.Value,
            SlabBytes = pool.Slabs.DataBytes,
            MediaTypeCode = template.MediaTypeCode,
            ResiliencySettingName = layout,
            NumberOfColumns = template.NumberOfColumns,
            NumberOfDataCopies = copies,
            PhysicalDiskRedundancy = isOpen ? setting?.PhysicalDiskRedundancyDefault ?? 0 : template.PhysicalDiskRedundancy,
            Interleave = template.Interleave > 0 ? template.Interleave : setting?.InterleaveDefault ?? 0,
            FaultDomainAwareness = template.FaultDomainAwareness,
            ProvisioningType = template.ProvisioningType ?? pool.ProvisioningTypeDefault,
            Usage = template.Usage,
            Description = template.Description,
        };
    }
}
