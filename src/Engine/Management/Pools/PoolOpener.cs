using TierSpaces.Engine.Formats;
using TierSpaces.Engine.Lanes;
using TierSpaces.Engine.Pools;
using TierSpaces.Engine.Primitives;

namespace TierSpaces.Engine.Management;

// Invariants
//  1. A pool is opened as soon as enough of its members are registered.
//  2. All pools that can be opened are open before a virtual disk is: its write cache may be in another pool.
//  3. Virtual disks are open before a disk that has left takes part again: what was dirty is then stale on it.

/// <summary>Opens the pools whose members are registered, with their virtual disks and jobs, and stops those again.</summary>
internal sealed class PoolOpener(
    SubsystemCore core, VirtualDiskOpener disks, Rejoins rejoins, JobResumption resumption, RepairService repairs, JobRunner runner,
    ReliabilityRecords reliability)
{
    /// <summary>
    /// Opens the pools whose members are registered. While members are being registered one by one a pool waits for its last one
    /// (<paramref name="onlyWhole"/>): opened earlier, it would have to leave that one out and make it stale.
    /// </summary>
    internal async LaneTask<Nothing> Open(bool onlyWhole = false, PoolId? only = null)
    {
        core.Disks.Copies.Review();
        IGrouping<PoolId, RegisteredDisk>[] groups = core.Disks.All.Where(disk => disk is { Device.Open: not null, Condition.Label: not null })
            .GroupBy(disk => disk.Condition.Label!.Pool)
            .Where(group => (only is null || group.Key == only) && (!core.Pools.TryGet(group.Key, out ManagedPool? known) || known.Pool is null)).ToArray();
        ManagedPool[] opening = [.. groups.Select(group => core.Pools.GetOrAdd(group.Key))];
        foreach (ManagedPool managed in opening.Where(static managed => !managed.AwaitsLease))   // what that one waits for is shown
        {
            core.Openings.Show(managed, "reading its metadata");
        }

        try
        {
            return await Open(groups, onlyWhole);
        }
        finally
        {
            Array.ForEach(opening, core.Openings.End);
        }
    }

    /// <summary>Gives an open disk to the open pool that it is a member of, or opens that pool if it has all its members now.</summary>
    internal async LaneTask<Nothing> OfferOrOpen(RegisteredDisk disk)
    {
        core.Disks.Copies.Review();
        if (disk.Condition is not { Copy: CopyState.None, Scan: { Label: { } label } scan })
        {
            return default;
        }

        if (core.Pools.TryGet(label.Pool, out ManagedPool? managed) && managed.Pool is { } pool)
        {
            string rejected = pool.Offer(scan);
            disk.Judged(rejected, pool.IsOfOtherHistory(scan));
            if (disk.Condition.IsSplit)
            {
                core.Notice(rejected);
            }

            if (rejected.Length == 0)
            {
                await GiveToPool([disk]);
                await rejoins.RejoinAll(managed);
                await repairs.StartRepairs(managed);
            }

            return default;
        }

        return await Open(onlyWhole: true);
    }

    /// <summary>Uses the disks that were refused because another device carried their identity, once that is no longer so.</summary>
    internal async LaneTask<Nothing> UseReleased()
    {
        core.Disks.Copies.Review();
        foreach (RegisteredDisk disk in core.Disks.Copies.TakeReleased())
        {
            if (disk.Condition.Label is { } label && core.Pools.Find(label.Pool) is { Pool: null })
            {
                await Open(only: label.Pool);
            }
            else
            {
                await OfferOrOpen(disk);
            }
        }

        return default;
    }

    /// <summary>
    /// Stops the jobs, exports and virtual disks of a pool. Virtual disks stop before any pool does: their write caches may be in another one.
    /// </summary>
    internal async LaneTask<bool> StopDisks(ManagedPool managed)
    {
        bool clean = true;
        await runner.Suspend(managed);
        await reliability.Gather();
        foreach (ManagedVirtualDisk disk in managed.VirtualDisks.Values.ToArray())
        {
            await DiskExports.Stop(disk);
            clean &= await disk.Call(static open => open.Close()) == IoError.None;
        }

        managed.RemoveDisks();
        return clean;
    }

    /// <summary>From here on the pool owns these open disks; their labels tell from now on which member each one is.</summary>
    internal async LaneTask<Nothing> GiveToPool(List<RegisteredDisk> disks)
    {
        foreach (RegisteredDisk disk in disks)
        {
            core.Disks.Saw(disk, await PoolScan.Scan(core.Lane, disk.Device.Open!));
            disk.GivenToPool();
        }

        return default;
    }

    /// <summary>Returns the environment of this host for a pool.</summary>
    internal PoolEnvironment Environment() => new(core.Lane, core.State, core.Options.NodeId, core.Options.Deadlines)
    {
        BootId = core.Options.BootId,
        HostName = core.Options.HostName,
        FindPool = core.Pools.FindOpen,
        NameOfPool = core.Pools.NameOf,
        NameOfMember = core.Pools.NameOf,
    };

    /// <summary>Reports what an open pool says of its capacity, and which members leave it.</summary>
    internal void Watch(Pool pool)
    {
        pool.CapacityAlerted += alert => core.Notice(alert);
        pool.MembershipChanged += change =>
        {
            if (change is { Kind: MembershipChangeKind.Left, Reason: not MemberViews.TakenOut } && pool.State.Disk(change.Disk) is { } disk)
            {
                core.Notice($"Warning: physical disk '{disk.Description.FriendlyName}' has left storage pool '{pool.State.Pool!.FriendlyName}': {change.Reason}");
            }
        };
    }

    private async LaneTask<Nothing> Open(IGrouping<PoolId, RegisteredDisk>[] groups, bool onlyWhole)
    {
        List<ManagedPool> opened = [];
        foreach (IGrouping<PoolId, RegisteredDisk> group in groups)
        {
            RegisteredDisk[] usable = [.. group.Where(static disk => disk.Condition.Copy == CopyState.None)];
            if (usable.Length == 0)
            {
                Name(group.Key, [.. group], "none of its disks can be used");
                continue;
            }

            PoolView? view = usable.Select(disk => disk.Condition.Scan!.Superblock?.View).MaxBy(view => view?.Rank);
            DiskNumber[] missing = [.. view?.Members.Select(static member => member.Disk).Where(IsMissing) ?? []];
            bool IsMissing(DiskNumber member) => !Array.Exists(usable, disk => disk.Condition.Label!.Number == member);
            if (onlyWhole && missing.Length > 0)
            {
                Await(group.Key, [.. usable], missing);
            }
            else if (await TryOpen(group.Key, [.. usable]) is { } managed)
            {
                opened.Add(managed);
            }
        }

        foreach (ManagedPool managed in opened)   // once all pools are open: write caches may be in another one
        {
            await disks.OpenAll(managed);
            await disks.AttachWaiting(managed);
        }

        foreach (ManagedPool managed in opened)   // once all virtual disks are open: what was dirty is stale on disks that have left
        {
            await rejoins.RejoinAll(managed);
            await resumption.Resume(managed);
            await repairs.StartRepairs(managed);
        }

        if (opened.Count > 0)
        {
            core.RaisePoolsOpened();
        }

        return default;
    }

    private void Await(PoolId id, List<RegisteredDisk> there, DiskNumber[] missing)
    {
        string names = NameList.Of([.. missing.Select(member => core.Pools.NameOf(id, member))]);
        Name(id, there, $"{missing.Length} of its disks are not there: {names}; register them, or run Update-StoragePool to open it without them");
    }

    /// <summary>Notes why a pool is not opened, of which these disks are there.</summary>
    private void Name(PoolId id, List<RegisteredDisk> there, string reason)
    {
        ManagedPool managed = core.Pools.GetOrAdd(id);
        managed.SetReason(reason);
        managed.SetKnown(PoolSummary.OfLabels(id, there), managed.Reason);
    }

    private async LaneTask<ManagedPool?> TryOpen(PoolId id, List<RegisteredDisk> disks)
    {
        ManagedPool managed = core.Pools.GetOrAdd(id);
        bool isFirst = !managed.AwaitsLease;
        foreach (RegisteredDisk disk in isFirst ? [] : disks)   // the host that held the pool went on writing
        {
            disk.ReadAgain(await PoolScan.Scan(core.Lane, disk.Device.Open!));
        }

        PoolOpenResult result = await Pool.Open(Environment(), id, [.. disks.Select(disk => disk.Condition.Scan!)], managed.Lease);
        managed.SetOpened(result);
        foreach (RejectedDisk rejected in result.Refused)
        {
            if (disks.Find(disk => disk.Device.Open == rejected.Disk) is { } known)
            {
                known.Judged(rejected.Reason, rejected.IsOtherHistory);
                if (rejected.IsOtherHistory)
                {
                    core.Notice(rejected.Reason);
                }
            }
        }

        if (managed.Pool is null)
        {
            managed.SetKnown(PoolSummary.OfLabels(id, disks), managed.Reason);
            if (isFirst || !managed.AwaitsLease)
            {
                core.Notice($"Storage pool {managed.State!.Pool!.FriendlyName} is not open: {result.Reason}");
            }

            return null;
        }

        await GiveToPool(disks.FindAll(disk => disk.Condition.Problem.Length == 0));
        Watch(managed.Pool);
        return managed;
    }
}
