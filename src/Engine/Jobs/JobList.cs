using TierSpaces.Engine.Lanes;
using TierSpaces.Engine.Primitives;

namespace TierSpaces.Engine.Jobs;

/// <summary>The jobs of a host: those at work and, for ten minutes, those that have ended.</summary>
public sealed class JobList(ILane lane)
{
    /// <summary>Time for which a job that has ended stays listed, in nanoseconds.</summary>
    public const long RemovalNs = 600_000_000_000;

    private readonly List<StorageJob> _jobs = [];

    /// <summary>Every job that is listed, oldest first.</summary>
    public IReadOnlyList<StorageJob> All
    {
        get
        {
            _jobs.RemoveAll(job => job.HasEnded && lane.NowNs - job.EndNs >= RemovalNs);
            return _jobs;
        }
    }

    /// <summary>Jobs of a pool that are at work.</summary>
    public IEnumerable<StorageJob> Running(Guid pool) => _jobs.Where(job => !job.HasEnded && job.Spec.Pool == pool);

    /// <summary>Begins a job.</summary>
    public StorageJob Start(JobSpec spec, JobPacer pacer)
    {
        _jobs.RemoveAll(job => job.HasEnded && job.Spec.Id == spec.Id);   // suspended, and taken up again
        StorageJob job = new(lane, spec, pacer);
        _jobs.Add(job);
        job.Run().Forget();
        return job;
    }

    /// <summary>Ends the selected jobs, each after its piece under way, and completes when they have ended.</summary>
    /// <param name="isMeant">Selects the jobs.</param>
    /// <param name="end">Terminated: for good. Suspended: they go on when their pool is open again.</param>
    public async LaneTask<Nothing> Stop(Predicate<StorageJob> isMeant, JobState end)
    {
        foreach (StorageJob job in _jobs.FindAll(job => !job.HasEnded && isMeant(job)))
        {
            await job.Stop(end);
        }

        return default;
    }
}
