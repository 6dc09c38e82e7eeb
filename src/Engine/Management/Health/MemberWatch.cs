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

/// <summary>Takes members that are gone or do not answer out of their pools.</summary>
internal sealed class MemberWatch(SubsystemCore core)
{
    private const long WatchPeriodNs = 250_000_000;

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
            else if (disk is MeteredDisk { IsHung: true } && CanSpare(managed, pool, number))
            {
                Evict(pool, number, disk, "does not answer").Forget();
            }
        }
    }

    private bool CanSpare(ManagedPool managed, Pool pool, DiskNumber number) =>
        pool.CanSpare(number) && core.Pools.UsersOf(managed).All(user => user.Disk.Open.SurvivesWithout(pool, number.Value));

    private async LaneTask Evict(Pool pool, DiskNumber number, IDisk disk, string why)
    {
        core.Notice($"{disk.Identity.Uri} {why}.");
        await pool.Evict(number, $"the device {why}");
    }
}
