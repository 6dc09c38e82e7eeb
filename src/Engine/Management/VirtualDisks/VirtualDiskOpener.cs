using TierSpaces.Engine.Caching;
using TierSpaces.Engine.Formats;
using TierSpaces.Engine.Lanes;
using TierSpaces.Engine.Pools;
using TierSpaces.Engine.Primitives;
using TierSpaces.Engine.VirtualDisks;

namespace TierSpaces.Engine.Management;

// Invariants
//  1. Every virtual disk of an open pool is open, or its pool says why not.
//  2. A virtual disk that is open is exported while its description says connected. One that is attached by hand only is no longer connected when
//     its pool is first opened after a start of the machine.
//  3. No virtual disk is opened again while a commit that concerns it is undecided.

/// <summary>Opens virtual disks of open pools, opens them again after what they lacked is back, and attaches them.</summary>
internal sealed class VirtualDiskOpener(SubsystemCore core, DiskExports exports, JobRunner runner, ReliabilityRecords reliability, OpenedMarks marks)
{
    /// <summary>Opens the virtual disks of a pool that was just opened; removes those whose creation was not finished.</summary>
    internal async LaneTask<Nothing> OpenAll(ManagedPool managed)
    {
        Pool pool = managed.Pool!;
        bool isFirst = await marks.IsFirstSinceBoot(managed.Id);
        foreach (VirtualDiskDescription known in pool.State.VirtualDisks.Values)
        {
            if (known.IsBeingCreated)
            {
                await VirtualDiskBuilder.Remove(pool, known.Id);
                continue;
            }

            bool waits = isFirst && known is { IsManualAttach: true, IsConnected: true };
            VirtualDiskDescription disk = waits ? known with { IsConnected = false } : known;
            if (waits && !(await pool.Commit(new VirtualDiskChanged(disk))).Succeeded)
            {
                core.Notice($"Virtual disk {disk.FriendlyName} is attached by hand only; that it is detached now could not be noted.");
            }

            core.Openings.Show(managed, $"opening virtual disk '{disk.FriendlyName}'");
            await TryOpen(managed, disk);
        }

        return default;
    }

    /// <summary>
    /// Opens a virtual disk of an open pool and attaches it. If the host's own files fail, the disk stays closed with the reason; other disks
    /// and the host are not concerned.
    /// </summary>
    /// <param name="managed">Its pool.</param>
    /// <param name="disk">The virtual disk.</param>
    /// <param name="lane">Lane that it is to be on; null: the one with the least load.</param>
    internal async LaneTask<Nothing> TryOpen(ManagedPool managed, VirtualDiskDescription disk, ILane? lane = null)
    {
        try
        {
            ManagedVirtualDisk opened = await ManagedVirtualDisk.Take(
                await VirtualDiskStack.Open(managed.Pool!, disk.Id, lane ?? core.DataLanes.LeastLoaded(core.Pools)), core.Lane);
            opened.Redescribe(opened.Description with { IsConnected = disk.IsConnected });
            managed.Add(opened);
            managed.Unopened.Remove(disk.Id);
            await AttachOpened(opened);
        }
        catch (IOException problem)
        {
            managed.Unopened[disk.Id] = problem.Message;
            core.Notice($"Virtual disk {disk.FriendlyName} is not open: {problem.Message}");
        }

        return default;
    }

    /// <summary>Exports an opened virtual disk if it is connected, or reports why it cannot be exported.</summary>
    internal async LaneTask<Nothing> AttachOpened(ManagedVirtualDisk disk)
    {
        VirtualDiskDescription description = disk.Description;
        if (disk.Status is { Fault: not IoError.None, FaultReason: var reason })
        {
            core.Notice($"Virtual disk {description.FriendlyName} is detached: {reason}.");
        }
        else if (description.IsConnected && core.DataLanes.CanExport)
        {
            await exports.TryStart(disk);
        }

        return default;
    }

    /// <summary>
    /// Opens a virtual disk again: its export and jobs end. If the host's own files fail, it stays closed with the reason, and null is returned.
    /// </summary>
    /// <param name="managed">Its pool.</param>
    /// <param name="disk">The virtual disk.</param>
    /// <param name="lane">Lane that it is to be on; null: its own.</param>
    internal async LaneTask<ManagedVirtualDisk?> TryReopen(ManagedPool managed, ManagedVirtualDisk disk, ILane? lane = null)
    {
        VirtualDiskDescription description = disk.Description;
        await DiskExports.Stop(disk);
        await runner.EndOf(managed, description.Id.Value);
        await reliability.Gather();
        try
        {
            ManagedVirtualDisk again = await ManagedVirtualDisk.Take(await VirtualDiskStack.Reopen(managed.Pool!, disk.Opened, lane), core.Lane);
            managed.Add(again);
            return again;
        }
        catch (IOException problem)
        {
            managed.Remove(description.Id);
            managed.Unopened[description.Id] = problem.Message;
            core.Notice($"Virtual disk {description.FriendlyName} is not open: {problem.Message}");
            return null;
        }
    }

    /// <summary>
    /// Opens a virtual disk again. While a commit that concerns it is undecided it is only detached, and opened as soon as the commit is decided
    /// (<see cref="ReopenDecided"/>).
    /// </summary>
    internal async LaneTask<Nothing> ReopenOnceDecided(ManagedPool owner, ManagedVirtualDisk disk)
    {
        if (MayReopen(owner, disk))
        {
            return await ReopenAttached(owner, disk);
        }

        disk.AwaitDecision();
        await DiskExports.Stop(disk);
        return default;
    }

    /// <summary>Opens the virtual disks of a pool again that waited until a commit was decided.</summary>
    internal async LaneTask<Nothing> ReopenDecided(ManagedPool owner)
    {
        foreach (ManagedVirtualDisk disk in owner.VirtualDisks.Values.Where(disk => disk.AwaitsDecision && MayReopen(owner, disk)).ToArray())
        {
            await ReopenAttached(owner, disk);
        }

        return default;
    }

    /// <summary>
    /// Opens the virtual disks with slabs in a pool again that take no requests, or no writes, for want of the disks that were there. That drops their
    /// clients: none of them takes a later flush for one of writes that may be lost.
    /// </summary>
    internal async LaneTask<Nothing> OpenFailed(ManagedPool managed)
    {
        foreach ((ManagedPool owner, ManagedVirtualDisk disk) in core.Pools.UsersOf(managed).ToArray())
        {
            OpenDiskStatus now = await disk.Ask(OpenDiskStatus.Of);   // when its lane answers, it has taken the members as they are
            if (now.IsToBeReopened && owner.Has(disk))
            {
                await ReopenOnceDecided(owner, disk);
            }
        }

        return default;
    }

    /// <summary>
    /// Opens the virtual disks of a pool again that have failed just after a disk had joined: requests that had begun before failed for want of it.
    /// </summary>
    internal async LaneTask<Nothing> OpenFailedLate(ManagedPool managed)
    {
        foreach (ManagedVirtualDisk disk in managed.VirtualDisks.Values.ToArray())
        {
            long joins = managed.Joins + (disk.Status.RemotePool is { } remote ? core.Pools.Find(remote)?.Joins ?? 0 : 0);
            if (disk.HasFailedLate(joins))
            {
                await ReopenOnceDecided(managed, disk);
            }
        }

        return default;
    }

    /// <summary>Attaches the virtual disks that have waited for a pool which has just been opened.</summary>
    internal async LaneTask<Nothing> AttachWaiting(ManagedPool cachePool)
    {
        foreach (ManagedPool owner in core.Pools.All.ToArray())
        {
            foreach (ManagedVirtualDisk disk in owner.VirtualDisks.Values.ToArray())
            {
                if (disk.Status.CacheState == WriteCacheState.Absent && disk.Description.CachePool == cachePool.Id)
                {
                    await ReopenOnceDecided(owner, disk);
                }
            }
        }

        return default;
    }

    /// <summary>Opens a virtual disk that could not be opened before. It is still there when a commit that begins now says so.</summary>
    /// <param name="id">Virtual disk; nothing happens to one that is open.</param>
    /// <param name="lane">Lane that it is to be on; null: the one with the least load.</param>
    internal async LaneTask<Nothing> OpenAgain(Guid id, ILane? lane = null)
    {
        VirtualDiskId disk = new(id);
        if (core.Pools.FindUnopened(disk) is not var (managed, description))
        {
            return default;
        }

        CommitResult there = await managed.Pool!.Commit(new VirtualDiskChanged(description));
        if (managed.State!.VirtualDisk(disk) is null)
        {
            managed.Unopened.Remove(disk);   // its removal was committed after all
            return await VirtualDiskBuilder.ForgetRemoved(managed.Pool!, description);
        }

        Commits.Require(there, description.FriendlyName);
        return await TryOpen(managed, description, lane);
    }

    /// <summary>Opens, on command, a virtual disk again that takes no requests. One whose write cache is gone needs a disk of it first.</summary>
    internal async LaneTask<Nothing> BringBackFailed(Guid id)
    {
        (ManagedPool managed, ManagedVirtualDisk disk) = core.Pools.TakeDisk(id);
        if (disk.Status is { Fault: not IoError.None, IsCacheGone: false } && MayReopen(managed, disk))
        {
            await TryReopen(managed, disk);
        }

        return default;
    }

    private async LaneTask<Nothing> ReopenAttached(ManagedPool owner, ManagedVirtualDisk disk)
    {
        if (await TryReopen(owner, disk) is { } again)
        {
            await AttachOpened(again);
        }

        return default;
    }

    /// <summary>
    /// Whether the metadata can say all of a virtual disk: a commit that is undecided may move its slabs, slices or cache after it has been opened.
    /// </summary>
    internal bool MayReopen(ManagedPool owner, ManagedVirtualDisk disk) =>
        owner.Pool is { HasLostQuorum: false, HasUndecidedCommit: false }
        && (!disk.Description.IsCacheElsewhere || core.Pools.FindOpen(disk.Description.CachePool) is null or { HasUndecidedCommit: false });
}
