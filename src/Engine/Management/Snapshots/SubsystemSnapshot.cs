using TierSpaces.Engine.Formats;
using TierSpaces.Engine.Pools;
using TierSpaces.Engine.Primitives;

namespace TierSpaces.Engine.Management;

// Every object of a subsystem at one moment. Lanes copy small records, and the control lane takes the immutable states of the pools. Statuses, extents and
// sizes are computed from these when they are asked for, outside the lanes.
//
// Invariants
//  1. No verb and no background loop ran between two of its records of the control lane: whatever is computed from those is of one moment. The records of
//     virtual disks on other lanes were taken shortly before.
//  2. It does not change with the subsystem, and decides nothing: a verb that changes something checks its order on the lane against the state then.
//  3. Plans and sizes reserve slabs in the allocators of its own pools, one at a time, and give them back.

/// <summary>Every object of a subsystem at one moment.</summary>
public sealed class SubsystemSnapshot
{
    private readonly Dictionary<PoolId, ManagedPoolSnapshot> _pools;
    private readonly IReadOnlyDictionary<Guid, DiskReliability>? _reliability;
    private readonly Lazy<RegisteredDisks> _disks;
    private readonly Lazy<PhysicalDiskStatus[]> _physicalDisks;
    private readonly Lazy<StoragePoolStatus[]> _poolStatuses;
    private readonly Lazy<VirtualDiskStatus[]> _virtualDisks;
    private readonly Lazy<StorageTierStatus[]> _tiers;

    /// <summary>Gathers what was copied on the lane.</summary>
    /// <param name="nowNs">The moment, on the lane's clock.</param>
    /// <param name="disks">The registered disks.</param>
    /// <param name="pools">The pools.</param>
    /// <param name="jobs">The jobs.</param>
    /// <param name="pastThreshold">Disks that have had too many errors.</param>
    /// <param name="reliability">Reliability counters of the disks; null: they were not gathered.</param>
    internal SubsystemSnapshot(
        long nowNs, RegisteredDiskSnapshot[] disks, ManagedPoolSnapshot[] pools, IReadOnlyList<JobStatus> jobs, IReadOnlySet<Guid> pastThreshold,
        IReadOnlyDictionary<Guid, DiskReliability>? reliability)
    {
        NowNs = nowNs;
        ManagedPools = pools;
        Jobs = jobs;
        PastThreshold = pastThreshold;
        _reliability = reliability;
        _pools = pools.ToDictionary(static pool => pool.Id);
        _disks = new Lazy<RegisteredDisks>(() => new RegisteredDisks(disks, pools));
        _physicalDisks = new Lazy<PhysicalDiskStatus[]>(() => [.. PhysicalDiskStatuses.Of(this)]);
        _poolStatuses = new Lazy<StoragePoolStatus[]>(() => [.. pools.Where(static pool => pool.State?.Pool is not null).Select(PoolStatuses.Of)]);
        _virtualDisks = new Lazy<VirtualDiskStatus[]>(() =>
            [.. pools.SelectMany(pool => pool.Descriptions.Select(disk => VirtualDiskStatuses.Of(this, pool, disk)))]);
        _tiers = new Lazy<StorageTierStatus[]>(() => [.. pools.SelectMany(TierStatuses.TemplatesOf), .. pools.SelectMany(TierStatuses.TiersOf)]);
    }

    /// <summary>Registered disks, then the missing members of open pools.</summary>
    public IReadOnlyList<PhysicalDiskStatus> PhysicalDisks => _physicalDisks.Value;

    /// <summary>Pools: open ones, and those whose members are here without a majority.</summary>
    public IReadOnlyList<StoragePoolStatus> Pools => _poolStatuses.Value;

    /// <summary>
    /// Pools of which members were seen and nothing else is known, because too few of them are here: identity, and the reason why the pool is not open.
    /// </summary>
    public IEnumerable<(Guid UniqueId, string Reason)> UnknownPools =>
        ManagedPools.Where(static pool => pool.State?.Pool is null).Select(static pool => (pool.Id.Value, pool.Reason));

    /// <summary>Virtual disks of every pool that is known.</summary>
    public IReadOnlyList<VirtualDiskStatus> VirtualDisks => _virtualDisks.Value;

    /// <summary>Descriptions of the same virtual disks, which cost nothing to compute.</summary>
    public IEnumerable<VirtualDiskDescription> VirtualDiskDescriptions => ManagedPools.SelectMany(static pool => pool.Descriptions);

    /// <summary>Templates, and tiers of virtual disks.</summary>
    public IReadOnlyList<StorageTierStatus> Tiers => _tiers.Value;

    /// <summary>Jobs at work, and those that ended lately.</summary>
    public IReadOnlyList<JobStatus> Jobs { get; }

    /// <summary>The moment, on the lane's clock.</summary>
    public long NowNs { get; }

    /// <summary>The registered disks.</summary>
    internal RegisteredDisks Disks => _disks.Value;

    /// <summary>The pools that are known.</summary>
    internal IReadOnlyList<ManagedPoolSnapshot> ManagedPools { get; }

    /// <summary>Members that have had too many errors.</summary>
    internal IReadOnlySet<Guid> PastThreshold { get; }

    /// <summary>
    /// Returns the extents of the data of one virtual disk, or of all whose pools are open. Each is made when it is read: there may be millions.
    /// </summary>
    /// <param name="virtualDisk">The virtual disk; null: all.</param>
    /// <param name="physicalDisk">The physical disk that they are on; null: any.</param>
    public IEnumerable<PhysicalExtent> Extents(Guid? virtualDisk = null, Guid? physicalDisk = null) =>
        EachOf(virtualDisk, physicalDisk, static (extents, disk, on) => extents.Of(disk, on));

    /// <summary>Returns where the slices of tiered virtual disks are that have a place, made while they are read.</summary>
    /// <param name="virtualDisk">Identity of the virtual disk; null: of all that have tiers.</param>
    /// <param name="physicalDisk">Identity of the physical disk that they are on; null: of any.</param>
    public IEnumerable<SliceExtent> SliceExtents(Guid? virtualDisk = null, Guid? physicalDisk = null) =>
        EachOf(virtualDisk, physicalDisk, static (extents, disk, on) => disk.IsTiered ? extents.SlicesOf(disk, on) : []);

    private IEnumerable<T> EachOf<T>(Guid? virtualDisk, Guid? physicalDisk, Func<Extents, VirtualDiskDescription, DiskNumber?, IEnumerable<T>> list)
    {
        foreach (ManagedPoolSnapshot managed in ManagedPools)
        {
            DiskNumber? on = physicalDisk is null ? null
                : managed.State?.Disks.Values.FirstOrDefault(disk => disk.Description.Id.Value == physicalDisk)?.Description.Number;
            if (managed.Pool is not { } pool || (physicalDisk is not null && on is null))
            {
                continue;
            }

            Extents extents = new(pool);
            foreach (VirtualDiskDescription disk in managed.Descriptions.Where(disk => virtualDisk is null || disk.Id.Value == virtualDisk))
            {
                foreach (T extent in list(extents, disk, on))
                {
                    yield return extent;
                }
            }
        }
    }

    /// <summary>Returns the reliability counters of a physical disk; zeros when nothing is known of it.</summary>
    /// <exception cref="InvalidOperationException">The snapshot was taken without them.</exception>
    public DiskReliability Reliability(Guid disk) =>
        (_reliability ?? throw new InvalidOperationException("The snapshot has no reliability counters.")).GetValueOrDefault(disk, new DiskReliability());

    /// <summary>Returns the sizes that a new virtual disk of a layout may have.</summary>
    /// <exception cref="ManagementException">The pool is not open, or has no such layout.</exception>
    public SupportedSize SupportedSize(Guid pool, string resiliencySettingName, FaultDomainLevel? awareness = null) =>
        VirtualDiskPlan.SupportedSize(TakeOpen(pool).Pool!, resiliencySettingName, awareness);

    /// <summary>Returns the sizes that a tier of a virtual disk may be given, or that one made of a template may have alone.</summary>
    /// <exception cref="ManagementException">There is no such tier, or its virtual disk is not open.</exception>
    public SupportedSize SupportedTierSize(Guid tier, string? resiliencySettingName) => TierSizes.Of(this, tier, resiliencySettingName);

    /// <summary>Returns the schedule by which the tiers of a pool's virtual disks are optimized.</summary>
    /// <exception cref="ManagementException">The pool is not open.</exception>
    public TierSchedule TierSchedule(Guid pool) => TierScheduleService.Of(TakeOpen(pool).Pool!);

    /// <summary>Returns the pins of a virtual disk, or of all that are open and have tiers.</summary>
    /// <exception cref="ManagementException">The virtual disk is not there, cannot be used, or has no tiers.</exception>
    public IReadOnlyList<PinStatus> Pins(Guid? virtualDisk = null) => virtualDisk is { } id
        ? [.. PinStatuses.Of(this, TakeTiered(id))]
        : [.. ManagedPools.SelectMany(pool => pool.VirtualDisks.Values.Where(static disk => disk.Description.IsTiered)
            .SelectMany(disk => PinStatuses.Of(this, (pool, disk))))];

    /// <summary>Returns the placement of a virtual disk.</summary>
    /// <exception cref="ManagementException">The virtual disk is not open.</exception>
    public VirtualDiskPlacement Placement(Guid virtualDisk)
    {
        (ManagedPoolSnapshot managed, VirtualDiskSnapshot disk) = TakeDisk(virtualDisk);
        VirtualDiskDescription description = disk.Description;
        Extents extents = new(managed.Pool!);
        return new VirtualDiskPlacement(
            description, [.. extents.Of(description)], [.. description.Parts.SelectMany(part => extents.Of(description, part.LogSpace))],
            [.. Find(description.IsCacheElsewhere ? description.CachePool : managed.Id)?.Pool is { } at
                ? new Extents(at).Of(description, description.CacheSpace) : []]);
    }

    /// <summary>Returns a pool; null for one that is not known.</summary>
    internal ManagedPoolSnapshot? Find(PoolId id) => _pools.GetValueOrDefault(id);

    /// <summary>Returns the name of a pool, or its identity where no name is known.</summary>
    internal string NameOf(PoolId id) => Find(id)?.State?.Pool?.FriendlyName ?? id.ToString();

    /// <summary>Names the remote caches in a pool by virtual disk and owner pool.</summary>
    internal IEnumerable<string> Dependents(PoolState cachePool, Func<SpaceState, bool>? which = null) =>
        PoolTable.Dependents(cachePool, id => Find(id)?.State, NameOf, which);

    /// <summary>Returns an open pool.</summary>
    /// <exception cref="ManagementException">It is not known, or not open.</exception>
    internal ManagedPoolSnapshot TakeOpen(Guid id)
    {
        ManagedPoolSnapshot managed = Find(new PoolId(id)) ?? throw Unavailable.UnknownPool(id);
        return managed.Pool is not null ? managed : throw Unavailable.ClosedPool(managed.State, managed.Reason);
    }

    /// <summary>Returns an open virtual disk; it may take no requests.</summary>
    /// <exception cref="ManagementException">It is not known, could not be opened, or its pool is not open.</exception>
    internal (ManagedPoolSnapshot Pool, VirtualDiskSnapshot Disk) TakeDisk(Guid id)
    {
        VirtualDiskId disk = new(id);
        ManagedPoolSnapshot managed = ManagedPools.FirstOrDefault(pool => pool.VirtualDisks.ContainsKey(disk) || pool.State?.VirtualDisk(disk) is not null)
            ?? throw Unavailable.UnknownDisk(id);
        return managed.VirtualDisks.TryGetValue(disk, out VirtualDiskSnapshot? open) ? (managed, open)
            : managed.TryGetUnopened(disk, out string? problem) ? throw Unavailable.UnopenedDisk(managed.State!.VirtualDisk(disk)!, problem)
            : throw Unavailable.DiskOfClosedPool(managed.State!.VirtualDisk(disk)!, managed.Reason);
    }

    /// <summary>Returns a virtual disk that takes requests and has tiers.</summary>
    /// <exception cref="ManagementException">It is not open, takes no requests, or has no tiers.</exception>
    internal (ManagedPoolSnapshot Pool, VirtualDiskSnapshot Disk) TakeTiered(Guid id)
    {
        (ManagedPoolSnapshot managed, VirtualDiskSnapshot disk) = TakeDisk(id);
        return disk.Fault != IoError.None ? throw Unavailable.FailedDisk(disk.Description, disk.FaultReason, disk.CacheState)
            : disk.Description.IsTiered ? (managed, disk) : throw Unavailable.Untiered(disk.Description);
    }

    /// <summary>Returns the status of a virtual disk that a verb has just changed.</summary>
    internal VirtualDiskStatus VirtualDisk(PoolId pool, VirtualDiskId disk) =>
        VirtualDiskStatuses.Of(this, _pools[pool], _pools[pool].State!.VirtualDisk(disk)!);

    /// <summary>Returns the status of a pool that a verb has just changed.</summary>
    internal StoragePoolStatus Pool(PoolId pool) => PoolStatuses.Of(_pools[pool]);
}
