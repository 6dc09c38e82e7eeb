using TierSpaces.Engine.Pools;
using TierSpaces.Engine.Primitives;

namespace TierSpaces.Engine.Management;

// A member that missed writes joins the view again as soon as it is seen, at the opening of its pool or later, and every virtual disk with
// something stale on it is repaired at once.

/// <summary>Lets disks that are back take part in their pools again.</summary>
internal sealed class Rejoins(SubsystemCore core, VirtualDiskOpener disks)
{
    /// <summary>
    /// Lets every disk of a pool that is there and outside the view take part again, the one that left last first. Every virtual disk of the pool is
    /// open, or failed: those are opened again with each disk, before the next one joins. So what was dirty when a disk left is stale on it.
    /// </summary>
    internal async LaneTask<Nothing> RejoinAll(ManagedPool managed)
    {
        foreach (DiskNumber number in managed.Pool?.OutsideByDeparture ?? [])
        {
            if (managed.Pool is { HasLostQuorum: false } pool)
            {
                await Rejoin(managed, pool, number);
            }
        }

        return default;
    }

    /// <summary>Lets a disk take part again; returns whether it does.</summary>
    internal async LaneTask<bool> Rejoin(ManagedPool managed, Pool pool, DiskNumber number)
    {
        CommitResult joined = await pool.Rejoin(number);
        string name = pool.State.Disk(number)?.Description.FriendlyName ?? number.ToString();
        core.Notice(joined.Succeeded && joined.Reason.Length > 0 ? $"Physical disk {name} is back: {joined.Reason}"
            : joined.Succeeded ? $"Physical disk {name} is back; what it missed is brought up to date."
            : $"Physical disk {name} is back but cannot take part: {joined.Reason}");
        if (joined.Succeeded)
        {
            managed.NoteJoined();
            await disks.OpenFailed(managed);
        }

        return joined.Succeeded;
    }
}
