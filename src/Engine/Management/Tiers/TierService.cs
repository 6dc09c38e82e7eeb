using System.Collections.Immutable;
using TierSpaces.Engine.Formats;
using TierSpaces.Engine.Lanes;
using TierSpaces.Engine.Pools;
using TierSpaces.Engine.Primitives;
using TierSpaces.Engine.VirtualDisks;

namespace TierSpaces.Engine.Management;

// Templates of tiers, which are metadata of a pool, and tiers of virtual disks, which are parts of them: one kind of object to a user.

/// <summary>Verbs of storage tiers.</summary>
public sealed class TierService
{
    private readonly SubsystemCore _core;
    private readonly Snapshots _snapshots;

    internal TierService(SubsystemCore core, Snapshots snapshots) => (_core, _snapshots) = (core, snapshots);

    /// <summary>The storage tiers of every pool that is known: templates, then those of virtual disks.</summary>
    public Task<StorageTierStatus[]> ListAsync() => _core.Verbs.Look(_snapshots.Take, static now => now.Tiers.ToArray());

    /// <summary>Makes a tier template in a pool.</summary>
    /// <exception cref="ManagementException">A parameter is outside its range or the name is taken; nothing was changed.</exception>
    public Task<StorageTierStatus> CreateTemplateAsync(Guid pool, TierTemplateRequest request) => Change(async LaneTask<Guid> () =>
    {
        (ManagedPool managed, TierTemplate template) = NewTemplate(pool, request);
        return await Keep(managed, template);
    });

    /// <summary>Refuses what <see cref="CreateTemplateAsync"/> would refuse.</summary>
    public Task<bool> CheckCreateTemplateAsync(Guid pool, TierTemplateRequest request) => _core.Verbs.Check(() => NewTemplate(pool, request));

    /// <summary>Changes a template, of which virtual disks stay as they are, or name and description of a tier of a virtual disk.</summary>
    /// <exception cref="ManagementException">A parameter is outside its range or the name is taken; nothing was changed.</exception>
    public Task<StorageTierStatus> SetAsync(Guid id, TierTemplateRequest request) => Change(async LaneTask<Guid> () =>
    {
        if (IsTemplate(id))
        {
            (ManagedPool owner, TierTemplate template) = ChangedTemplate(id, request);
            return await Keep(owner, template);
        }

        (ManagedPool managed, ManagedVirtualDisk disk, VirtualDiskDescription changed) = ChangedTier(id, request);
        Commits.Require(await managed.Pool!.Commit(new VirtualDiskChanged(changed)), changed.FriendlyName);
        disk.Redescribe(changed);
        return id;
    });

    /// <summary>Refuses what <see cref="SetAsync"/> would refuse.</summary>
    public Task<bool> CheckSetAsync(Guid id, TierTemplateRequest request) => _core.Verbs.Check(() =>
    {
        _ = IsTemplate(id) ? ChangedTemplate(id, request).Pool : ChangedTier(id, request).Pool;
    });

    /// <summary>Removes a template; virtual disks that were made of it stay as they are.</summary>
    public Task<bool> RemoveTemplateAsync(Guid id) => _core.Verbs.Change(async LaneTask<bool> () =>
    {
        (ManagedPool managed, TierTemplate template) = OpenTemplate(id);
        Commits.Require(await managed.Pool!.Commit(new TierTemplateRemoved(id)), template.FriendlyName);
        return true;
    });

    /// <summary>Refuses what <see cref="RemoveTemplateAsync"/> would refuse.</summary>
    public Task<bool> CheckRemoveTemplateAsync(Guid id) => _core.Verbs.Check(() => OpenTemplate(id));

    /// <summary>Sizes that a tier made of a template may have on a disk without other tiers, or that a tier of a virtual disk may be given.</summary>
    public Task<SupportedSize> SupportedSizeAsync(Guid id, string? resiliencySettingName) =>
        _core.Verbs.Look(_snapshots.Take, now => now.SupportedTierSize(id, resiliencySettingName));

    /// <summary>Makes a tier of a virtual disk larger, and the disk with it.</summary>
    public Task<StorageTierStatus> ResizeAsync(Guid id, long sizeBytes) => Change(async LaneTask<Guid> () =>
    {
        (ManagedPool managed, ManagedVirtualDisk disk, int index) = OpenTier(id);
        await TierGrowth.Grow(managed, disk, index, sizeBytes);
        return id;
    });

    /// <summary>The rows that <see cref="ResizeAsync"/> would add.</summary>
    public Task<VirtualDiskPlacement> PlanResizeAsync(Guid id, long sizeBytes) => _core.Verbs.Plan(
        () =>
        {
            (ManagedPool managed, ManagedVirtualDisk disk, int index) = OpenTier(id);
            return (Pool: _core.Pools.Snapshot()[managed.Id], disk.Description, Index: index);
        },
        at => TierGrowth.Plan(at.Pool, at.Description, at.Index, sizeBytes));

    /// <summary>Gives a virtual disk with tiers one more, and grows it by that.</summary>
    /// <exception cref="ManagementException">The virtual disk cannot have that tier, or the pool has no room for it; nothing was changed.</exception>
    public Task<StorageTierStatus> AddAsync(Guid virtualDisk, TierRequest tier) => Change(async LaneTask<Guid> () =>
    {
        (ManagedPool managed, ManagedVirtualDisk disk, TierDescription spec, ImmutableArray<DiskNumber> disks) = NewTierOf(virtualDisk, tier);
        Commits.Require(await AddedTier.AddTier(managed.Pool!, disk.Opened, spec, disks), spec.FriendlyName);
        VirtualDiskDescription after = await disk.TakeDescription();
        await disk.Call(static open => open.Tiering!.SaveHeat());   // where it is kept depends on the size of the disk
        return after.Tiers[after.RankOf(after.Tiers.Length - 1)].Id;
    });

    /// <summary>The rows that <see cref="AddAsync"/> would add.</summary>
    public Task<AddedTierPlacement> PlanAddAsync(Guid virtualDisk, TierRequest tier) => _core.Verbs.Plan(
        () =>
        {
            (ManagedPool managed, ManagedVirtualDisk disk) = OpenForTier(virtualDisk);
            return (Pool: _core.Pools.Snapshot()[managed.Id], disk.Description);
        },
        at => PlanAdd(at.Pool, at.Description, tier));

    private static AddedTierPlacement PlanAdd(PoolSnapshot pool, VirtualDiskDescription description, TierRequest tier)
    {
        (TierDescription spec, ImmutableArray<DiskNumber> disks) = new AddedTierPlan(pool, description).Decide(tier);
        if (!RoomPlans.TryPlanTier(
            pool, description, spec, disks, out VirtualDiskDescription after, out TierDescription added, out NewPartRows rows, out string reason))
        {
            throw new ManagementException(
                ManagementError.NotEnoughCapacity, $"-Size {ByteText.Exact(tier.SizeBytes)} of storage tier '{added.FriendlyName}': {reason}",
                "Give a smaller size, or add disks.");
        }

        Extents extents = new(pool);
        return new AddedTierPlacement(added, new VirtualDiskPlacement(
            after, extents.PlaceIn(after, added, rows.Data, 0), extents.PlaceRing(after, rows.Log), []));
    }

    /// <summary>Runs a verb that changes a tier or a template, and answers with the status of the moment in which it ended.</summary>
    private Task<StorageTierStatus> Change(Func<LaneTask<Guid>> verb) =>
        _snapshots.Change(verb, static (id, now) => now.Tiers.First(tier => tier.UniqueId == id));

    private (ManagedPool Pool, ManagedVirtualDisk Disk, TierDescription Spec, ImmutableArray<DiskNumber> Disks) NewTierOf(Guid virtualDisk, TierRequest tier)
    {
        (ManagedPool managed, ManagedVirtualDisk disk) = OpenForTier(virtualDisk);
        (TierDescription spec, ImmutableArray<DiskNumber> disks) = new AddedTierPlan(managed.Pool!, disk.Description).Decide(tier);
        return (managed, disk, spec, disks);
    }

    private (ManagedPool Pool, ManagedVirtualDisk Disk) OpenForTier(Guid virtualDisk)
    {
        (ManagedPool managed, ManagedVirtualDisk disk) = _core.Pools.TakeUsable(virtualDisk);
        managed.RequireWritable();
        return (managed, disk);
    }

    private (ManagedPool Pool, TierTemplate Template) NewTemplate(Guid pool, TierTemplateRequest request)
    {
        ManagedPool managed = _core.Pools.TakeOpen(pool);
        managed.RequireWritable();
        return (managed, TierTemplatePlan.Change(managed.Pool!.State, new TierTemplate { Id = _core.Lane.NewGuid(), FriendlyName = "" }, request));
    }

    private (ManagedPool Pool, TierTemplate Template) ChangedTemplate(Guid id, TierTemplateRequest request)
    {
        (ManagedPool managed, TierTemplate template) = OpenTemplate(id);
        return (managed, TierTemplatePlan.Change(managed.Pool!.State, template, request));
    }

    private bool IsTemplate(Guid id) => _core.Pools.All.Any(managed => managed.State?.TierTemplates.ContainsKey(id) == true);

    private (ManagedPool Pool, TierTemplate Template) OpenTemplate(Guid id, bool mustBeWritable = true)
    {
        if (!IsTemplate(id))
        {
            (_, ManagedVirtualDisk disk, int index) = OpenTier(id);
            throw new ManagementException(
                ManagementError.InUse, $"Storage tier '{disk.Description.Tiers[index].FriendlyName}' is a part of virtual disk '{disk.Description.FriendlyName}'.",
                "Remove the virtual disk, or name a template.");
        }

        ManagedPool open = _core.Pools.TakeOpen(_core.Pools.All.First(managed => managed.State?.TierTemplates.ContainsKey(id) == true).Id.Value);
        if (mustBeWritable)
        {
            open.RequireWritable();
        }

        return (open, open.Pool!.State.TierTemplates[id]);
    }

    private (ManagedPool Pool, ManagedVirtualDisk Disk, VirtualDiskDescription Changed) ChangedTier(Guid id, TierTemplateRequest request)
    {
        (ManagedPool managed, ManagedVirtualDisk disk, int index) = OpenTier(id);
        managed.RequireWritable();
        VirtualDiskDescription before = disk.Description;
        return (managed, disk, before with { Tiers = before.Tiers.SetItem(index, TierTemplatePlan.Change(before, before.Tiers[index], request)) });
    }

    private (ManagedPool Pool, ManagedVirtualDisk Disk, int Index) OpenTier(Guid id)
    {
        VirtualDiskDescription? owner = _core.Pools.All.SelectMany(managed => managed.State?.VirtualDisks.Values ?? [])
            .FirstOrDefault(disk => disk.IndexOf(id) >= 0);
        if (owner is null)
        {
            throw !IsTemplate(id) ? Unavailable.UnknownTier(id) : new ManagementException(
                ManagementError.InvalidParameter, $"Storage tier {id:B} is no tier of a virtual disk: it is a template, which has no size.",
                "Look at Get-StorageTier -VirtualDisk.");
        }

        (ManagedPool managed, ManagedVirtualDisk disk) = _core.Pools.TakeDisk(owner.Id.Value);
        return (managed, disk, disk.Description.IndexOf(id));
    }

    private static async LaneTask<Guid> Keep(ManagedPool managed, TierTemplate template)
    {
        Commits.Require(await managed.Pool!.Commit(new TierTemplateSet(template)), template.FriendlyName);
        return template.Id;
    }
}
