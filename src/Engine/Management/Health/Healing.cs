using TierSpaces.Engine.Lanes;
using TierSpaces.Engine.Pools;
using TierSpaces.Engine.Primitives;

namespace TierSpaces.Engine.Management;

// Actions of a pool on its disks without a command:
//
//   the majority of its votes is lost     it is closed, and opened again when the majority is back (LostPools)
//   a member is missing                   it is looked for; when it is back it takes part again, and what it missed is copied (MissingDisks)
//   one that is back cannot take part     it is tried again, later each time (MissingDisks)
//   a disk of a write cache is back       a virtual disk that waits for it, because no other disk of its cache is there, is opened again
//   it is missing past the grace time     it is given up (Usage Retired), if RetireMissingPhysicalDisks says so and a slab on it can be rebuilt elsewhere
//                                         (MissingDisks)
//   a path of a disk is gone              it is closed, and looked for; the disk is used by its other paths (DiskPaths)
//   a copy of a disk is taken away        the one that is left is used (MissingDisks)
//   a disk has had too many errors        it is retired as well, if there is room for all that it holds (FailingDisks)
//   a retired disk holds slabs            each virtual disk is repaired as soon as one of those slabs has somewhere to go (RepairService)
//
// Invariants
//  1. Changes of a pool run in the verb queue; looking for a disk does not, because a disk may take long to answer.

/// <summary>Runs once a second the actions of pools on their disks.</summary>
internal sealed class Healing(
    SubsystemCore core, MissingDisks missing, LostPools lost, VirtualDiskOpener disks, FailingDisks failing, WriteCacheService caches, RepairService repairs,
    RemoteCaches remote, DiskPaths paths)
{
    private const long TendPeriodNs = 1_000_000_000;

    /// <summary>Runs until the host stops.</summary>
    internal async LaneTask Run()
    {
        while (!core.Verbs.IsStopped)
        {
            await core.Lane.Delay(TendPeriodNs);
            if (!core.Verbs.IsStopped)
            {
                missing.NoteAbsences();
                missing.LookForMissing();
                paths.LookForPaths();
                await core.Verbs.Enqueue(Tend);
            }
        }
    }

    private async LaneTask<Nothing> Tend()
    {
        await missing.LeaveGoneCopies();
        foreach (ManagedPool managed in core.Pools.All.ToArray())
        {
            if (!core.Verbs.IsStopped)
            {
                await lost.Tend(managed);
            }

            if (!core.Verbs.IsStopped && managed.Pool is { HasLostQuorum: false } pool)
            {
                await missing.RetryRejoins(managed, pool);
                await disks.OpenFailedLate(managed);
                await disks.ReopenDecided(managed);
                await missing.GiveUpMissing(managed, pool);
                await failing.RetireFailing(managed, pool);
                await caches.BringBackReturned(managed);
                await caches.RemoveGivenUp(managed);
                await repairs.BeginRepairs(managed, pool);
            }
        }

        await remote.GiveBackUnnamed();

        return default;
    }
}
