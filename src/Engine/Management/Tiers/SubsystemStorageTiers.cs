using System.Collections.Immutable;
using TierSpaces.Engine.Formats;
using TierSpaces.Engine.Pools;
using TierSpaces.Engine.Primitives;
using TierSpaces.Engine.VirtualDisks;

namespace TierSpaces.Engine.Management;

// Templates of tiers, which are metadata of a pool, and tiers of virtual disks, which are parts of them: one kind of object to a user.
public sealed partial class StorageSubsystem
{
    /// <summary>The storage tiers of every pool that is known: templates, then those of virtual disks.</summary>
    public Task<StorageTierStatus[]> StorageTiersAsync() => Look(() => _pools.Values.SelectMany(TemplatesOf).Concat(_pools.Values.SelectMany(TiersOf)).ToArray());

    /// <summary>Makes a tier template in a pool.</summary>
    /// <exception cref="RefusedException">A parameter is outside its range or the name is taken; nothing was changed.</exception>
    public Task<StorageTierStatus> NewStorageTierAsync(Guid pool, TierTemplateRequest request) => Change(async LaneTask<StorageTierStatus> () =>
    {
        (ManagedPool managed, TierTemplate template) = NewTemplate(pool, request);
        return await Keep(managed, template);
    });

    /// <summary>Refuses what <see cref="NewStorageTierAsync"/> would refuse.</summary>
    public Task<bool> CheckNewStorageTierAsync(Guid pool, TierTemplateRequest request) => Check(() => NewTemplate(pool, request));

    /// <summary>Changes a template, of which virtual disks stay as they are, or name and description of a tier of a virtual disk.</summary>
    /// <exception cref="RefusedException">A parameter is outside its range or the name is taken; nothing was changed.</exception>
    public Task<StorageTierStatus> SetStorageTierAsync(Guid id, TierTemplateRequest request) => Change(async LaneTask<StorageTierStatus> () =>
    {
        if (IsTemplate(id))
        {
            (ManagedPool owner, TierTemplate template) = ChangedTemplate(id, request);
            return await Keep(owner, template);
        }

        (ManagedPool managed, ManagedVirtualDisk disk, VirtualDiskDescription changed) = ChangedTier(id, request);
        Require(await managed.Pool!.Commit(new VirtualDiskChanged(changed)), changed.FriendlyName);
        disk.Open.Description = changed;
        return StatusOf(managed, changed, IndexOf(changed, id));
    });

    /// <summary>Refuses what <see cref="SetStorageTierAsync"/> would refuse.</summary>
    public Task<bool> CheckSetStorageTierAsync(Guid id, TierTemplateRequest request) => Check(() =>
    {
        _ = IsTemplate(id) ? ChangedTemplate(id, request).Pool : ChangedTier(id, request).Pool;
    });

    /// <summary>Removes a template; virtual disks that were made of it stay as they are.</summary>
    public Task<bool> RemoveStorageTierAsync(Guid id) => Change(async LaneTask<bool> () =>
    {
        (ManagedPool managed, TierTemplate template) = OpenTemplate(id);
        Require(await managed.Pool!.Commit(new TierTemplateRemoved(id)), template.FriendlyName);
        return true;
    });

    /// <summary>Refuses what <see cref="RemoveStorageTierAsync"/> would refuse.</summary>
    public Task<bool> CheckRemoveStorageTierAsync(Guid id) => Check(() => OpenTemplate(id));

    /// <summary>Sizes that a tier made of a template may have on a disk without other tiers, or that a tier of a virtual disk may be given.</summary>
    public Task<SupportedSize> StorageTierSupportedSizeAsync(Guid id, string? resiliencySettingName) => Look(() =>
    {
        if (IsTemplate(id))
        {
            (ManagedPool owner, TierTemplate template) = OpenTemplate(id, mustBeWritable: false);
            return VirtualDiskPlan.SupportedSize(owner.Pool!, template, resiliencySettingName);
        }

        (ManagedPool managed, ManagedVirtualDisk disk, int index) = OpenTier(id);
        VirtualDiskDescription description = disk.Open.Description;
        TierDescription tier = description.Tiers[index];
        return SameName(resiliencySettingName ?? tier.ResiliencySettingName, tier.ResiliencySettingName)
            ? new SupportedSize(tier.SizeBytes, RoomPlans.LargestTierSize(managed.Pool!, description, index), description.SliceSize)
            : throw new RefusedException(
                Refusal.InvalidParameter, $"-ResiliencySettingName '{resiliencySettingName}': storage tier '{tier.FriendlyName}' is {tier.ResiliencySettingName} and stays so.");
    });

    /// <summary>Makes a tier of a virtual disk larger, and the disk with it.</summary>
    public Task<StorageTierStatus> ResizeStorageTierAsync(Guid id, long sizeBytes) => Change(async LaneTask<StorageTierStatus> () =>
    {
        (ManagedPool managed, ManagedVirtualDisk disk, int index) = OpenTier(id);
        long size = NewTierSize(managed.Pool!, disk.Open.Description, index, sizeBytes);
        if (size > disk.Open.Description.Tiers[index].SizeBytes)
        {
            Require(await VirtualDiskGrowth.GrowTier(managed.Pool!, disk.Open, index, size), disk.Open.Description.Tiers[index].FriendlyName);
        }

        return StatusOf(managed, managed.State!.VirtualDisk(disk.Open.Description.Id)!, index);
    });

    /// <summary>The rows that <see cref="ResizeStorageTierAsync"/> would add.</summary>
    public Task<VirtualDiskPlacement> PlanResizeStorageTierAsync(Guid id, long sizeBytes) => Plan(() =>
    {
        (ManagedPool managed, ManagedVirtualDisk disk, int index) = OpenTier(id);
        VirtualDiskDescription description = disk.Open.Description;
        long size = NewTierSize(managed.Pool!, description, index, sizeBytes);
        if (!RoomPlans.TryPlanTierGrowth(managed.Pool!, description, index, size, out VirtualDiskDescription after, out List<RowMapping> rows, out string reason))
        {
            throw new RefusedException(Refusal.NotEnoughCapacity, $"-Size {sizeBytes} of storage tier '{after.Tiers[index].FriendlyName}': {reason}", "Give a smaller size, or add disks.");
        }

        int first = (int)(description.Tiers[index].SpaceBytes / VirtualDiskLayout.ShapeOf(managed.Pool!, description, description.Tiers[index]).RowSize);
        return new VirtualDiskPlacement(after, PlaceIn(managed.Pool!, after, after.Tiers[index], rows, first), [], []);
    });

    /// <summary>Gives a virtual disk with tiers one more, and grows it by that.</summary>
    /// <exception cref="RefusedException">The virtual disk cannot have that tier, or the pool has no room for it; nothing was changed.</exception>
    public Task<StorageTierStatus> AddStorageTierAsync(Guid virtualDisk, TierRequest tier) => Change(async LaneTask<StorageTierStatus> () =>
    {
        (ManagedPool managed, ManagedVirtualDisk disk, NewTierSpec spec, ImmutableArray<DiskNumber> disks) = NewTierOf(virtualDisk, tier);
        Require(await AddedTier.AddTier(managed.Pool!, disk.Open, spec, disks), spec.FriendlyName);
        await disk.Open.Tiering!.SaveHeat();   // where it is kept depends on the size of the disk
        VirtualDiskDescription after = disk.Open.Description;
        return StatusOf(managed, after, after.RankOf(after.Tiers.Length - 1));
    });

    /// <summary>The rows that <see cref="AddStorageTierAsync"/> would add.</summary>
    public Task<AddedTierPlacement> PlanAddStorageTierAsync(Guid virtualDisk, TierRequest tier) => Plan(() =>
    {
        (ManagedPool managed, ManagedVirtualDisk disk, NewTierSpec spec, ImmutableArray<DiskNumber> disks) = NewTierOf(virtualDisk, tier);
        if (!RoomPlans.TryPlanTier(
            managed.Pool!, disk.Open.Description, spec, disks, out VirtualDiskDescription after, out TierDescription added, out NewPartRows rows, out string reason))
        {
            throw new RefusedException(Refusal.NotEnoughCapacity, $"-Size {tier.SizeBytes} of storage tier '{added.FriendlyName}': {reason}", "Give a smaller size, or add disks.");
        }

        return new AddedTierPlacement(added, new VirtualDiskPlacement(
            after, PlaceIn(managed.Pool!, after, added, rows.Data, 0),
            Place(managed.Pool!, after, rows.Log, 0, rows.Log.Count > 0 ? rows.Log[0].Sources.Length : 1), []));
    });

    private (ManagedPool Pool, ManagedVirtualDisk Disk, NewTierSpec Spec, ImmutableArray<DiskNumber> Disks) NewTierOf(Guid virtualDisk, TierRequest tier)
    {
        (ManagedPool managed, ManagedVirtualDisk disk) = TakeUsable(virtualDisk);
        RequireWritable(managed);
        (NewTierSpec spec, ImmutableArray<DiskNumber> disks) = new AddedTierPlan(managed.Pool!, disk.Open.Description).Decide(tier);
        return (managed, disk, spec, disks);
    }

    private static long NewTierSize(Pool pool, VirtualDiskDescription disk, int index, long sizeBytes)
    {
        TierDescription tier = disk.Tiers[index];
        long size = VirtualDiskPlan.RoundUp(sizeBytes, disk.SliceSize, "Size");
        if (size < tier.SizeBytes)
        {
            throw new RefusedException(
                Refusal.SizeNotSupported, $"-Size {sizeBytes} is smaller than storage tier '{tier.FriendlyName}' ({tier.SizeBytes} bytes).", "A tier is not made smaller.");
        }

        long most = disk.ProvisioningType == ProvisioningType.Fixed ? RoomPlans.LargestTierSize(pool, disk, index) : long.MaxValue;
        return size == tier.SizeBytes || size <= most ? size : throw new RefusedException(
            Refusal.NotEnoughCapacity,
            $"-Size {sizeBytes} of storage tier '{tier.FriendlyName}' is more than storage pool '{pool.State.Pool!.FriendlyName}' has room for: at most {Math.Max(most, tier.SizeBytes)} bytes.",
            "Give a smaller size, or add disks of its medium.");
    }

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

    private bool IsTemplate(Guid id) => _pools.Values.Any(managed => managed.State?.TierTemplates.ContainsKey(id) == true);

    private (ManagedPool Pool, TierTemplate Template) OpenTemplate(Guid id, bool mustBeWritable = true)
    {
        if (!IsTemplate(id))
        {
            (_, ManagedVirtualDisk disk, int index) = OpenTier(id);
            throw new RefusedException(
                Refusal.InUse, $"Storage tier '{disk.Open.Description.Tiers[index].FriendlyName}' is a part of virtual disk '{disk.Open.Description.FriendlyName}'.",
                "Remove the virtual disk, or name a template.");
        }

        ManagedPool open = OpenPool(_pools.Values.First(managed => managed.State?.TierTemplates.ContainsKey(id) == true).Id.Value);
        if (mustBeWritable)
        {
            RequireWritable(open);
        }

        return (open, open.Pool!.State.TierTemplates[id]);
    }

    private (ManagedPool Pool, ManagedVirtualDisk Disk, VirtualDiskDescription Changed) ChangedTier(Guid id, TierTemplateRequest request)
    {
        (ManagedPool managed, ManagedVirtualDisk disk, int index) = OpenTier(id);
        RequireWritable(managed);
        VirtualDiskDescription before = disk.Open.Description;
        return (managed, disk, before with { Tiers = before.Tiers.SetItem(index, TierTemplatePlan.Change(before, before.Tiers[index], request)) });
    }

    private (ManagedPool Pool, ManagedVirtualDisk Disk, int Index) OpenTier(Guid id)
    {
        VirtualDiskDescription? owner = _pools.Values.SelectMany(managed => managed.State?.VirtualDisks.Values ?? []).FirstOrDefault(disk => IndexOf(disk, id) >= 0);
        if (owner is null)
        {
            string hint = IsTemplate(id) ? "it is a template, which has no size" : "it is not there";
            throw new RefusedException(
                IsTemplate(id) ? Refusal.InvalidParameter : Refusal.ObjectNotFound, $"Storage tier {id:B} is no tier of a virtual disk: {hint}.", "Look at Get-StorageTier -VirtualDisk.");
        }

        (ManagedPool managed, ManagedVirtualDisk disk) = OpenDisk(owner.Id.Value);
        return (managed, disk, IndexOf(disk.Open.Description, id));
    }

    private static int IndexOf(VirtualDiskDescription disk, Guid tier) => disk.IsTiered ? disk.Tiers.ToList().FindIndex(one => one.Id == tier) : -1;

    private static async LaneTask<StorageTierStatus> Keep(ManagedPool managed, TierTemplate template)
    {
        Require(await managed.Pool!.Commit(new TierTemplateSet(template)), template.FriendlyName);
        return StatusOf(managed, template);
    }

    private static IEnumerable<StorageTierStatus> TemplatesOf(ManagedPool managed) =>
        (managed.State?.TierTemplates.Values ?? []).Select(template => StatusOf(managed, template)).OrderBy(static tier => tier.FriendlyName, StringComparer.OrdinalIgnoreCase);

    private static IEnumerable<StorageTierStatus> TiersOf(ManagedPool managed) =>
        (managed.State?.VirtualDisks.Values ?? []).Where(static disk => disk is { IsBeingCreated: false, IsTiered: true })
            .SelectMany(disk => Enumerable.Range(0, disk.Tiers.Length).Select(index => StatusOf(managed, disk, index)));

    // What a template leaves open is shown as it would be decided now.
    private static StorageTierStatus StatusOf(ManagedPool managed, TierTemplate template)
    {
        PoolDescription pool = managed.State!.Pool!;
        bool isOpen = template.NumberOfDataCopies == 0;
        string layout = isOpen ? pool.ResiliencySettingNameDefault : template.ResiliencySettingName;
        ResiliencyDefaults? setting = pool.ResiliencySettings.FirstOrDefault(setting => SameName(setting.Name, layout));
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
            ProvisioningType = template.ProvisioningType ?? pool.ProvisioningTypeDefault,
            Usage = template.Usage,
            Description = template.Description,
        };
    }

    private static StorageTierStatus StatusOf(ManagedPool managed, VirtualDiskDescription disk, int index)
    {
        TierDescription tier = disk.Tiers[index];
        PoolState state = managed.State!;
        long slab = state.Pool!.Slabs.DataBytes;
        SpaceState?[] spaces = [state.Space(tier.DataSpace), state.Space(tier.LogSpace)];
        return new StorageTierStatus
        {
            UniqueId = tier.Id,
            FriendlyName = tier.FriendlyName,
            PoolId = managed.Id.Value,
            VirtualDisk = disk.Id.Value,
            IsFastest = index == 0 && disk.Tiers.Length > 1,
            SizeBytes = tier.SizeBytes,
            AllocatedBytes = (spaces[0]?.MappedRows ?? 0) * tier.NumberOfColumns * slab,
            FootprintBytes = spaces.Sum(static space => (space?.MappedRows ?? 0) * (long)(space?.Description.Positions ?? 0)) * slab,
            MappedBytes = state.SliceMap(disk.Id).Mapped(tier.Number) * (long)disk.SliceSize,
            Counters = managed.VirtualDisks.GetValueOrDefault(disk.Id)?.Open.Tiers?.CountersOf(tier.Number),
            SlabBytes = slab,
            MediaTypeCode = tier.MediaTypeCode,
            ResiliencySettingName = tier.ResiliencySettingName,
            NumberOfColumns = tier.NumberOfColumns,
            NumberOfDataCopies = tier.NumberOfDataCopies,
            PhysicalDiskRedundancy = tier.PhysicalDiskRedundancy,
            Interleave = tier.Interleave,
            FaultDomainAwareness = tier.FaultDomainAwareness,
            ProvisioningType = disk.ProvisioningType,
            Usage = TierTemplate.UsageData,
            Description = tier.Description,
        };
    }
}
