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
public sealed partial class StorageSubsystem
{
    private const long SchedulePollNs = 60_000_000_000;
    private static readonly TimeSpan s_scrubIntervalDefault = TimeSpan.FromDays(14);

    private readonly JobList _jobs;

    /// <summary>Jobs at work, and those that ended in the last ten minutes, oldest first.</summary>
    public Task<JobStatus[]> JobsAsync() => Look(() => _jobs.All.Select(JobStatus.Of).ToArray());

    /// <summary>The same, for callers on the lane.</summary>
    internal IReadOnlyList<StorageJob> ListedJobs => _jobs.All;

    /// <summary>An open virtual disk, for callers on the lane.</summary>
    internal OpenVirtualDisk OpenedDisk(Guid id) => OpenDisk(id).Disk.Open;

    /// <summary>Stops a job for good; completes when it has stopped.</summary>
    /// <exception cref="RefusedException">There is no such job, or it has ended.</exception>
    public Task<JobStatus> StopJobAsync(Guid id) => _lane.InvokeAsync(async LaneTask<JobStatus> () =>
    {
        StorageJob job = TakeRunning(id);
        await job.Stop(JobState.Terminated);
        return JobStatus.Of(job);
    });

    private StorageJob TakeRunning(Guid id)
    {
        StorageJob job = _jobs.All.FirstOrDefault(job => job.Spec.Id == id)
            ?? throw new RefusedException(Refusal.ObjectNotFound, $"There is no storage job {id}.", "Look at Get-StorageJob.");
        return !job.HasEnded ? job : throw new RefusedException(
            Refusal.InvalidParameter, $"Storage job '{job.Spec.Name}' ({id}) has ended: {job.State}.", "Only a job that runs can be stopped.");
    }

    /// <summary>
    /// Repairs a virtual disk: copies that are behind are brought up to date, copies on retired disks, and on missing ones where the pool's
    /// policy gives those up, are made anew on other disks; then everything is verified and healed. Joins a repair of
    /// the same virtual disk that is under way. Completes when the job has ended, however it has.
    /// </summary>
    /// <exception cref="RefusedException">The virtual disk is not there, or cannot be used.</exception>
    public Task<JobStatus> RepairVirtualDiskAsync(Guid virtualDisk) => _lane.InvokeAsync(async LaneTask<JobStatus> () =>
    {
        StorageJob job = await InTurn(() => LaneTask.FromResult(StartRepair(virtualDisk)));   // the wait holds up no other verb
        await job.WaitForEnd();
        return JobStatus.Of(job);
    });

    /// <summary>How often the virtual disks of a pool are verified; zero for never.</summary>
    public Task<TimeSpan> ScrubIntervalAsync(Guid pool) => Look(() => ScrubInterval(OpenPool(pool).Pool!));

    /// <summary>Sets how often the virtual disks of a pool are verified.</summary>
    /// <param name="pool">The pool.</param>
    /// <param name="interval">From one minute on, or zero for never; whole seconds count.</param>
    /// <exception cref="RefusedException">The interval is outside its range or the pool is not open; nothing was changed.</exception>
    public Task<bool> SetScrubIntervalAsync(Guid pool, TimeSpan interval) => Change(async LaneTask<bool> () =>
    {
        if (interval != TimeSpan.Zero && (interval < TimeSpan.FromMinutes(1) || interval > TimeSpan.FromDays(3650)))
        {
            throw new RefusedException(
                Refusal.InvalidParameter, $"A scrub interval of {interval} is not possible; it is zero (never) or from one minute to 3650 days.", "Choose another.");
        }

        ManagedPool managed = OpenPool(pool);
        JobProgress setting = new()
        {
            Kind = JobKind.ScrubInterval, Subject = pool, UtcTicks = _lane.UtcNow.UtcTicks, Cursor = (long)interval.TotalSeconds,
        };
        Require(await managed.Pool!.Commit(new JobRecord(pool, setting.Encode())), managed.Pool.State.Pool!.FriendlyName);
        return true;
    });

    /// <summary>
    /// What repairing consists of, in order; a step's name is what a repair that was interrupted is resumed by.
    /// </summary>
    private List<IJobStep> RepairSteps(ManagedPool managed, ManagedVirtualDisk disk) =>
    [
        .. disk.Open.Parts.Select(part => new ResyncStep(part.Space, TierOf(disk, part))),
        .. disk.Open.Lent is { } lent ? [new ResyncStep(lent.Rings, "write cache")] : Array.Empty<IJobStep>(),
        new RegenerateStep(new SlabMover(managed.Pool!, disk.Open), disk.Open, managed.Pool!.Slabs.DataBytes),
        .. ScrubSteps(managed, disk),
    ];

    /// <summary>Verifying a virtual disk, and what its pool keeps about it.</summary>
    private List<IJobStep> ScrubSteps(ManagedPool managed, ManagedVirtualDisk disk)
    {
        ScrubStep[] scrubs = [.. disk.Open.Parts.Select(part => new ScrubStep(part.Space, TierOf(disk, part)))];
        return [.. scrubs, new MetadataScrubStep(managed.Pool!, scrubs[^1].Findings, (found, finding, count) => _reliability.Note(found.Id.Value, finding, count))];
    }

    private static string TierOf(ManagedVirtualDisk disk, OpenPart part) => disk.Open.Description.IsTiered ? disk.Open.Description.Part(part.Number)!.FriendlyName : "";

    private StorageJob StartRepair(Guid virtualDisk)
    {
        (ManagedPool managed, ManagedVirtualDisk disk) = OpenDisk(virtualDisk);
        RequireRepairable(disk);
        StorageJob job = RepairOf(managed, disk) ?? StartJob(managed, disk, JobKind.Repair, _lane.NewGuid(), null);
        RegenerateStep regenerate = job.Spec.Steps.OfType<RegenerateStep>().Single();
        if (!regenerate.GivesUpMissing)
        {
            regenerate.GivesUpMissing = true;
            if (job.Step is not (ResyncStep or RegenerateStep) && regenerate.BytesToMove > 0)
            {
                job.BeginAgain();
            }
        }

        return job;
    }

    private static void RequireRepairable(ManagedVirtualDisk disk)
    {
        if (disk.Open.Fault != IoError.None)
        {
            throw new RefusedException(
                Refusal.VirtualDiskStateForbids,
                $"Virtual disk '{disk.Open.Description.FriendlyName}' cannot be repaired while it is detached: {disk.Open.FaultReason}.",
                "Bring its missing disks back, then run Update-StoragePool.");
        }
    }

    private StorageJob StartJob(ManagedPool managed, ManagedVirtualDisk disk, JobKind kind, Guid id, JobProgress? resumed)
    {
        string name = disk.Open.Description.FriendlyName;
        return Run(managed, new JobSpec
        {
            Id = id,
            Kind = kind,
            Name = kind.ToString(),
            Description = kind == JobKind.Repair ? $"Repairs virtual disk {name}" : $"Verifies virtual disk {name}",
            Pool = managed.Id.Value,
            VirtualDisk = disk.Open.Description.Id.Value,
            Steps = kind == JobKind.Repair ? RepairSteps(managed, disk) : ScrubSteps(managed, disk),
            Resumed = resumed,
            Save = progress => SaveJob(managed, id, progress),
        });
    }

    private StorageJob Run(ManagedPool managed, JobSpec spec)
    {
        JobPacer pacer = new(_lane, _options.JobPacing, () => ForegroundOf(managed), () => _jobs.Running(spec.Pool).Count());
        StorageJob job = _jobs.Start(spec, pacer);
        FollowJob(managed, job).Forget();
        return job;
    }

    /// <summary>When it has ended: says what came out, and remembers that the virtual disk has been verified.</summary>
    private async LaneTask FollowJob(ManagedPool managed, StorageJob job)
    {
        await job.WaitForEnd();
        JobSpec spec = job.Spec;
        if (job.State == JobState.Completed)
        {
            _options.Notice($"{spec.Description}: {job.Status}.");
            if (spec.Kind is JobKind.Repair or JobKind.Scrub)
            {
                await SaveJob(managed, spec.VirtualDisk, LastScrub(spec.VirtualDisk));
            }
        }
        else if (job.State == JobState.Exception)
        {
            _options.Notice($"{spec.Description} could not go on: {job.ErrorDescription}.");
        }

        if (spec.Kind == JobKind.Repair)
        {
            NoteRepairEnded(managed, job);
        }
    }

    private static async LaneTask<Nothing> SaveJob(ManagedPool managed, Guid id, JobProgress? progress)
    {
        if (managed.Pool is { HasLostQuorum: false } pool && (progress is not null || pool.State.Jobs.ContainsKey(id)))
        {
            await pool.Commit(new JobRecord(id, progress?.Encode() ?? []));
        }

        return default;
    }

    /// <summary>Goes on with the jobs of a pool that has just been opened; forgets those of virtual disks that are gone.</summary>
    private async LaneTask<Nothing> ResumeJobs(ManagedPool managed)
    {
        foreach (JobRecord record in managed.Pool!.State.Jobs.Values.ToArray())
        {
            if (JobProgress.TryDecode(record.State) is not { } progress || progress.Kind is JobKind.ScrubInterval or JobKind.TierSchedule)
            {
                continue;   // of a later version: kept for it
            }

            if (progress.Kind is JobKind.OptimizeTiers or JobKind.PlacePins && managed.VirtualDisks.TryGetValue(new VirtualDiskId(progress.Subject), out ManagedVirtualDisk? tiered)
                && tiered.Open is { Tiering: not null, Fault: IoError.None })
            {
                RunOptimizeTiers(managed, tiered, progress.Kind, record.Job, progress);
            }
            else if (progress.Kind == JobKind.Optimize)
            {
                RunOptimize(managed, record.Job, progress);
            }
            else if (managed.State!.VirtualDisk(new VirtualDiskId(progress.Subject)) is null)
            {
                await SaveJob(managed, record.Job, null);
            }
            else if (progress.Kind is JobKind.Repair or JobKind.Scrub
                && managed.VirtualDisks.TryGetValue(new VirtualDiskId(progress.Subject), out ManagedVirtualDisk? disk)
                && disk.Open.Fault == IoError.None)
            {
                StartJob(managed, disk, progress.Kind, record.Job, progress);
            }
        }

        return default;
    }

    /// <summary>Verifies what has not been verified for too long: one virtual disk of a pool at a time.</summary>
    private async LaneTask WatchSchedule()
    {
        while (!_stopped)
        {
            await _lane.Delay(SchedulePollNs);
            if (!_stopped)
            {
                GatherReliability();
                SaveReliability();
            }

            foreach (ManagedPool managed in _pools.Values.ToArray())
            {
                foreach (ManagedVirtualDisk disk in managed.VirtualDisks.Values.ToArray())
                {
                    await StartScrubWhenDue(managed, disk);
                }

                await TendTiers(managed);
            }
        }
    }

    private async LaneTask<Nothing> StartScrubWhenDue(ManagedPool managed, ManagedVirtualDisk disk)
    {
        Guid id = disk.Open.Description.Id.Value;
        if (_stopped || _verbRunning || managed.Pool is not { HasLostQuorum: false } pool || disk.Open.Fault != IoError.None)
        {
            return default;
        }

        TimeSpan interval = ScrubInterval(pool);
        if (!pool.State.Jobs.TryGetValue(id, out JobRecord? record) || JobProgress.TryDecode(record.State) is not { } last)
        {
            await SaveJob(managed, id, LastScrub(id));   // the interval counts from when it was first seen
        }
        else if (interval > TimeSpan.Zero && _lane.UtcNow.UtcTicks - last.UtcTicks >= interval.Ticks && !_jobs.Running(managed.Id.Value).Any())
        {
            StartJob(managed, disk, JobKind.Scrub, _lane.NewGuid(), null);
        }

        return default;
    }

    private JobProgress LastScrub(Guid virtualDisk) => new()
    {
        Kind = JobKind.LastScrub, Subject = virtualDisk, UtcTicks = _lane.UtcNow.UtcTicks,
    };

    private static TimeSpan ScrubInterval(Pool pool) =>
        pool.State.Jobs.TryGetValue(pool.Id.Value, out JobRecord? record) && JobProgress.TryDecode(record.State) is { } setting
            ? TimeSpan.FromSeconds(setting.Cursor) : s_scrubIntervalDefault;

    private static (long Completed, int UnderWay) ForegroundOf(ManagedPool managed)
    {
        long completed = 0;
        int underWay = 0;
        foreach (ManagedVirtualDisk disk in managed.VirtualDisks.Values)
        {
            IoCounters counters = disk.Open.Disk.Counters;
            completed += counters.ReadOperations + counters.WriteOperations + counters.FlushOperations + counters.UnmapOperations;
            underWay += counters.Queue;
        }

        return (completed, underWay);
    }

    /// <summary>Ends the jobs of a virtual disk that is to be removed, for good, and forgets them.</summary>
    private async LaneTask<Nothing> EndJobsOf(ManagedPool managed, Guid virtualDisk)
    {
        await _jobs.Stop(job => job.Spec.VirtualDisk == virtualDisk, JobState.Terminated);
        await WaitForMoves(managed);
        await SaveJob(managed, virtualDisk, null);
        return default;
    }
}
