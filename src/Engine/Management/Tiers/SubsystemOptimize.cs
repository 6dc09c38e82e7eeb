using TierSpaces.Engine.Formats;
using TierSpaces.Engine.Jobs;
using TierSpaces.Engine.Lanes;
using TierSpaces.Engine.Primitives;
using TierSpaces.Engine.VirtualDisks;

namespace TierSpaces.Engine.Management;

// Optimizing a pool: its slabs are spread over its disks again, for example after disks were added. One job per pool, at the
// pace of all jobs.
public sealed partial class StorageSubsystem
{
    /// <summary>
    /// Spreads the slabs of a pool evenly over its disks. Joins a job of the same pool that does so already. Completes when the job has ended,
    /// however it has.
    /// </summary>
    /// <exception cref="RefusedException">The pool is not there, not open, or read-only.</exception>
    public Task<JobStatus> OptimizePoolAsync(Guid pool) => _lane.InvokeAsync(async LaneTask<JobStatus> () =>
    {
        StorageJob job = await InTurn(() => LaneTask.FromResult(StartOptimize(OpenPool(pool))));   // the wait holds up no other verb
        await job.WaitForEnd();
        return JobStatus.Of(job);
    });

    private StorageJob StartOptimize(ManagedPool managed)
    {
        RequireWritable(managed);
        return OptimizeOf(managed) ?? RunOptimize(managed, _lane.NewGuid(), null);
    }

    private static void RequireWritable(ManagedPool managed)
    {
        PoolDescription pool = managed.Pool!.State.Pool!;
        if (pool.IsReadOnly)
        {
            throw new RefusedException(Refusal.PoolReadOnly, $"Storage pool '{pool.FriendlyName}' is read-only.", "Set -IsReadOnly $false first.");
        }
    }

    private StorageJob? OptimizeOf(ManagedPool managed) => _jobs.Running(managed.Id.Value).LastOrDefault(job => job.Spec.Kind == JobKind.Optimize);

    private StorageJob RunOptimize(ManagedPool managed, Guid id, JobProgress? resumed) => Run(managed, new JobSpec
    {
        Id = id,
        Kind = JobKind.Optimize,
        Name = nameof(JobKind.Optimize),
        Description = $"Spreads storage pool {managed.State!.Pool!.FriendlyName} evenly over its disks",
        Pool = managed.Id.Value,
        VirtualDisk = Guid.Empty,
        Steps = [new OptimizeStep(managed.Pool!, () => [.. managed.VirtualDisks.Values.Select(disk => disk.Open)])],
        Resumed = resumed,
        Save = progress => SaveJob(managed, id, progress is null ? null : progress with { Subject = managed.Id.Value }),
    });

    /// <summary>Completes when no slab of a virtual disk that has been taken off the list is on its way any more.</summary>
    private async LaneTask<Nothing> WaitForMoves(ManagedPool managed)
    {
        if (OptimizeOf(managed) is { } job)
        {
            await job.Spec.Steps.OfType<OptimizeStep>().Single().WaitForMove();
        }

        return default;
    }
}
