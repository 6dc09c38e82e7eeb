using TierSpaces.Engine.Formats;
using TierSpaces.Engine.Jobs;
using TierSpaces.Engine.Lanes;
using TierSpaces.Engine.Pools;
using TierSpaces.Engine.Primitives;
using TierSpaces.Engine.VirtualDisks;

namespace TierSpaces.Engine.Management;

// Optimizing a pool: its slabs are spread over its disks again, for example after disks were added. One job per pool, at the
// pace of all jobs.

/// <summary>Spreads the slabs of pools over their disks: one job per pool.</summary>
public sealed class RebalanceService
{
    private const int PlannedMost = 1024;   // slabs: each of them goes over the rows of the pool

    private readonly SubsystemCore _core;
    private readonly JobRunner _runner;

    internal RebalanceService(SubsystemCore core, JobRunner runner) => (_core, _runner) = (core, runner);

    /// <summary>
    /// Spreads the slabs of a pool evenly over its disks. Joins a job of the same pool that does so already. Completes when the job has ended,
    /// however it has.
    /// </summary>
    /// <exception cref="ManagementException">The pool is not there, not open, or read-only.</exception>
    public Task<JobStatus> OptimizeAsync(Guid pool) => _core.Lane.InvokeAsync(async LaneTask<JobStatus> () =>
    {
        StorageJob job = await _core.Verbs.Enqueue(() => LaneTask.FromResult(StartOptimize(_core.Pools.TakeOpen(pool))));   // the wait holds up no other verb
        await job.WaitForEnd();
        return JobStatus.Of(job);
    });

    /// <summary>Returns the slabs that <see cref="OptimizeAsync"/> would move, the first 1,024 of them. Refuses what that would refuse.</summary>
    public Task<PlannedSlabMoves> PlanAsync(Guid id) => _core.Verbs.Plan(
        () =>
        {
            ManagedPool managed = _core.Pools.TakeOpen(id);
            managed.RequireWritable();
            VirtualDiskDescription[] disks = [.. managed.VirtualDisks.Values.Select(static disk => disk.Description)];
            return (Pools: _core.Pools.Snapshot(), managed.Id, Disks: disks);
        },
        static at =>
        {
            SlabForecast forecast = new(at.Pools);
            long more = forecast.Rebalance(at.Id, at.Disks, PlannedMost);
            return new PlannedSlabMoves(at.Pools[at.Id].Slabs.DataBytes, forecast.Moves(), more);
        });

    private StorageJob StartOptimize(ManagedPool managed)
    {
        managed.RequireWritable();
        return _runner.RebalanceOf(managed) ?? Start(managed, _core.Lane.NewGuid(), null);
    }

    internal StorageJob Start(ManagedPool managed, Guid id, JobProgress? resumed) => _runner.Run(managed, new JobSpec
    {
        Id = id,
        Kind = JobKind.Optimize,
        Name = nameof(JobKind.Optimize),
        Description = $"Spreads storage pool {managed.State!.Pool!.FriendlyName} evenly over its disks",
        Pool = managed.Id.Value,
        VirtualDisk = Guid.Empty,
        Steps = [new OptimizeStep(managed.Pool!, () => [.. managed.VirtualDisks.Values.Select(static disk => (disk.Opened, disk.Lane))])],
        Resumed = resumed,
        Save = progress => JobRunner.Save(managed, id, progress is null ? null : progress with { Subject = managed.Id.Value }),
    });
}
