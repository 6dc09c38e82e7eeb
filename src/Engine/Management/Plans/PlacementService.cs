using TierSpaces.Engine.Formats;
using TierSpaces.Engine.Pools;
using TierSpaces.Engine.Primitives;
using TierSpaces.Engine.VirtualDisks;

namespace TierSpaces.Engine.Management;

/// <summary>Placement of a virtual disk that exists, or of one that a plan would create.</summary>
/// <param name="Disk">The virtual disk; one that does not exist yet has the values it would have.</param>
/// <param name="Data">Its data.</param>
/// <param name="Log">Its integrity log.</param>
/// <param name="Cache">Its write cache.</param>
public sealed record VirtualDiskPlacement(VirtualDiskDescription Disk, PhysicalExtent[] Data, PhysicalExtent[] Log, PhysicalExtent[] Cache)
{
    /// <summary>Remarks on the decisions of the plan, for the user.</summary>
    public IReadOnlyList<string> Remarks { get; init; } = [];
}

/// <summary>A tier that a virtual disk would be given.</summary>
/// <param name="Tier">The tier.</param>
/// <param name="Placement">The virtual disk with it, and where it would lie.</param>
public sealed record AddedTierPlacement(TierDescription Tier, VirtualDiskPlacement Placement);

/// <summary>A disk that would be a member of a new pool.</summary>
/// <param name="FriendlyName">Its name.</param>
/// <param name="SizeBytes">Its size.</param>
/// <param name="Slabs">Slabs that virtual disks could have on it.</param>
public sealed record PlannedMember(string FriendlyName, long SizeBytes, long Slabs);

/// <summary>Slab size and members of a pool that a plan would create.</summary>
/// <param name="SlabBytes">Bytes of data in a slab.</param>
/// <param name="Members">Its disks.</param>
public sealed record PoolPlacement(long SlabBytes, PlannedMember[] Members);

// Plans of verbs for -WhatIf. Objects that a verb would refuse are refused on the lane, in the verb queue; there the snapshot is taken from which the plan is
// computed outside, by the code that decides for the verb itself. A plan reserves slabs in the snapshot alone: a verb that follows at once takes the same ones.

/// <summary>Returns the placement of virtual disks that exist or are planned, and the sizes that they may have.</summary>
public sealed class PlacementService
{
    private readonly SubsystemCore _core;
    private readonly VirtualDiskDecisions _decisions;
    private readonly Snapshots _snapshots;

    internal PlacementService(SubsystemCore core, VirtualDiskDecisions decisions, Snapshots snapshots) =>
        (_core, _decisions, _snapshots) = (core, decisions, snapshots);

    /// <summary>Sizes that a new virtual disk of a layout may have.</summary>
    public Task<SupportedSize> SupportedSizeAsync(Guid pool, string resiliencySettingName, FaultDomainLevel? awareness = null) =>
        _core.Verbs.Look(_snapshots.Take, now => now.SupportedSize(pool, resiliencySettingName, awareness));

    /// <summary>Returns the physical extents of virtual disks.</summary>
    public Task<PhysicalExtent[]> ExtentsAsync(Guid? virtualDisk, Guid? physicalDisk) => _core.Verbs.Look(
        _snapshots.Take, now => now.Extents(virtualDisk, physicalDisk).ToArray());

    /// <summary>Returns the placement of a virtual disk.</summary>
    public Task<VirtualDiskPlacement> GetAsync(Guid id) => _core.Verbs.Plan(_snapshots.Take, now => now.Placement(id));

    /// <summary>Returns the placement that <see cref="VirtualDiskService.CreateAsync"/> would choose.</summary>
    public Task<VirtualDiskPlacement> PlanNewAsync(Guid pool, VirtualDiskRequest request) => _core.Verbs.Plan(
        () =>
        {
            (ManagedPool managed, Pool? cachePool) = _decisions.PoolsFor(pool, request);
            Dictionary<PoolId, PoolSnapshot> pools = _core.Pools.Snapshot();
            return (Pool: pools[managed.Id], CachePool: cachePool is null ? null : pools[cachePool.Id]);
        },
        at => PlanNew(at.Pool, at.CachePool, request));

    /// <summary>The rows that <see cref="VirtualDiskService.ResizeAsync"/> would add.</summary>
    public Task<VirtualDiskPlacement> PlanResizeAsync(Guid id, long sizeBytes) => _core.Verbs.Plan(
        () =>
        {
            (ManagedPool managed, ManagedVirtualDisk disk) = _core.Pools.TakeDisk(id);
            return (Pool: _core.Pools.Snapshot()[managed.Id], disk.Description);
        },
        at => at.Description is { IsTiered: true, Tiers: [_] }
            ? TierGrowth.Plan(at.Pool, at.Description, 0, sizeBytes) : PlanResize(at.Pool, at.Description, sizeBytes));

    private static VirtualDiskPlacement PlanNew(PoolSnapshot pool, PoolSnapshot? cachePool, VirtualDiskRequest request)
    {
        VirtualDiskPlan plan = new(pool, request, cachePool);
        VirtualDiskDescription spec = plan.Decide();
        if (!RoomPlans.TryPlan(pool, spec, out VirtualDiskDescription disk, out NewRows rows, out string reason))
        {
            throw new ManagementException(
                ManagementError.NotEnoughCapacity, $"-Size {ByteText.Exact(spec.SizeBytes)} of virtual disk '{spec.FriendlyName}': {reason}",
                "Give a smaller size, or add disks to the pool.");
        }

        Extents extents = new(pool);
        NewRows ring = cachePool is null ? rows : RemoteRows(cachePool, disk);
        return new VirtualDiskPlacement(
            disk, [.. disk.Parts.SelectMany((part, i) => extents.PlaceIn(disk, part, rows.Part(i).Data, 0))],
            [.. rows.Parts.SelectMany(part => extents.PlaceRing(disk, part.Log))],
            (cachePool is null ? extents : new Extents(cachePool)).PlaceRing(disk, ring.Cache)) { Remarks = plan.Remarks };
    }

    private static VirtualDiskPlacement PlanResize(PoolSnapshot pool, VirtualDiskDescription description, long sizeBytes)
    {
        long size = VirtualDiskDecisions.NewSize(pool, description, sizeBytes);
        if (!RoomPlans.TryPlanGrowth(pool, description, size, out List<RowMapping> rows, out string reason))
        {
            throw new ManagementException(
                ManagementError.NotEnoughCapacity, $"-Size {ByteText.Exact(sizeBytes)} of virtual disk '{description.FriendlyName}': {reason}",
                VirtualDiskPlan.DisksToAdd(pool, description, size - description.SizeBytes));
        }

        int first = (int)(description.SizeBytes / VirtualDiskLayout.ShapeOf(pool, description).RowSize);
        return new VirtualDiskPlacement(
            description with { SizeBytes = size }, new Extents(pool).PlaceIn(description, description.Parts[0], rows, first), [], []);
    }

    private static NewRows RemoteRows(PoolSnapshot cachePool, VirtualDiskDescription disk)
    {
        NewRows rows = new();
        bool fits = rows.TryReserveCache(cachePool, disk, disk.WriteCacheSize, out string reason);
        rows.Release(cachePool);
        return fits ? rows : throw new ManagementException(
            ManagementError.NotEnoughCapacity, $"-CachePool '{cachePool.State.Pool!.FriendlyName}' of virtual disk '{disk.FriendlyName}': {reason}",
            "Give a smaller -WriteCacheSize.");
    }
}
