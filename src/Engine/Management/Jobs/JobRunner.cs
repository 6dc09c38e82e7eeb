using TierSpaces.Engine.Devices;
using TierSpaces.Engine.Formats;
using TierSpaces.Engine.Jobs;
using TierSpaces.Engine.Lanes;
using TierSpaces.Engine.Pools;
using TierSpaces.Engine.Primitives;
using TierSpaces.Engine.VirtualDisks;

namespace TierSpaces.Engine.Management;

// Jobs of virtual disks and pools. Their state is a job record in the metadata of their pool, so that whichever host opens the pool goes on with
// them; so are the schedule of verifying and when each virtual disk was last verified. A list of what has ended is kept in memory only.

/// <summary>Runs jobs of virtual disks and pools, and keeps their records.</summary>
internal sealed class JobRunner(SubsystemCore core)
{
    private readonly JobList _jobs = new(core.Lane);

    /// <summary>Jobs at work, and those that ended in the last ten minutes, oldest first.</summary>
    internal IReadOnlyList<StorageJob> All => _jobs.All;

    /// <summary>Jobs of a pool that are at work.</summary>
    internal IEnumerable<StorageJob> Running(Guid pool) => _jobs.Running(pool);

    /// <summary>Stops the jobs of a pool that is about to be closed; they go on when it is open again.</summary>
    internal LaneTask<Nothing> Suspend(ManagedPool managed) => _jobs.Stop(job => job.Spec.Pool == managed.Id.Value, JobState.Suspended);

    /// <summary>Stops every job; they go on when their pools are open again.</summary>
    internal LaneTask<Nothing> SuspendAll() => _jobs.Stop(static _ => true, JobState.Suspended);

    /// <summary>Begins a job.</summary>
    /// <param name="managed">Its pool.</param>
    /// <param name="spec">Specification of the job.</param>
    /// <param name="ended">Called on the lane after the job has ended and its result is saved.</param>
    internal StorageJob Run(ManagedPool managed, JobSpec spec, Func<StorageJob, LaneTask<Nothing>>? ended = null)
    {
        Func<JobPacing> pacing = spec.Kind == JobKind.Repair ? () => core.Repair.Pacing : () => core.Options.JobPacing;
        JobPacer pacer = new(core.Lane, pacing, () => managed.Clients, () => _jobs.Running(spec.Pool).Count(), spec.Latency);
        StorageJob job = _jobs.Start(spec, pacer);
        Follow(managed, job, managed.Pool?.Load, ended).Forget();
        return job;
    }

    /// <summary>Saves the progress of a job; null: forgets it.</summary>
    internal static async LaneTask<Nothing> Save(ManagedPool managed, Guid id, JobProgress? progress)
    {
        if (managed.Pool is { HasLostQuorum: false } pool && (progress is not null || pool.State.Jobs.ContainsKey(id)))
        {
            await pool.Commit(new JobRecord(id, progress?.Encode() ?? []));
        }

        return default;
    }

    /// <summary>Ends the jobs of a virtual disk that is to be removed, for good, and forgets them.</summary>
    internal async LaneTask<Nothing> EndOf(ManagedPool managed, Guid virtualDisk)
    {
        await _jobs.Stop(job => job.Spec.VirtualDisk == virtualDisk, JobState.Terminated);
        await WaitForMoves(managed);
        await Save(managed, virtualDisk, null);
        return default;
    }

    /// <summary>The repair of a virtual disk that is under way.</summary>
    internal StorageJob? RepairOf(ManagedPool managed, ManagedVirtualDisk disk) => _jobs.Running(managed.Id.Value)
        .LastOrDefault(job => job.Spec.VirtualDisk == disk.Description.Id.Value && job.Spec.Kind == JobKind.Repair);

    /// <summary>The job that spreads the slabs of a pool, while one is under way.</summary>
    internal StorageJob? RebalanceOf(ManagedPool managed) => _jobs.Running(managed.Id.Value).LastOrDefault(job => job.Spec.Kind == JobKind.Optimize);

    /// <summary>A record that a virtual disk has been verified now.</summary>
    internal JobProgress LastScrub(Guid virtualDisk) => new()
    {
        Kind = JobKind.LastScrub, Subject = virtualDisk, UtcTicks = core.Lane.UtcNow.UtcTicks,
    };

    /// <summary>Waits for the end of a job, reports its result, and records that the virtual disk has been verified.</summary>
    private async LaneTask Follow(ManagedPool managed, StorageJob job, PoolLoad? load, Func<StorageJob, LaneTask<Nothing>>? ended)
    {
        load?.BeginWork();
        await job.WaitForEnd();
        load?.EndWork();
        JobSpec spec = job.Spec;
        if (job.State == JobState.Completed)
        {
            core.Notice($"{spec.Description}: {job.Status}.");
            if (spec.Kind is JobKind.Repair or JobKind.Scrub && spec.Verify is not { IsGiven: false })
            {
                await Save(managed, spec.VirtualDisk, LastScrub(spec.VirtualDisk));
            }
        }
        else if (job.State == JobState.Exception)
        {
            core.Notice($"{spec.Description} could not go on: {job.ErrorDescription}.");
        }

        if (ended is not null)
        {
            await ended(job);
        }
    }

    /// <summary>Completes when no slab of a virtual disk that has been taken off the list is on its way any more.</summary>
    private async LaneTask<Nothing> WaitForMoves(ManagedPool managed)
    {
        if (RebalanceOf(managed) is { } job)
        {
            await job.Spec.Steps.OfType<OptimizeStep>().Single().WaitForMove();
        }

        return default;
    }
}
