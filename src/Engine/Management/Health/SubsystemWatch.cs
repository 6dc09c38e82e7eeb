using TierSpaces.Engine.Devices;
using TierSpaces.Engine.Formats;
using TierSpaces.Engine.Pools;
using TierSpaces.Engine.Primitives;
using TierSpaces.Engine.VirtualDisks;

namespace TierSpaces.Engine.Management;

// Members that are no use any more leave their pool without waiting for the next write to find out:
//
//   an image that was truncated or unlinked, a device without its size   at once
//   a disk that lets requests pass their deadline                        when the pool can do without it: a quorum is left, and every
//                                                                        virtual disk has all it holds on other disks too
//
// A hung disk that cannot be spared stays; what needs it fails until it answers again.
public sealed partial class StorageSubsystem
{
    private const long WatchPeriodNs = 250_000_000;

    private async LaneTask WatchMembers()
    {
        while (!_stopped)
        {
            await _lane.Delay(WatchPeriodNs);
            foreach (ManagedPool managed in _pools.Values.ToArray())
            {
                if (managed.Pool is { } pool && !_stopped)
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
                TakeOut(pool, number, disk, "is gone").Forget();
            }
            else if (disk is MeteredDisk { IsHung: true } && CanSpare(managed, pool, number))
            {
                TakeOut(pool, number, disk, "does not answer").Forget();
            }
        }
    }

    private bool CanSpare(ManagedPool managed, Pool pool, DiskNumber number) =>
        pool.CanSpare(number) && UsersOf(managed).All(user => user.Disk.Open.SurvivesWithout(pool, number.Value));

    private async LaneTask TakeOut(Pool pool, DiskNumber number, IDisk disk, string why)
    {
        _options.Notice($"{disk.Identity.Uri} {why}.");
        await pool.Evict(number, $"the device {why}");
    }
}
