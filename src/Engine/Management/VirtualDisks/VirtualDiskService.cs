using System.Net;
using TierSpaces.Engine.Exports.Fuse;
using TierSpaces.Engine.Exports.Nbd;
using TierSpaces.Engine.Formats;
using TierSpaces.Engine.Lanes;
using TierSpaces.Engine.Pools;
using TierSpaces.Engine.Primitives;
using TierSpaces.Engine.VirtualDisks;

namespace TierSpaces.Engine.Management;

// A virtual disk is removed in this order: (1) the export and the jobs end; (2) it is closed; (3) the removal is committed. If the commit
// is refused, the virtual disk is opened and exported again. If the commit found no space it may still be applied later: then the virtual disk
// stays closed, with the reason, until a later commit has shown whether it is still there. Connecting it asks for that, and so does
// removing it again.

/// <summary>Verbs of virtual disks.</summary>
public sealed class VirtualDiskService
{
    private readonly SubsystemCore _core;
    private readonly VirtualDiskDecisions _decisions;
    private readonly VirtualDiskOpener _disks;
    private readonly DiskExports _exports;
    private readonly WriteCacheService _caches;
    private readonly Snapshots _snapshots;
    private readonly JobRunner _runner;
    private readonly ReliabilityRecords _reliability;

    internal VirtualDiskService(
        SubsystemCore core,
        VirtualDiskDecisions decisions,
        VirtualDiskOpener disks,
        DiskExports exports,
        WriteCacheService caches,
        Snapshots snapshots,
        JobRunner runner,
        ReliabilityRecords reliability) =>
        (_core, _decisions, _disks, _exports, _caches, _snapshots, _runner, _reliability) = (core, decisions, disks, exports, caches, snapshots, runner,
            reliability);

    /// <summary>The virtual disks of every pool that is known.</summary>
    public Task<VirtualDiskStatus[]> ListAsync() => _core.Verbs.Look(_snapshots.Take, static now => now.VirtualDisks.ToArray());

    /// <summary>
    /// Returns the NBD clients of each exported virtual disk that has some. A lane that does not answer within a quarter of a second has none.
    /// </summary>
    public Task<IReadOnlyDictionary<Guid, LanePeer[]>> ListClientsAsync() => _core.Verbs.Look(async LaneTask<IReadOnlyDictionary<Guid, LanePeer[]>> () =>
    {
        Dictionary<Guid, LanePeer[]> clients = [];
        ManagedVirtualDisk[] exported = [.. _core.Pools.All.SelectMany(static pool => pool.VirtualDisks.Values).Where(static disk => disk.IsExported)];
        await _core.Patience.Ask(Array.ConvertAll(exported, disk => (disk.Lane, (Func<LaneTask<Nothing>>)(() => Note(disk, clients)))));
        return clients;
    });

    /// <summary>Makes a virtual disk. It is detached until it is connected.</summary>
    /// <exception cref="ManagementException">A parameter is outside its range or the pool has no room; nothing was changed.</exception>
    public Task<VirtualDiskStatus> CreateAsync(Guid pool, VirtualDiskRequest request) => Change(async LaneTask<Changed> () =>
    {
        (ManagedPool managed, VirtualDiskDescription spec, IReadOnlyList<string> remarks) = _decisions.Decide(pool, request);
        VirtualDiskResult result = await VirtualDiskBuilder.Create(managed.Pool!, spec, _core.DataLanes.LeastLoaded(_core.Pools));
        if (result.Disk is not { } open)
        {
            throw new ManagementException(
                result.Status == CommitStatus.NoSpace ? ManagementError.NotEnoughCapacity : ManagementError.Failed,
                $"-Size {ByteText.Exact(spec.SizeBytes)} of virtual disk '{spec.FriendlyName}': {result.Reason}",
                result.Status == CommitStatus.NoSpace ? "Give a smaller size, or add disks to the pool."
                    : "Nothing was made. Remove the cause, then try again.");
        }

        ManagedVirtualDisk made = await ManagedVirtualDisk.Take(open, _core.Lane);
        managed.Add(made);
        _core.Notice($"Virtual disk {spec.FriendlyName} was made.");
        return new Changed(managed.Id, made.Description.Id, remarks);
    });

    /// <summary>Changes name, usage or access of a virtual disk.</summary>
    public Task<VirtualDiskStatus> SetAsync(Guid id, Func<VirtualDiskDescription, VirtualDiskDescription> change) =>
        Change(async LaneTask<Changed> () =>
    {
        (ManagedPool managed, ManagedVirtualDisk disk, VirtualDiskDescription changed) = _decisions.Changed(id, change);
        Commits.Require(await managed.Pool!.Commit(new VirtualDiskChanged(changed)), changed.FriendlyName);
        disk.Redescribe(changed);
        await disk.Ask(open => Apply(open, changed));
        await DiskExports.Rename(disk, changed.FriendlyName);
        return new Changed(managed.Id, changed.Id, []);
    });

    /// <summary>Refuses what <see cref="SetAsync"/> would refuse.</summary>
    public Task<bool> CheckSetAsync(Guid id, Func<VirtualDiskDescription, VirtualDiskDescription> change) =>
        _core.Verbs.Check(() => _decisions.Changed(id, change));

    /// <summary>Makes a virtual disk longer; with one tier that tier.</summary>
    public Task<VirtualDiskStatus> ResizeAsync(Guid id, long sizeBytes) => Change(async LaneTask<Changed> () =>
    {
        (ManagedPool managed, ManagedVirtualDisk disk) = _core.Pools.TakeDisk(id);
        VirtualDiskDescription description = disk.Description;
        if (description is { IsTiered: true, Tiers: [_] })
        {
            await TierGrowth.Grow(managed, disk, 0, sizeBytes);
            return new Changed(managed.Id, description.Id, []);
        }

        long size = VirtualDiskDecisions.NewSize(managed.Pool!, description, sizeBytes);
        CommitResult result = size == description.SizeBytes ? CommitResult.Committed : await VirtualDiskGrowth.Grow(managed.Pool!, disk.Opened, size);
        await disk.TakeDescription();
        if (result.Status == CommitStatus.NoSpace)
        {
            throw new ManagementException(
                ManagementError.NotEnoughCapacity, $"-Size {ByteText.Exact(sizeBytes)} of virtual disk '{description.FriendlyName}': {result.Reason}",
                VirtualDiskPlan.DisksToAdd(managed.Pool!, description, size - description.SizeBytes));
        }

        Commits.Require(result, description.FriendlyName);
        return new Changed(managed.Id, description.Id, []);
    });

    /// <summary>Exports a virtual disk on its socket, now and after every restart.</summary>
    /// <param name="id">Virtual disk.</param>
    /// <param name="force">Whether what a lost write cache of it held is given up; the remarks say what that was.</param>
    /// <param name="lane">
    /// Number of the data lane that it is put on, 1 to the number of lanes; it stays there until it is opened again. Null: the lane it is on.
    /// </param>
    /// <exception cref="ManagementException">
    /// There is no lane of that number, the virtual disk is connected on another lane, or it cannot be used; nothing was changed.
    /// </exception>
    public Task<VirtualDiskStatus> ConnectAsync(Guid id, bool force = false, int? lane = null) => Change(async LaneTask<Changed> () =>
    {
        ILane? chosen = TakeLane(id, lane);
        await _disks.OpenAgain(id, chosen);
        await _disks.BringBackFailed(id);
        IReadOnlyList<string> remarks = await _caches.BringBackLost(id, force);
        await PutOn(chosen, id);
        (ManagedPool managed, ManagedVirtualDisk disk) = _core.Pools.TakeUsable(id);
        VirtualDiskDescription description = disk.Description;
        if (!disk.IsExported)
        {
            await _exports.Start(disk);
            CommitResult result = await managed.Pool!.Commit(new VirtualDiskChanged(description with { IsConnected = true }));
            if (!result.Succeeded)
            {
                await DiskExports.Stop(disk);
                Commits.Require(result, description.FriendlyName);
            }

            disk.Redescribe(description with { IsConnected = true });
        }

        return new Changed(managed.Id, description.Id, remarks);
    });

    /// <summary>Refuses what <see cref="ConnectAsync"/> would refuse, but for a socket that turns out to be taken.</summary>
    public Task<bool> CheckConnectAsync(Guid id, bool force = false, int? lane = null) => _core.Verbs.Check(() =>
    {
        TakeLane(id, lane);
        _exports.RequireOnlyOfItsName(force && _core.Pools.TakeDisk(id).Disk is { Status.IsCacheGone: true } lost ? lost : _core.Pools.TakeUsable(id).Disk);
    });

    /// <summary>
    /// Ends the export of a virtual disk; clients are drained, then dropped. The order: (1) no further request is taken; (2) what clients wrote is
    /// flushed; (3) the description says detached; (4) the export ends. If (2) or (3) fails the virtual disk stays connected. A virtual disk that
    /// takes no requests any more can be disconnected all the same; the remarks say what that costs.
    /// </summary>
    public Task<VirtualDiskStatus> DisconnectAsync(Guid id) => Change(async LaneTask<Changed> () =>
    {
        (ManagedPool managed, ManagedVirtualDisk disk) = _core.Pools.TakeDisk(id);
        bool isUsable = disk.Status.Fault == IoError.None;
        DiskExport? export = disk.Export;
        if (export is not null)
        {
            await DiskExports.Suspend(disk, export);
        }

        try
        {
            IReadOnlyList<string> remarks = await FlushForDisconnect(disk, isUsable);
            VirtualDiskDescription description = disk.Description with { IsConnected = false };
            Commits.Require(await managed.Pool!.Commit(new VirtualDiskChanged(description)), description.FriendlyName);
            disk.Redescribe(description);
            await DiskExports.Stop(disk);
            _exports.Forget(id);
            return new Changed(managed.Id, description.Id, remarks);
        }
        finally
        {
            if (export is not null)
            {
                await DiskExports.Resume(disk, export);
            }
        }
    });

    /// <summary>
    /// Takes NBD clients of a connected virtual disk at a TCP endpoint, too: now, and whenever it is opened again, until it is disconnected or this process
    /// ends. Nothing is ciphered and no client proves who it is.
    /// </summary>
    /// <param name="id">Virtual disk.</param>
    /// <param name="endpoint">Address and port of this machine.</param>
    /// <exception cref="ManagementException">The virtual disk is not exported, or the endpoint cannot be listened at; nothing was changed.</exception>
    public Task<bool> ListenAsync(Guid id, IPEndPoint endpoint) => _core.Verbs.ChangeOpen(async LaneTask<bool> () =>
    {
        await _exports.Listen(_core.Pools.TakeDisk(id).Disk, endpoint);
        return true;
    });

    /// <summary>Serves a connected virtual disk to the kernel's FUSE, now and whenever it is opened again, until <see cref="EndDeviceAsync"/>.</summary>
    /// <param name="id">Virtual disk.</param>
    /// <param name="channel">The connection to the kernel.</param>
    /// <exception cref="ManagementException">The virtual disk is not exported, or the memory of its lane cannot be locked; nothing was changed.</exception>
    public Task<bool> ServeDeviceAsync(Guid id, FuseChannel channel) => _core.Verbs.ChangeOpen(async LaneTask<bool> () =>
    {
        await _exports.Serve(_core.Pools.TakeDisk(id).Disk, channel);
        return true;
    });

    /// <summary>
    /// Serves a virtual disk to the kernel no longer, once what the kernel has asked for is answered. Nothing happens to one that is not served, or not open.
    /// </summary>
    public Task<bool> EndDeviceAsync(Guid id) => _core.Verbs.ChangeOpen(async LaneTask<bool> () =>
    {
        await _exports.EndDevice(id, _core.Pools.FindOpen(id));
        return true;
    });

    /// <summary>Removes a virtual disk and everything in it.</summary>
    /// <exception cref="ManagementException">The pool could not commit the removal; every verb reaches the virtual disk as before.</exception>
    public Task<bool> RemoveAsync(Guid id) => _core.Verbs.Change(async LaneTask<bool> () =>
    {
        VirtualDiskId disk = new(id);
        if (_core.Pools.FindUnopened(disk) is not var (managed, description))
        {
            (managed, ManagedVirtualDisk open) = _core.Pools.TakeDisk(id);
            description = open.Description;
            await DiskExports.Stop(open);
            _exports.Forget(id);
            await _reliability.Gather();
            managed.Remove(disk);
            await _runner.EndOf(managed, id);
            await open.Call(static closing => closing.Close());
        }

        CommitResult removed = await VirtualDiskBuilder.Remove(managed.Pool!, disk);
        managed.Unopened.Remove(disk);
        if (!removed.Succeeded && managed.State!.VirtualDisk(disk) is null)
        {
            await VirtualDiskBuilder.ForgetRemoved(managed.Pool!, description);   // an earlier removal was committed after all
            return true;
        }

        if (removed.Status == CommitStatus.NoSpace)
        {
            managed.Unopened[disk] = $"its removal may still be committed: {removed.Reason}";
        }
        else if (!removed.Succeeded)
        {
            await _disks.TryOpen(managed, description);
        }

        Commits.Require(removed, description.FriendlyName);
        return true;
    });

    /// <summary>An open virtual disk, for tests on its lane.</summary>
    internal OpenVirtualDisk Opened(Guid id) => _core.Pools.TakeDisk(id).Disk.Opened;

    /// <summary>Runs a verb that changes a virtual disk, and answers with the status of the moment in which it ended.</summary>
    private Task<VirtualDiskStatus> Change(Func<LaneTask<Changed>> verb) =>
        _snapshots.Change(verb, static (changed, now) => now.VirtualDisk(changed.Pool, changed.Disk) with { Remarks = changed.Remarks });

    /// <summary>Notes the clients of a virtual disk; its export may have ended meanwhile.</summary>
    private static async LaneTask<Nothing> Note(ManagedVirtualDisk disk, Dictionary<Guid, LanePeer[]> clients)
    {
        NbdServer? server = disk.Export?.Server;
        LanePeer[] peers = server is null ? [] : await disk.Ask(_ => server.Clients);
        if (peers.Length > 0)
        {
            clients[disk.Description.Id.Value] = peers;
        }

        return default;
    }

    /// <summary>Lets an open virtual disk go by settings that its pool has committed.</summary>
    private static bool Apply(OpenVirtualDisk open, VirtualDiskDescription changed)
    {
        open.Disk.Redescribe(changed);
        open.Tiering?.LoadSettings();
        open.Cache?.TakeSettings(changed.Destage);
        return true;
    }

    /// <summary>Returns the lane with a number, which a virtual disk can be put on; null: none was named.</summary>
    private ILane? TakeLane(Guid id, int? number)
    {
        if (number is not { } named)
        {
            return null;
        }

        ILane lane = _core.DataLanes.Take(named);
        if (_core.Pools.FindUnopened(new VirtualDiskId(id)) is null)
        {
            (ManagedPool managed, ManagedVirtualDisk disk) = _core.Pools.TakeDisk(id);
            RequireMovable(managed, disk, lane);
        }

        return lane;
    }

    /// <summary>Opens a virtual disk again on a lane, unless it is there already.</summary>
    private async LaneTask<Nothing> PutOn(ILane? lane, Guid id)
    {
        (ManagedPool managed, ManagedVirtualDisk disk) = _core.Pools.TakeUsable(id);
        if (lane is not null && disk.Lane != lane)
        {
            RequireMovable(managed, disk, lane);
            _exports.RequireOnlyOfItsName(disk);
            await _disks.TryReopen(managed, disk, lane);
        }

        return default;
    }

    /// <summary>Refuses to put a virtual disk on another lane while it is connected, or may not be opened again.</summary>
    private void RequireMovable(ManagedPool managed, ManagedVirtualDisk disk, ILane lane)
    {
        int from = _core.DataLanes.NumberOf(disk.Lane);
        string wrong = $"-Lane {_core.DataLanes.NumberOf(lane)}: virtual disk '{disk.Description.FriendlyName}'";
        if (disk.Lane != lane && disk.IsExported)
        {
            throw new ManagementException(
                ManagementError.VirtualDiskStateForbids, $"{wrong} is connected on another lane. Valid: {from}, the lane it is on.",
                "Disconnect it first, then connect it on this lane.");
        }

        if (disk.Lane != lane && !_disks.MayReopen(managed, disk))
        {
            throw new ManagementException(
                ManagementError.VirtualDiskStateForbids,
                $"{wrong} cannot be opened again while a commit of its pool is not decided. Valid: {from}, the lane it is on.",
                "Connect it without -Lane, or try again when the pool is OK.");
        }
    }

    private static async LaneTask<IReadOnlyList<string>> FlushForDisconnect(ManagedVirtualDisk disk, bool isUsable)
    {
        (IoError error, bool isReadOnly) = await disk.Call(
            static async LaneTask<(IoError, bool)> (open) => (await open.Disk.Flush(), open.Disk.IsReadOnly));
        string name = disk.Description.FriendlyName;
        return error == IoError.None || isReadOnly ? []
            : !isUsable ? [$"What clients wrote to virtual disk '{name}' since their last flush is not durable: {disk.Status.FaultReason} ({error})."]
            : throw new ManagementException(
                ManagementError.Failed,
                $"Virtual disk '{name}' could not be flushed ({error}) and stays connected: what clients wrote since their last flush may not be durable.",
                "Look at Get-VirtualDisk and its disks, then disconnect it again.");
    }

    /// <summary>A virtual disk that a verb has changed.</summary>
    /// <param name="Pool">Its pool.</param>
    /// <param name="Disk">Its identity.</param>
    /// <param name="Remarks">Remarks on the decisions of the verb, for the user.</param>
    private sealed record Changed(PoolId Pool, VirtualDiskId Disk, IReadOnlyList<string> Remarks);
}
