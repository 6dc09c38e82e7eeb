using TierSpaces.Engine.Lanes;
using TierSpaces.Engine.Pools;
using TierSpaces.Engine.Primitives;

namespace TierSpaces.Engine.Management;

// Disks that are still locked by a killed host. The kernel releases a file after the last request on it has ended, in the order in which files
// were closed: behind a large deleted file that takes a minute. Until then the host tries again every 100 ms, and the pool waits for its disks:
// opened without them, it would have to leave them out or detach its virtual disks.

/// <summary>Waits for disks that a killed host still holds, and opens their pools.</summary>
internal sealed class HeldDisks(SubsystemCore core, DiskOpener diskOpener, PoolOpener opener)
{
    private const long HeldLookNs = 100_000_000;
    private const long HeldPatienceNs = 300_000_000_000;

    /// <summary>Runs until no disk is held any more, its patience is at an end, or the host stops.</summary>
    internal async LaneTask Run()
    {
        long endNs = core.Lane.NowNs + HeldPatienceNs;
        if (!core.Disks.HasHeldDisks)
        {
            return;
        }

        core.Notice("Disks are still locked by a host process that has exited. Their pools are opened when the kernel has released the locks.");
        while (core.Disks.HasHeldDisks && !core.Verbs.IsStopped && core.Lane.NowNs < endNs)
        {
            await core.Lane.Delay(HeldLookNs);
            await core.Verbs.Enqueue(LookAtHeldDisks);
        }

        await core.Verbs.Enqueue(OpenPartly);
    }

    private async LaneTask<Nothing> LookAtHeldDisks()
    {
        foreach (RegisteredDisk disk in core.Disks.All.Where(disk => disk.Condition.IsStillHeld && !core.Verbs.IsStopped).ToArray())
        {
            await diskOpener.Open(disk);
            if (disk.Device.Open is not null)
            {
                await opener.OfferOrOpen(disk);
            }
        }

        return default;
    }

    /// <summary>Opens the pools with the disks that are present, after all held disks are released or the wait for them has ended.</summary>
    private async LaneTask<Nothing> OpenPartly() => core.Verbs.IsStopped ? default : await opener.Open();
}
