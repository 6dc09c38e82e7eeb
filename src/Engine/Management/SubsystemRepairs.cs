using TierSpaces.Engine.Formats;
using TierSpaces.Engine.Jobs;
using TierSpaces.Engine.Pools;
using TierSpaces.Engine.Primitives;

namespace TierSpaces.Engine.Management;

// Disks that come back. A member that missed writes joins the view again as soon as it is seen, at the opening of its pool or later, and
// every virtual disk with something stale on it is repaired at once. A member that is not in the view is asked for again by
// Update-StoragePool, and whenever a disk is registered.
public sealed partial class StorageSubsystem
{
    /// <summary>Lets every disk of a pool that is there and outside the view take part again.</summary>
    private async LaneTask<Nothing> RejoinDisks(Pool pool)
    {
        foreach (DiskNumber number in pool.OutsideDisks.ToArray())
        {
            CommitResult joined = await pool.Rejoin(number);
            string name = pool.State.Disk(number)?.Description.FriendlyName ?? number.ToString();
            _options.Notice(joined.Succeeded
                ? $"Physical disk {name} is back; what it missed is brought up to date."
                : $"Physical disk {name} is back but cannot take part: {joined.Reason}");
        }

        return default;
    }

    /// <summary>Repairs the virtual disks of a pool that have something to repair; one that is repaired already begins again.</summary>
    private async LaneTask<Nothing> StartRepairs(ManagedPool managed)
    {
        foreach (ManagedVirtualDisk disk in managed.VirtualDisks.Values.ToArray())
        {
            if (disk.Open.Disk.Space is { Fault: IoError.None, BytesToResync: > 0 })
            {
                Guid id = disk.Open.Description.Id.Value;
                await _jobs.Stop(job => job.Spec.VirtualDisk == id && job.Spec.Kind == JobKind.Repair, JobState.Terminated);
                StartJob(managed, disk, JobKind.Repair, _lane.NewGuid(), null);
            }
        }

        return default;
    }

    /// <summary>Looks again for members of open pools that are not in their view.</summary>
    private async LaneTask<Nothing> ReturnMissingDisks()
    {
        foreach (RegisteredDisk disk in _registry.Disks.ToArray())
        {
            if (disk.Scan is not { Label: { } label } scan || !_pools.TryGetValue(label.Pool, out ManagedPool? managed)
                || managed.Pool is not { } pool || !pool.MissingDisks.Contains(label.Number) || pool.OutsideDisks.Contains(label.Number))
            {
                continue;
            }

            await OpenRegistered(disk);
            if (disk.Disk is null)
            {
                disk.Scan = scan;   // still away: what it was stays known
                disk.Problem = "";
            }
            else
            {
                await OfferOrOpen(disk);
            }
        }

        return default;
    }
}
