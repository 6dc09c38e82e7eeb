using TierSpaces.Engine.Jobs;
using TierSpaces.Engine.Lanes;
using TierSpaces.Engine.Primitives;

namespace TierSpaces.Engine.Management;

/// <summary>Verbs of storage jobs.</summary>
public sealed class JobService
{
    private readonly SubsystemCore _core;
    private readonly JobRunner _runner;

    internal JobService(SubsystemCore core, JobRunner runner) => (_core, _runner) = (core, runner);

    /// <summary>Jobs at work, and those that ended in the last ten minutes, oldest first.</summary>
    public Task<JobStatus[]> ListAsync() => _core.Verbs.Look(() => _runner.All.Select(JobStatus.Of).ToArray());

    /// <summary>The jobs themselves, for callers on the lane.</summary>
    internal IReadOnlyList<StorageJob> Listed => _runner.All;

    /// <summary>Stops a job for good; completes when it has stopped.</summary>
    /// <exception cref="ManagementException">There is no such job, or it has ended.</exception>
    public Task<JobStatus> StopAsync(Guid id) => _core.Lane.InvokeAsync(async LaneTask<JobStatus> () =>
    {
        StorageJob job = TakeRunning(id);
        await job.Stop(JobState.Terminated);
        return JobStatus.Of(job);
    });

    /// <summary>
    /// Stops every job of a subsystem that is about to stop, so that the verbs which wait for jobs are answered. The jobs go on when their pools are open
    /// again.
    /// </summary>
    public Task SuspendAllAsync() => _core.Lane.InvokeAsync(_runner.SuspendAll);

    /// <summary>Refuses what <see cref="StopAsync"/> would refuse.</summary>
    public Task<bool> CheckStopAsync(Guid id) => _core.Verbs.Check(() => TakeRunning(id));

    private StorageJob TakeRunning(Guid id)
    {
        StorageJob job = _runner.All.FirstOrDefault(job => job.Spec.Id == id)
            ?? throw new ManagementException(ManagementError.ObjectNotFound, $"There is no storage job {id}.", "Look at Get-StorageJob.");
        return !job.HasEnded ? job : throw new ManagementException(
            ManagementError.InvalidParameter, $"Storage job '{job.Spec.Name}' ({id}) has ended: {job.State}.", "Only a job that runs can be stopped.");
    }
}
