using TierSpaces.Engine.Lanes;
using TierSpaces.Engine.Primitives;

namespace TierSpaces.Engine.Jobs;

/// <summary>The jobs of a host: those at work and, for ten minutes, those that have ended. The lane of the jobs changes the list; any lane reads it.</summary>
public sealed class JobList(ILane lane)
{
    /// <summary>Time for which a job that has ended stays listed, in nanoseconds.</summary>
    public const long RemovalNs = 600_000_000_000;

    private volatile StorageJob[] _jobs = [];   // replaced as a whole

    /// <summary>Every job that is listed, oldest first.</summary>
    public IReadOnlyList<StorageJob> All
    {
        get
        {
            if (Array.Exists(_jobs, IsOld))
            {
                _jobs = Array.FindAll(_jobs, job => !IsOld(job));
            }

            return _jobs;
        }
    }

    /// <summary>Jobs of a pool that are at work.</summary>
    public IEnumerable<StorageJob> Running(Guid pool) => _jobs.Where(job => !job.HasEnded && job.Spec.Pool == pool);

    /// <summary>Begins a job.</summary>
    public StorageJob Start(JobSpec spec, JobPacer pacer)
    {
        StorageJob job = new(lane, spec, pacer);
        _jobs = [.. _jobs.Where(other => !other.HasEnded || other.Spec.Id != spec.Id), job];   // a suspended one is taken up again
        job.Run().Forget();
        return job;
    }

    /// <summary>Ends the selected jobs, each after its piece under way, and completes when they have ended.</summary>
    /// <param name="isMeant">Selects the jobs.</param>
    /// <param name="end">Terminated: for good. Suspended: they go on when their pool is open again.</param>
    public async LaneTask<Nothing> Stop(Predicate<StorageJob> isMeant, JobState end)
    {
        LaneTask<Nothing>[] stops = [.. Array.FindAll(_jobs, job => !job.HasEnded && isMeant(job)).Select(job => job.Stop(end))];
        foreach (LaneTask<Nothing> stop in stops)
        {
            await stop;
        }

        return default;
    }

    private bool IsOld(StorageJob job) => job.HasEnded && lane.NowNs - job.EndNs >= RemovalNs;
}
