using TierSpaces.Engine.Formats;
using TierSpaces.Engine.Jobs;
using TierSpaces.Engine.Pools;
using TierSpaces.Engine.Primitives;

namespace TierSpaces.Engine.Management;

/// <summary>Takes snapshots of a subsystem, on the lane.</summary>
internal sealed class Snapshots(SubsystemCore core, JobRunner runner, ReliabilityRecords reliability)
{
    /// <summary>Takes a snapshot of every object. Takes time in proportion to the objects, never to rows or slabs.</summary>
    internal SubsystemSnapshot Take() => Take(null);

    /// <summary>Gathers the reliability counters, then takes a snapshot with them.</summary>
    internal SubsystemSnapshot TakeWithReliability()
    {
        reliability.Gather();
        return Take(reliability.Copy());
    }

    private SubsystemSnapshot Take(Dictionary<Guid, DiskReliability>? counters)
    {
        Dictionary<PoolId, PoolSnapshot> open = core.Pools.Snapshot();
        List<JobStatus> jobs = [];
        Dictionary<(Guid Pool, Guid Disk), JobStatus> repairs = [];   // the newest of each virtual disk
        foreach (StorageJob job in runner.All)
        {
            JobStatus status = JobStatus.Of(job);
            jobs.Add(status);
            if (!job.HasEnded && job.Spec.Kind == JobKind.Repair)
            {
                repairs[(job.Spec.Pool, job.Spec.VirtualDisk)] = status;
            }
        }

        return new SubsystemSnapshot(
            core.Lane.NowNs, [.. core.Disks.All.Select(static disk => disk.Copy())],
            [.. core.Pools.All.Select(managed => Copy(managed, open.GetValueOrDefault(managed.Id), repairs))], jobs, reliability.PastThreshold.ToHashSet(),
            counters);
    }

    private static ManagedPoolSnapshot Copy(ManagedPool managed, PoolSnapshot? pool, Dictionary<(Guid Pool, Guid Disk), JobStatus> repairs) => new(
        managed, pool, managed.VirtualDisks.ToDictionary(
            static disk => disk.Key, disk => new VirtualDiskSnapshot(disk.Value, repairs.GetValueOrDefault((managed.Id.Value, disk.Key.Value)))));
}
