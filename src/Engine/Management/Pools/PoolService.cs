using TierSpaces.Engine.Devices;
using TierSpaces.Engine.Formats;
using TierSpaces.Engine.Pools;
using TierSpaces.Engine.Primitives;

namespace TierSpaces.Engine.Management;

/// <summary>Verbs of storage pools and their members.</summary>
public sealed class PoolService
{
    private const int ReleaseTriesMax = 100;
    private const long ReleasePollNs = 20_000_000;

    private readonly SubsystemCore _core;
    private readonly DiskOpener _diskOpener;
    private readonly PoolOpener _opener;
    private readonly DiskChecks _diskChecks;
    private readonly MissingDisks _missing;
    private readonly OpenedMarks _marks;
    private readonly PoolRemoval _removal;
    private readonly Snapshots _snapshots;

    internal PoolService(
        SubsystemCore core,
        DiskOpener diskOpener,
        PoolOpener opener,
        DiskChecks diskChecks,
        MissingDisks missing,
        OpenedMarks marks,
        PoolRemoval removal,
        Snapshots snapshots) =>
        (_core, _diskOpener, _opener, _diskChecks, _missing, _marks, _removal, _snapshots) = (core, diskOpener, opener, diskChecks, missing, marks, removal,
            snapshots);

    /// <summary>The pools: open ones, and those whose members are here without a majority.</summary>
    public Task<StoragePoolStatus[]> ListAsync() => _core.Verbs.Look(_snapshots.Take, static now => now.Pools.ToArray());

    /// <summary>Makes a pool of registered disks.</summary>
    /// <exception cref="ManagementException">Name taken, too few or unsuitable disks; nothing was changed.</exception>
    public Task<StoragePoolStatus> CreateAsync(PoolDescription settings, IReadOnlyList<Guid> disks, DiskUsage usage) =>
        Change(async LaneTask<PoolId> () =>
    {
        RequireName(settings.FriendlyName);
        List<RegisteredDisk> members = _diskChecks.TakePoolable(disks);
        Pool pool;
        try
        {
            pool = await Pool.Create(
                _opener.Environment(), new NewPoolSpec { FriendlyName = settings.FriendlyName, Settings = settings },
                [.. members.Select(disk => DiskChecks.NewMember(disk, usage))]);
        }
        catch (PoolException failure)
        {
            throw new ManagementException(ManagementError.Failed, failure.Message);
        }

        await _opener.GiveToPool(members);
        ManagedPool managed = _core.Pools.GetOrAdd(pool.Id);
        managed.SetOpen(pool);
        _opener.Watch(pool);
        await _marks.IsFirstSinceBoot(pool.Id);
        _core.Notice($"Storage pool {settings.FriendlyName} was made of {CountText.Of(members.Count, "disk")}.");
        return managed.Id;
    });

    /// <summary>Returns the slab size and the members of the pool that <see cref="CreateAsync"/> would make.</summary>
    public Task<PoolPlacement> PlanAsync(string friendlyName, IReadOnlyList<Guid> disks) => _core.Verbs.Change(() =>
    {
        RequireName(friendlyName);
        List<RegisteredDisk> members = _diskChecks.TakePoolable(disks);
        SlabGeometry slabs = SlabGeometry.ForSmallestDisk(members.Min(disk => disk.Device.Open!.Geometry.Length));
        PlannedMember[] planned = [.. members.Select(disk => Member(disk, slabs))];
        string reason = Pool.WhyNoPages(
            _opener.Environment(), new NewPoolSpec { FriendlyName = friendlyName },
            [.. members.Select(disk => DiskChecks.NewMember(disk, DiskUsage.AutoSelect))]);
        return LaneTask.FromResult(
            reason.Length == 0 ? new PoolPlacement(slabs.DataBytes, planned) : throw new ManagementException(ManagementError.Failed, reason));
    });

    /// <summary>Changes settings of a pool.</summary>
    public Task<StoragePoolStatus> SetAsync(Guid id, Func<PoolDescription, PoolDescription> change) =>
        Change(async LaneTask<PoolId> () =>
    {
        (ManagedPool managed, PoolDescription description) = Changed(id, change);
        bool wasProtected = managed.Pool!.State.Pool!.IsPowerProtected;
        Commits.Require(await managed.Pool.Change(description), description.FriendlyName);
        if (description.IsPowerProtected != wasProtected)
        {
            _core.Notice($"Storage pool {description.FriendlyName} is {(wasProtected ? "no longer " : "")}power-protected: "
                + (wasProtected ? "every disk was flushed, and flushes reach the disks again." : "what a disk has acknowledged counts as durable, and no flush reaches a disk."));
        }

        return managed.Id;
    });

    /// <summary>Refuses what <see cref="SetAsync"/> would refuse.</summary>
    public Task<bool> CheckSetAsync(Guid id, Func<PoolDescription, PoolDescription> change) => _core.Verbs.Check(() => Changed(id, change));

    /// <summary>Looks at every registered disk again and opens pools that have become complete.</summary>
    public Task<StoragePoolStatus[]> UpdateAsync() => _core.Verbs.Change(async LaneTask<SubsystemSnapshot> () =>
    {
        foreach (RegisteredDisk disk in _core.Disks.All.Where(disk => !_core.Disks.IsInOpenPool(disk)).ToArray())
        {
            await _diskOpener.Open(disk);
            if (disk is { Device.Open: not null, Condition.Label: { } label } && _core.Pools.FindOpen(label.Pool) is not null)
            {
                await _opener.OfferOrOpen(disk);
            }
        }

        await _missing.ReturnAll();
        await _opener.Open();
        return await _snapshots.Take();
    }, static now => now.Pools.ToArray());

    /// <summary>
    /// Says that the host which holds a pool that is not open is off: the pool is opened here once that host has not renewed its lease for 33 s. Its
    /// writes that are not yet with the disks may still arrive if it is not off.
    /// </summary>
    public Task<bool> ForceAsync(Guid id) => _core.Verbs.Change(() =>
    {
        _core.Pools.GetOrAdd(new PoolId(id)).Lease.Force();
        return LaneTask.FromResult(true);
    });

    /// <summary>Brings a pool to the newest version of the format while it serves.</summary>
    public Task<StoragePoolStatus> RaiseAsync(Guid id) => Change(async LaneTask<PoolId> () =>
    {
        ManagedPool managed = _core.Pools.TakeOpen(id);
        string name = managed.Pool!.State.Pool!.FriendlyName;
        ushort before = managed.Pool.State.Pool!.FormatVersion;
        Commits.Require(await managed.Pool.Raise(), name);
        if (before < PoolDescription.NewestFormat)
        {
            _core.Notice($"Storage pool {name} was raised from format version {before} to {PoolDescription.NewestFormat}. Older releases cannot open it any more.");
        }

        return managed.Id;
    });

    /// <summary>Refuses what <see cref="RaiseAsync"/> would refuse.</summary>
    public Task<bool> CheckRaiseAsync(Guid id) => _core.Verbs.Check(() => _core.Pools.TakeOpen(id));

    /// <summary>Removes an empty pool: its disks are blank afterwards and stay registered.</summary>
    /// <exception cref="ManagementException">It is not empty, has remote caches, or a disk of it cannot be erased; the pool is there as before.</exception>
    public Task<bool> RemoveAsync(Guid id) => _core.Verbs.Change(() => _removal.Remove(_core.Pools.TakeOpen(id)));

    /// <summary>Refuses what <see cref="RemoveAsync"/> would refuse.</summary>
    public Task<bool> CheckRemoveAsync(Guid id) => _core.Verbs.Check(() => _removal.Check(_core.Pools.TakeOpen(id)));

    /// <summary>Adds registered disks to a pool.</summary>
    public Task<bool> AddDisksAsync(Guid pool, IReadOnlyList<Guid> disks, DiskUsage usage) => _core.Verbs.Change(async LaneTask<bool> () =>
    {
        ManagedPool managed = _core.Pools.TakeOpen(pool);
        List<RegisteredDisk> added = _diskChecks.TakePoolable(disks);
        Commits.Require(await managed.Pool!.AddDisks([.. added.Select(disk => DiskChecks.NewMember(disk, usage))]), managed.Pool.State.Pool!.FriendlyName);
        await _opener.GiveToPool(added);
        return true;
    });

    /// <summary>Refuses what <see cref="AddDisksAsync"/> would refuse.</summary>
    public Task<bool> CheckAddDisksAsync(Guid pool, IReadOnlyList<Guid> disks) => _core.Verbs.Check(() =>
    {
        ManagedPool managed = _core.Pools.TakeOpen(pool);
        string reason = managed.Pool!.WhyNotAdd([.. _diskChecks.TakePoolable(disks).Select(disk => DiskChecks.NewMember(disk, DiskUsage.AutoSelect))]);
        Commits.Require(reason.Length == 0 ? CommitResult.Committed : new CommitResult(CommitStatus.Refused, reason), managed.Pool.State.Pool!.FriendlyName);
    });

    /// <summary>Removes disks without data from their pool.</summary>
    public Task<bool> RemoveDisksAsync(Guid pool, IReadOnlyList<Guid> disks) => _core.Verbs.Change(
        async LaneTask<(DiskDescription? InUse, SubsystemSnapshot? Now)> () =>
    {
        ManagedPool managed = _core.Pools.TakeOpen(pool);
        (List<DiskDescription> members, DiskDescription? inUse) = _diskChecks.TakeRemovable(managed, disks);
        foreach (DiskDescription member in inUse is null ? members : [])
        {
            Commits.Require(await managed.Pool!.RemoveDisk(member.Number), member.FriendlyName);
            if (_core.Disks.All.FirstOrDefault(disk => _core.Disks.IdOf(disk) == member.Id.Value || disk.Condition.Label?.Disk == member.Id) is { } known)
            {
                await OpenReleased(known);
            }
        }

        return (inUse, inUse is null ? null : await _snapshots.Take());
    }, after => RequireUnused(pool, after.InUse, after.Now));

    /// <summary>Opens a disk that its pool has closed. Lanes of virtual disks may take a moment to close what they had of it.</summary>
    private async LaneTask<Nothing> OpenReleased(RegisteredDisk disk)
    {
        await _diskOpener.Open(disk);
        for (int tries = 0; tries < ReleaseTriesMax && IsHeld(disk); tries++)
        {
            await _core.Lane.Delay(ReleasePollNs);
            await _diskOpener.Open(disk);
        }

        return default;
    }

    private static bool IsHeld(RegisteredDisk disk) =>
        disk is
        {
            Device.Open: null, Condition: { Problem.Length: > 0, ProblemKind: CannotPoolKind.ReservedBySubsystem or CannotPoolKind.Starting },
        };

    /// <summary>Refuses what <see cref="RemoveDisksAsync"/> would refuse.</summary>
    public Task<bool> CheckRemoveDisksAsync(Guid pool, IReadOnlyList<Guid> disks) => _core.Verbs.Plan(
        async LaneTask<(DiskDescription? InUse, SubsystemSnapshot Now)> () =>
            (_diskChecks.TakeRemovable(_core.Pools.TakeOpen(pool), disks).InUse, await _snapshots.Take()),
        at => RequireUnused(pool, at.InUse, at.Now));

    private static bool RequireUnused(Guid pool, DiskDescription? inUse, SubsystemSnapshot? now) =>
        inUse is null ? true : throw DiskChecks.StillInUse(now!, new PoolId(pool), inUse);

    /// <summary>Runs a verb that changes a pool, and answers with the status of the moment in which it ended.</summary>
    private Task<StoragePoolStatus> Change(Func<LaneTask<PoolId>> verb) => _snapshots.Change(verb, static (pool, now) => now.Pool(pool));

    private (ManagedPool Pool, PoolDescription Description) Changed(Guid id, Func<PoolDescription, PoolDescription> change)
    {
        ManagedPool managed = _core.Pools.TakeOpen(id);
        PoolDescription description = change(managed.Pool!.State.Pool!);
        FriendlyNames.Require(description.FriendlyName, "NewFriendlyName");
        return !_core.Pools.All.Any(pool => pool != managed && FriendlyNames.AreSame(pool.State?.Pool?.FriendlyName, description.FriendlyName))
            ? (managed, description)
            : throw new ManagementException(
                ManagementError.NameTaken, $"-NewFriendlyName '{description.FriendlyName}' is the name of another storage pool.", "Choose another name.");
    }

    private void RequireName(string name)
    {
        FriendlyNames.Require(name, "FriendlyName");
        if (_core.Pools.All.Any(pool => FriendlyNames.AreSame(pool.State?.Pool?.FriendlyName, name)))
        {
            throw new ManagementException(ManagementError.NameTaken, $"-FriendlyName '{name}' is the name of another storage pool.", "Choose another name.");
        }
    }

    private static PlannedMember Member(RegisteredDisk disk, SlabGeometry slabs) =>
        DiskLayout.TryCreate(disk.Device.Open!.Geometry.Length, slabs, out DiskLayout layout, out string reason)
        ? new PlannedMember(disk.Stored.FriendlyName, disk.Device.Open.Geometry.Length, layout.SlabCount)
        : throw new ManagementException(ManagementError.PhysicalDiskNotSupported, $"-PhysicalDisks: '{disk.Stored.FriendlyName}': {reason}");
}
