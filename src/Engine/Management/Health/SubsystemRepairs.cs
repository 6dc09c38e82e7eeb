using TierSpaces.Engine.Devices;
using TierSpaces.Engine.Formats;
using TierSpaces.Engine.Pools;
using TierSpaces.Engine.Primitives;
using TierSpaces.Engine.VirtualDisks;

namespace TierSpaces.Engine.Management;

// Disks that come back. A member that missed writes joins the view again as soon as it is seen, at the opening of its pool or later, and
// every virtual disk with something stale on it is repaired at once. A member that is not in the view is asked for again every few seconds,
// by Update-StoragePool, and whenever a disk is registered; one that was there and could not take part is tried again in the same way.
public sealed partial class StorageSubsystem
{
    /// <summary>
    /// Lets every disk of a pool that is there and outside the view take part again, the one that left last first. Every virtual disk of the pool is
    /// open, or failed: those are opened again with each disk, before the next one joins. So what was dirty when a disk left is stale on it.
    /// </summary>
    private async LaneTask<Nothing> RejoinDisks(ManagedPool managed)
    {
        foreach (DiskNumber number in managed.Pool?.OutsideByDeparture ?? [])
        {
            if (managed.Pool is { HasLostQuorum: false } pool)
            {
                await RejoinDisk(managed, pool, number);
            }
        }

        return default;
    }

    /// <summary>
    /// Opens the virtual disks with slabs in a pool again that take no requests, or no writes, for want of the disks that were there. That drops their
    /// clients: none of them takes a later flush for one of writes that may be lost.
    /// </summary>
    private async LaneTask<Nothing> OpenFailed(ManagedPool managed)
    {
        foreach ((ManagedPool home, ManagedVirtualDisk disk) in UsersOf(managed).Where(static user => user.Disk.Open is { Fault: not IoError.None } or { HasReturnedLog: true }).ToArray())
        {
            await ReopenOnceDecided(home, disk);
        }

        return default;
    }

    /// <summary>
    /// Opens a virtual disk again. While a commit that concerns it is undecided it is only detached, and opened as soon as the commit is decided
    /// (<see cref="ReopenDecided"/>).
    /// </summary>
    private async LaneTask<Nothing> ReopenOnceDecided(ManagedPool home, ManagedVirtualDisk disk)
    {
        if (MayReopen(home, disk))
        {
            AttachOpened(await Reopen(home, disk));
            return default;
        }

        disk.AwaitsDecision = true;
        await StopExport(disk);
        return default;
    }

    /// <summary>Opens the virtual disks of a pool again that waited until a commit was decided.</summary>
    private async LaneTask<Nothing> ReopenDecided(ManagedPool home)
    {
        foreach (ManagedVirtualDisk disk in home.VirtualDisks.Values.Where(disk => disk.AwaitsDecision && MayReopen(home, disk)).ToArray())
        {
            AttachOpened(await Reopen(home, disk));
        }

        return default;
    }

    /// <summary>Opens, on command, a virtual disk again that takes no requests. One whose write cache is gone needs a disk of it first.</summary>
    private async LaneTask<Nothing> BringBackFailed(Guid id)
    {
        (ManagedPool managed, ManagedVirtualDisk disk) = OpenDisk(id);
        if (disk.Open.Fault != IoError.None && disk.Open.Cache is not { IsGone: true } && MayReopen(managed, disk))
        {
            await Reopen(managed, disk);
        }

        return default;
    }

    /// <summary>Whether the metadata can say all of a virtual disk: a commit that is undecided may move its slabs, slices or cache after it has been opened.</summary>
    private bool MayReopen(ManagedPool home, ManagedVirtualDisk disk) =>
        home.Pool is { HasLostQuorum: false, HasUndecidedCommit: false }
        && (!disk.Open.Description.IsCacheElsewhere || FindPool(disk.Open.Description.CachePool) is null or { HasUndecidedCommit: false });

    private async LaneTask<bool> RejoinDisk(ManagedPool managed, Pool pool, DiskNumber number)
    {
        CommitResult joined = await pool.Rejoin(number);
        string name = pool.State.Disk(number)?.Description.FriendlyName ?? number.ToString();
        _options.Notice(joined.Succeeded && joined.Reason.Length > 0 ? $"Physical disk {name} is back: {joined.Reason}"
            : joined.Succeeded ? $"Physical disk {name} is back; what it missed is brought up to date."
            : $"Physical disk {name} is back but cannot take part: {joined.Reason}");
        if (joined.Succeeded)
        {
            await OpenFailed(managed);
        }

        return joined.Succeeded;
    }

    /// <summary>Repairs the virtual disks with slabs in a pool that have something to repair; a repair under way begins again.</summary>
    private void StartRepairs(ManagedPool managed)
    {
        foreach ((ManagedPool home, ManagedVirtualDisk disk) in UsersOf(managed).ToArray())
        {
            if (disk.Open is { Fault: IoError.None, BytesToResync: > 0 })
            {
                BeginRepair(home, disk);
            }
        }
    }

    /// <summary>Looks again, on command, for members of open pools that are not in their view.</summary>
    private async LaneTask<Nothing> ReturnMissingDisks()
    {
        foreach (RegisteredDisk disk in _registry.Disks.ToArray())
        {
            if (IsAway(disk) && await Seek(disk) is var (found, scan))
            {
                await TakeBack(disk, found, scan);
            }
        }

        return default;
    }

    /// <summary>Whether a registered disk is a member of an open pool and missing there.</summary>
    private bool IsAway(RegisteredDisk disk) =>
        disk is { Disk: null, Scan.Label: { } label } && _pools.TryGetValue(label.Pool, out ManagedPool? managed) && managed.Pool is { } pool
        && pool.MissingDisks.Contains(label.Number) && !pool.OutsideDisks.Contains(label.Number);

    /// <summary>Whether a registered disk could not be opened since the host started, so that nobody knows what it is.</summary>
    private static bool IsUnknown(RegisteredDisk disk) => disk is { Disk: null, Scan: null };

    /// <summary>Opens what is now where a missing disk was. Null, and nothing is open, if it is not there, or is not what it was.</summary>
    private async LaneTask<(IDisk Disk, PoolScan Scan)?> Seek(RegisteredDisk disk)
    {
        DiskLabel? label = disk.Scan?.Label;
        IDisk found;
        try
        {
            found = Open(disk);
        }
        catch (DiskOpenException)
        {
            return null;   // still away
        }

        PoolScan? scan = found.IsPresent ? await PoolScan.Scan(_lane, found) : null;
        if (scan is { Kind: not ScanKind.Unreadable } && (label is null || (scan.Label is { } same && same.Pool == label.Pool && same.Disk == label.Disk)))
        {
            return (found, scan);
        }

        await found.Close();
        return null;
    }

    /// <summary>A missing disk has been found. If it is still wanted it takes part again, else it is let go.</summary>
    private async LaneTask<Nothing> TakeBack(RegisteredDisk disk, IDisk found, PoolScan scan)
    {
        if (_stopped || !_registry.Disks.Contains(disk) || !(IsAway(disk) || IsUnknown(disk)))
        {
            await found.Close();
            return default;
        }

        (disk.Disk, disk.Identity, disk.Problem, disk.IsSplit) = (found, found.Identity, "", false);
        Saw(disk, scan);
        if (scan.Label is { } label && _pools.TryGetValue(label.Pool, out ManagedPool? managed) && managed.Pool is null)
        {
            return await OpenPools(only: label.Pool);
        }

        await OfferOrOpen(disk);
        if (AbsenceOf(disk) is { } absence)
        {
            absence.IsMissing = IsAway(disk);   // should it leave again at once, that is another departure
        }

        return default;
    }
}
