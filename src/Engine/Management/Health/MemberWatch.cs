using TierSpaces.Engine.Devices;
using TierSpaces.Engine.Lanes;
using TierSpaces.Engine.Pools;
using TierSpaces.Engine.Primitives;

namespace TierSpaces.Engine.Management;

// Members that are no use any more leave their pool without waiting for the next write to find out:
//
//   an image that was truncated or unlinked, a device without its size   at once
//   a disk that lets requests pass their deadline                        when the pool can do without it: a quorum is left, and every
//                                                                        virtual disk has all it holds on other disks too
//
// A hung disk that cannot be spared stays; what needs it fails until it answers again.
//
// Disks are looked at by requests of their own (IDisk.CheckPresence), which nothing here waits for: a disk of which such a request is overdue hangs.
//
// Invariants
//  1. At most one look at a disk is under way, and at most one question to the virtual disks whether it can be spared.

/// <summary>Takes members that are gone or do not answer out of their pools.</summary>
internal sealed class MemberWatch(SubsystemCore core)
{
    private const long WatchPeriodNs = 250_000_000;

    private readonly HashSet<IDisk> _lookedAt = [];   // disks at which a look is under way
    private readonly HashSet<IDisk> _judged = [];     // disks of which the lanes of virtual disks are asked whether they can be spared

    /// <summary>Runs until the host stops.</summary>
    internal async LaneTask Run()
    {
        while (!core.Verbs.IsStopped)
        {
            await core.Lane.Delay(WatchPeriodNs);
            foreach (ManagedPool managed in core.Pools.All.ToArray())
            {
                if (managed.Pool is { } pool && !core.Verbs.IsStopped)
                {
                    WatchMembersOf(managed, pool);
                }
            }

            foreach (RegisteredDisk disk in core.Disks.All)
            {
                if (disk.Device.Open is { IsPresent: true } open && _lookedAt.Add(open))
                {
                    Look(open).Forget();   // in no pool: its next user finds out what was found
                }
            }
        }
    }

    private void WatchMembersOf(ManagedPool managed, Pool pool)
    {
        foreach (DiskNumber number in pool.State.Disks.Keys)
        {
            if (pool.Disk(number) is not { } disk)
            {
                continue;
            }

            if (!disk.IsPresent)
            {
                Evict(pool, number, disk, "is gone").Forget();
            }
            else if (disk is MeteredDisk { IsHung: true })
            {
                EvictIfSpared(managed, pool, number, disk).Forget();
            }
            else if (_lookedAt.Add(disk))
            {
                LookAtMember(pool, number, disk).Forget();
            }
        }
    }

    private async LaneTask EvictIfSpared(ManagedPool managed, Pool pool, DiskNumber number, IDisk disk)
    {
        if (pool.CanSpare(number) && _judged.Add(disk))
        {
            bool survives = await AllSurviveWithout(managed, pool, number);
            _judged.Remove(disk);
            if (survives && disk is MeteredDisk { IsHung: true } && pool.Disk(number) == disk && pool.CanSpare(number) && !core.Verbs.IsStopped)
            {
                await Evict(pool, number, disk, "does not answer");
            }
        }
    }

    private async LaneTask LookAtMember(Pool pool, DiskNumber number, IDisk disk)
    {
        await Look(disk);
        if (!disk.IsPresent && pool.Disk(number) == disk && !core.Verbs.IsStopped)
        {
            await Evict(pool, number, disk, "is gone");
        }
    }

    private async LaneTask Look(IDisk disk)
    {
        _ = await disk.CheckPresence();
        _lookedAt.Remove(disk);
    }

    /// <summary>Whether every virtual disk with slabs in a pool has on other disks, too, all that it has on one.</summary>
    private async LaneTask<bool> AllSurviveWithout(ManagedPool managed, Pool pool, DiskNumber number)
    {
        foreach ((_, ManagedVirtualDisk user) in core.Pools.UsersOf(managed).ToArray())
        {
            if (!await user.Ask(open => open.SurvivesWithout(pool.Id, number.Value)))
            {
                return false;
            }
        }

        return true;
    }

    private async LaneTask Evict(Pool pool, DiskNumber number, IDisk disk, string why)
    {
        await pool.Evict(number, $"{disk.Identity.Uri} {why}");
    }
}
