using TierSpaces.Engine.Caching;
using TierSpaces.Engine.Devices;
using TierSpaces.Engine.Devices.Emulated;
using TierSpaces.Engine.Formats;
using TierSpaces.Engine.Pools;
using TierSpaces.Engine.Primitives;
using TierSpaces.Engine.Resiliency.Layouts;
using TierSpaces.Engine.VirtualDisks;

namespace TierSpaces.Engine.Management;

/// <summary>Where a virtual disk is, or would be placed.</summary>
/// <param name="Disk">The virtual disk; one that does not exist yet has the values it would have.</param>
/// <param name="Data">Its data.</param>
/// <param name="Log">Its integrity log.</param>
/// <param name="Cache">Its write cache.</param>
public sealed record VirtualDiskPlacement(VirtualDiskDescription Disk, PhysicalExtent[] Data, PhysicalExtent[] Log, PhysicalExtent[] Cache)
{
    /// <summary>What a user should know about what would be decided.</summary>
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

/// <summary>What a new pool would be.</summary>
/// <param name="SlabBytes">Bytes of data in a slab.</param>
/// <param name="Members">Its disks.</param>
public sealed record PoolPlacement(long SlabBytes, PlannedMember[] Members);

/// <summary>Slabs that a repair would make anew.</summary>
/// <param name="From">The disk that they are on.</param>
/// <param name="To">The disk that they would be on; null where there is no room for them.</param>
/// <param name="Slabs">How many.</param>
/// <param name="IsLog">Whether they are of the integrity log.</param>
public sealed record PlannedMoves(string From, string? To, int Slabs, bool IsLog);

/// <summary>What a repair would do.</summary>
/// <param name="BytesToResync">Bytes of copies that are behind.</param>
/// <param name="SlabBytes">Bytes of data in a slab.</param>
/// <param name="Moves">Slabs that leave their disks.</param>
public sealed record RepairPlacement(long BytesToResync, long SlabBytes, PlannedMoves[] Moves);

// What verbs would do. A plan is made by the code that decides for the verb itself, in turn with the verbs, and refused for the same reasons;
// slabs are reserved for a moment and given back, so that a verb that follows at once takes the same ones.
public sealed partial class StorageSubsystem
{
    /// <summary>What <see cref="NewVirtualDiskAsync"/> would make.</summary>
    public Task<VirtualDiskPlacement> PlanVirtualDiskAsync(Guid pool, VirtualDiskRequest request) => Plan(() =>
    {
        (ManagedPool managed, NewVirtualDiskSpec spec, IReadOnlyList<string> remarks) = Decide(pool, request);
        if (!RoomPlans.TryPlan(managed.Pool!, spec, out VirtualDiskDescription disk, out NewRows rows, out string reason))
        {
            throw new RefusedException(Refusal.NotEnoughCapacity, $"-Size {spec.SizeBytes} of virtual disk '{spec.FriendlyName}': {reason}", "Give a smaller size, or add disks to the pool.");
        }

        Pool at = FindPool(spec.CachePool) ?? managed.Pool!;
        NewRows ring = at == managed.Pool ? rows : LentRows(at, disk);
        return new VirtualDiskPlacement(
            disk, [.. disk.Parts.SelectMany((part, i) => PlaceIn(managed.Pool!, disk, part, rows.Part(i).Data, 0))],
            [.. rows.Parts.SelectMany(part => Place(managed.Pool!, disk, part.Log, 0, part.Log.Count > 0 ? part.Log[0].Sources.Length : 1))],
            Place(at, disk, ring.Cache, 0, disk.CacheCopies)) { Remarks = remarks };
    });

    private static NewRows LentRows(Pool lender, VirtualDiskDescription disk)
    {
        NewRows rows = new();
        bool fits = rows.TryReserveCache(lender, disk.CacheCopies, disk.WriteCacheSize, out string reason);
        rows.Release(lender);
        return fits ? rows : throw new RefusedException(
            Refusal.NotEnoughCapacity, $"-CachePool '{lender.State.Pool!.FriendlyName}' of virtual disk '{disk.FriendlyName}': {reason}", "Give a smaller -WriteCacheSize.");
    }

    /// <summary>The rows that <see cref="ResizeVirtualDiskAsync"/> would add.</summary>
    public Task<VirtualDiskPlacement> PlanResizeAsync(Guid id, long sizeBytes) => Plan(() =>
    {
        (ManagedPool managed, ManagedVirtualDisk disk) = OpenDisk(id);
        VirtualDiskDescription description = disk.Open.Description;
        long size = NewSize(managed.Pool!, description, sizeBytes);
        if (!RoomPlans.TryPlanGrowth(managed.Pool!, description, size, out List<RowMapping> rows, out string reason))
        {
            throw new RefusedException(
                Refusal.NotEnoughCapacity, $"-Size {sizeBytes} of virtual disk '{description.FriendlyName}': {reason}",
                VirtualDiskPlan.DisksToAdd(managed.Pool!, description, size - description.SizeBytes));
        }

        int first = (int)(description.SizeBytes / VirtualDiskLayout.ShapeOf(managed.Pool!, description).RowSize);
        return new VirtualDiskPlacement(
            description with { SizeBytes = size }, Place(managed.Pool!, description, rows, first, description.NumberOfDataCopies), [], []);
    });

    /// <summary>Where a virtual disk is.</summary>
    public Task<VirtualDiskPlacement> PlacementAsync(Guid id) => Plan(() =>
    {
        (ManagedPool managed, ManagedVirtualDisk disk) = OpenDisk(id);
        VirtualDiskDescription description = disk.Open.Description;
        return new VirtualDiskPlacement(
            description, [.. ExtentsOf(managed.Pool!, description)], [.. description.Parts.SelectMany(part => ExtentsOf(managed.Pool!, description, part.LogSpace))],
            [.. FindPool(description.IsCacheElsewhere ? description.CachePool : managed.Id) is { } at ? ExtentsOf(at, description, description.CacheSpace) : []]);
    });

    /// <summary>What <see cref="NewPoolAsync"/> would make.</summary>
    public Task<PoolPlacement> PlanPoolAsync(string friendlyName, IReadOnlyList<Guid> disks) => Plan(() =>
    {
        RequirePoolName(friendlyName);
        List<RegisteredDisk> members = TakePoolable(disks);
        SlabGeometry slabs = SlabGeometry.ForSmallestDisk(members.Min(disk => disk.Disk!.Geometry.Length));
        PlannedMember[] planned = [.. members.Select(disk => Member(disk, slabs))];
        string reason = Pool.WhyNoPages(Environment(), new NewPoolSpec { FriendlyName = friendlyName }, [.. members.Select(disk => NewMember(disk, DiskUsage.AutoSelect))]);
        return reason.Length == 0 ? new PoolPlacement(slabs.DataBytes, planned) : throw new RefusedException(Refusal.Failed, reason);
    });

    /// <summary>Refuses what <see cref="RemovePoolAsync"/> would refuse.</summary>
    public Task<bool> CheckRemovePoolAsync(Guid id) => Check(() =>
    {
        RequireEmpty(OpenPool(id));
        RequireNotLending(OpenPool(id));
    });

    /// <summary>Refuses what <see cref="SetPoolAsync"/> would refuse.</summary>
    public Task<bool> CheckSetPoolAsync(Guid id, Func<PoolDescription, PoolDescription> change) => Check(() => Changed(id, change));

    /// <summary>Refuses what <see cref="OptimizePoolAsync"/> would refuse.</summary>
    public Task<bool> CheckOptimizePoolAsync(Guid id) => Check(() => RequireWritable(OpenPool(id)));

    /// <summary>Refuses what <see cref="SetVirtualDiskAsync"/> would refuse.</summary>
    public Task<bool> CheckSetVirtualDiskAsync(Guid id, Func<VirtualDiskDescription, VirtualDiskDescription> change) => Check(() => Changed(id, change));

    /// <summary>Refuses what <see cref="ConnectVirtualDiskAsync"/> would refuse, but for a socket that turns out to be taken.</summary>
    public Task<bool> CheckConnectVirtualDiskAsync(Guid id, bool force = false) => Check(() =>
        RequireOnlyOfItsName(force && OpenDisk(id).Disk is { Open.Cache.IsGone: true } lost ? lost : TakeUsable(id).Disk));

    /// <summary>Refuses what <see cref="StopJobAsync"/> would refuse.</summary>
    public Task<bool> CheckStopJobAsync(Guid id) => Check(() => TakeRunning(id));

    /// <summary>Refuses what <see cref="NewPhysicalDiskAsync"/> would refuse, but for a file system that turns out to be full.</summary>
    public Task<bool> CheckNewPhysicalDiskAsync(RegistrationSpec spec, long size) => Check(() =>
    {
        CheckRegistration(spec);
        CheckImageSize(size);
        if (DiskImage.WhyNotCreated(spec.Path, size) is { } why)
        {
            throw new RefusedException(RefusalOf(why), $"-Path '{spec.Path}': {why.Message}");
        }
    });

    /// <summary>Refuses what <see cref="RegisterPhysicalDiskAsync"/> would refuse: the disk is opened for a moment.</summary>
    public Task<bool> CheckRegisterPhysicalDiskAsync(RegistrationSpec spec) => Change(async LaneTask<bool> () =>
    {
        CheckRegistration(spec);
        RegisteredDisk disk = NewRegistration(spec);
        await OpenRegistered(disk, mustOpen: true);
        await disk.Disk!.Close();
        return true;
    });

    /// <summary>Refuses what <see cref="UnregisterPhysicalDiskAsync"/> would refuse.</summary>
    public Task<bool> CheckUnregisterPhysicalDiskAsync(Guid id) => Check(() => TakeUnpooled(id));

    /// <summary>Refuses what <see cref="SetPhysicalDiskAsync"/> would refuse.</summary>
    public Task<bool> CheckSetPhysicalDiskAsync(Guid id, string? name, DiskUsage? usage) => Check(() => TakeChangeable(id, name, usage));

    /// <summary>Refuses what <see cref="AddPhysicalDisksAsync"/> would refuse.</summary>
    public Task<bool> CheckAddPhysicalDisksAsync(Guid pool, IReadOnlyList<Guid> disks) => Check(() =>
    {
        ManagedPool managed = OpenPool(pool);
        string reason = managed.Pool!.WhyNotAdd([.. TakePoolable(disks).Select(disk => NewMember(disk, DiskUsage.AutoSelect))]);
        Require(reason.Length == 0 ? CommitResult.Committed : new CommitResult(CommitStatus.Refused, reason), managed.Pool.State.Pool!.FriendlyName);
    });

    /// <summary>Refuses what <see cref="RemovePhysicalDisksAsync"/> would refuse.</summary>
    public Task<bool> CheckRemovePhysicalDisksAsync(Guid pool, IReadOnlyList<Guid> disks) => Check(() => TakeRemovable(OpenPool(pool), disks));

    /// <summary>Refuses what <see cref="ResetPhysicalDiskAsync"/> would refuse.</summary>
    public Task<bool> CheckResetPhysicalDiskAsync(Guid id) => Check(() => TakeErasable(id));

    /// <summary>Refuses what <see cref="SetEmulatedDiskFaultAsync"/> would refuse.</summary>
    public Task<bool> CheckSetEmulatedDiskFaultAsync(Guid id, EmulatedFault fault) => Check(() => TakeEmulated(id, fault));

    /// <summary>What <see cref="RepairVirtualDiskAsync"/> would do before it verifies every copy.</summary>
    public Task<RepairPlacement> PlanRepairAsync(Guid id) => Plan(() =>
    {
        (ManagedPool managed, ManagedVirtualDisk disk) = OpenDisk(id);
        RequireRepairable(disk);
        SlabMover mover = new(managed.Pool!, disk.Open);
        var moves = mover.PlanTargets(givesUpMissing: true)
            .GroupBy(planned => (mover.PoolOf(planned.Move).State, planned.Move.From, planned.To, planned.Move.Part, IsLog: planned.Move.IsRing))
            .Select(group => new PlannedMoves(
                NameOf(group.Key.State, group.Key.From), group.Key.To is { } to ? NameOf(group.Key.State, to) : null,
                group.Sum(planned => mover.SlabsOf(planned.Move)), group.Key.IsLog));
        return new RepairPlacement(disk.Open.BytesToResync, managed.Pool!.Slabs.DataBytes, [.. moves]);

        static string NameOf(PoolState state, DiskNumber number) => state.Disk(number)!.Description.FriendlyName;
    });

    private Task<bool> Check(Action check) => Plan(() =>
    {
        check();
        return true;
    });

    /// <summary>Makes a plan after the verbs that came before it.</summary>
    private Task<T> Plan<T>(Func<T> plan) => Change(() => LaneTask.FromResult(plan()));

    private static PlannedMember Member(RegisteredDisk disk, SlabGeometry slabs) => DiskLayout.TryCreate(disk.Disk!.Geometry.Length, slabs, out DiskLayout layout, out string reason)
        ? new PlannedMember(disk.FriendlyName, disk.Disk.Geometry.Length, layout.SlabCount)
        : throw new RefusedException(Refusal.PhysicalDiskNotSupported, $"-PhysicalDisks: '{disk.FriendlyName}': {reason}");

    private static PhysicalExtent[] PlaceIn(Pool pool, VirtualDiskDescription disk, TierDescription part, List<RowMapping> rows, int first) =>
        Array.ConvertAll(Place(pool, disk, rows, first, part.NumberOfDataCopies), extent => extent with { Tier = disk.IsTiered ? part.Id : null });

    private static PhysicalExtent[] Place(Pool pool, VirtualDiskDescription disk, List<RowMapping> rows, int first, int copies)
    {
        ILayout? layout = rows.Count == 0 ? null : LayoutOf(pool, rows[0].Sources.Length / copies, copies);
        return [.. rows.SelectMany((row, index) => Enumerable.Range(0, row.Sources.Length).Select(position =>
            ExtentOf(pool, disk.Id, row.Sources[position], PositionPlace.Of(layout!, first + index, position))))];
    }
}
