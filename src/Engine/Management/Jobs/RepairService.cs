using TierSpaces.Engine.Formats;
using TierSpaces.Engine.Jobs;
using TierSpaces.Engine.Lanes;
using TierSpaces.Engine.Pools;
using TierSpaces.Engine.Primitives;
using TierSpaces.Engine.Resiliency;
using TierSpaces.Engine.VirtualDisks;

namespace TierSpaces.Engine.Management;

// Invariants
//  1. A virtual disk has one repair. One that is past its rebuilding begins again when there is something to rebuild.
//  2. Stale copies that can be made whole are repaired: at once, and after a repair that left some, later each time that one leaves more than half of what
//     the one before left. A repair that a user has stopped begins again when another disk is back or is to be left.
//  3. A repair that began by itself does not verify, and is not kept in the metadata: with the next host it begins by itself again.
//  4. Where the pool says so, no repair begins or goes on while that of another virtual disk is under way.
//  5. A disk that slabs are to leave is looked at when it first is one, whatever time the next look has.

/// <summary>Repairs virtual disks, on command and by itself.</summary>
public sealed class RepairService
{
    private readonly SubsystemCore _core;
    private readonly JobRunner _runner;
    private readonly ReliabilityRecords _reliability;

    internal RepairService(
        SubsystemCore core, JobRunner runner, ReliabilityRecords reliability) =>
        (_core, _runner, _reliability) = (core, runner, reliability);

    /// <summary>
    /// Share of the disks that repairs have while clients use them: 1, 2, 4 (the default), 8 or 16. It outlives the host; repairs under way take it at their
    /// next pause.
    /// </summary>
    /// <exception cref="ArgumentOutOfRangeException">It is another number.</exception>
    /// <exception cref="IOException">It could not be made durable; nothing has changed.</exception>
    public int QueueDepth
    {
        get => _core.Repair.Depth;
        set
        {
            if (!RepairSpeed.IsPossible(value))
            {
                throw new ArgumentOutOfRangeException(nameof(value), value, "1, 2, 4, 8 or 16.");
            }

            _core.Repair.Set(value);
        }
    }

    /// <summary>
    /// Repairs a virtual disk: copies that are behind are brought up to date, copies on retired disks, and on missing ones where the pool's
    /// policy gives those up, are rebuilt on other disks; then everything is verified and healed. Joins a repair of
    /// the same virtual disk that is under way, which verifies from then on too. Where the virtual disks of the pool are repaired in turn, it begins when the
    /// repairs of others have ended. Completes when the job has ended, however it has.
    /// </summary>
    /// <param name="virtualDisk">The virtual disk.</param>
    /// <param name="givesUpDoubt">Whether blocks in doubt are given up that only retired disks which are missing may have.</param>
    /// <exception cref="ManagementException">The virtual disk is not there, or cannot be used.</exception>
    public Task<JobStatus> RepairAsync(Guid virtualDisk, bool givesUpDoubt = false) => _core.Lane.InvokeAsync(async LaneTask<JobStatus> () =>
    {
        _ = givesUpDoubt ? await _core.Verbs.Enqueue(() => GiveUpDoubt(virtualDisk)) : default;
        StorageJob job = await _core.Verbs.Enqueue(() => LaneTask.FromResult(StartRepair(virtualDisk)));   // the waits hold up no other verb
        while (job.Spec.VirtualDisk != virtualDisk)
        {
            await job.WaitForEnd();
            job = await _core.Verbs.Enqueue(() => LaneTask.FromResult(StartRepair(virtualDisk)));
        }

        await job.WaitForEnd();
        return JobStatus.Of(job);
    });

    private async LaneTask<Nothing> GiveUpDoubt(Guid virtualDisk)
    {
        (ManagedPool managed, ManagedVirtualDisk disk) = _core.Pools.TakeDisk(virtualDisk);
        RequireRepairable(disk);
        Pool pool = managed.Pool!;
        DiskNumber[] retired = [.. pool.MissingDisks.Where(number => pool.State.Disk(number) is { Description.Usage: DiskUsage.Retired })];
        await disk.Ask(open =>
        {
            open.GiveUp(retired);
            return default(Nothing);
        });
        return default;
    }

    /// <summary>Returns the bytes and slabs that <see cref="RepairAsync"/> would copy before it verifies every copy.</summary>
    public Task<RepairPlacement> PlanAsync(Guid id) => _core.Verbs.Plan(
        async LaneTask<(Dictionary<PoolId, PoolSnapshot> Pools, DiskToPlan Disk, long RingBytes)> () =>
        {
            (ManagedPool managed, ManagedVirtualDisk disk) = _core.Pools.TakeDisk(id);
            RequireRepairable(disk);
            long ringBytes = await disk.Ask(static open => open.RingBytesToResync);
            return (_core.Pools.Snapshot(), new DiskToPlan(managed.Id, disk.Description.Id, disk.Status.RemotePool), ringBytes);
        },
        static at => Plan(at.Pools, at.Disk, at.RingBytes));

    /// <summary>Repairs the virtual disks with slabs in a pool that have something to repair; a repair under way begins again.</summary>
    internal async LaneTask<Nothing> StartRepairs(ManagedPool managed)
    {
        foreach ((ManagedPool owner, ManagedVirtualDisk disk) in _core.Pools.UsersOf(managed).ToArray())
        {
            if (await disk.Ask(static open => open is { Fault: IoError.None, BytesToResync: > 0 }) && owner.Has(disk) && RepairBefore(owner, disk) is null)
            {
                BeginRepair(owner, disk);
            }
        }

        return default;
    }

    /// <summary>Begins the repairs that are due, or lets those that have passed their rebuilding begin again.</summary>
    internal async LaneTask<Nothing> BeginRepairs(ManagedPool managed, Pool pool)
    {
        foreach (ManagedVirtualDisk disk in managed.VirtualDisks.Values.ToArray())
        {
            if (disk.Status.Fault != IoError.None || _runner.RepairOf(managed, disk) is { Step: ResyncStep or RegenerateStep }
                || RepairBefore(managed, disk) is not null)
            {
                continue;
            }

            (Pool Pool, DiskNumber Disk)[] leaving = [.. LeavingUnder(pool, disk)];
            if (disk.Repairs.TryLook(_core.Lane.NowNs, leaving) && await IsRepairDue(pool, disk, leaving) && managed.Has(disk)
                && RepairBefore(managed, disk) is null)
            {
                disk.Repairs.WaitUntil(_core.Lane.NowNs + _core.Options.Healing.RetryNs);
                BeginRepair(managed, disk);
            }
        }

        return default;
    }

    private static async LaneTask<bool> IsRepairDue(Pool pool, ManagedVirtualDisk disk, (Pool Pool, DiskNumber Disk)[] leaving)
    {
        SlabMover mover = new(pool, disk.Opened);
        return (!disk.Repairs.IsStopped && (await disk.Ask(static open => open.BytesToResync) > 0 || mover.MisplacedRings().Count > 0))
            || (disk.Repairs.MayDrain(leaving).Any() && leaving.Any(left => mover.CanLeave(left.Pool, left.Disk)));
    }

    /// <summary>Begins a repair or a verification of a virtual disk.</summary>
    internal StorageJob StartJob(ManagedPool managed, ManagedVirtualDisk disk, JobKind kind, Guid id, JobProgress? resumed, bool verifies = true)
    {
        VerifyOrder verify = new(verifies);
        string name = disk.Description.FriendlyName;
        return _runner.Run(managed, new JobSpec
        {
            Id = id,
            Kind = kind,
            Name = kind.ToString(),
            Description = kind == JobKind.Repair ? $"Repairs virtual disk {name}" : $"Verifies virtual disk {name}",
            Pool = managed.Id.Value,
            VirtualDisk = disk.Description.Id.Value,
            VirtualDiskName = name,
            DiskLane = disk,
            Steps = kind == JobKind.Repair ? RepairSteps(managed, disk, verify) : ScrubSteps(managed, disk, verify),
            Verify = verify,
            Resumed = resumed,
            Save = progress => JobRunner.Save(managed, id, verify.IsGiven ? progress : null),
        }, kind == JobKind.Repair ? job => NoteEnded(managed, job) : null);
    }

    /// <summary>Goes on with a repair or a verification that an earlier host left: at once, or when the repairs that are to end before it have ended.</summary>
    internal void Resume(ManagedPool managed, ManagedVirtualDisk disk, Guid id, JobProgress progress)
    {
        if (progress.Kind == JobKind.Repair && RepairBefore(managed, disk) is not null)
        {
            ResumeInTurn(managed, managed.Pool!, disk, id, progress).Forget();
        }
        else
        {
            StartJob(managed, disk, progress.Kind, id, progress);
        }
    }

    private async LaneTask ResumeInTurn(ManagedPool managed, Pool pool, ManagedVirtualDisk disk, Guid id, JobProgress progress)
    {
        while (managed.Pool == pool && (RepairBefore(managed, disk) ?? _runner.RepairOf(managed, disk)) is { } before)
        {
            await before.WaitForEnd();
        }

        if (managed.Pool == pool && managed.Has(disk) && disk.Status.Fault == IoError.None && pool.State.Jobs.ContainsKey(id))
        {
            StartJob(managed, disk, progress.Kind, id, progress);
        }
    }

    /// <summary>The repair of another virtual disk that is to end before this one is repaired; null: there is none.</summary>
    private StorageJob? RepairBefore(ManagedPool managed, ManagedVirtualDisk disk) => managed.Pool?.State.Pool?.RepairsInTurn == true
        ? _runner.Running(managed.Id.Value).FirstOrDefault(job => job.Spec.Kind == JobKind.Repair && job.Spec.VirtualDisk != disk.Description.Id.Value)
        : null;

    /// <summary>Starts the repair of a virtual disk, or joins it; if that of another one is to end before, returns that.</summary>
    private StorageJob StartRepair(Guid virtualDisk)
    {
        (ManagedPool managed, ManagedVirtualDisk disk) = _core.Pools.TakeDisk(virtualDisk);
        RequireRepairable(disk);
        if (_runner.RepairOf(managed, disk) is null && RepairBefore(managed, disk) is { } before)
        {
            return before;
        }

        StorageJob job = _runner.RepairOf(managed, disk) is { IsEnding: false } running
            ? running : StartJob(managed, disk, JobKind.Repair, _core.Lane.NewGuid(), null);
        if (job.Spec.Verify is { IsGiven: false } verify)
        {
            verify.Give();
            _ = job.Step is ResyncStep or RegenerateStep || job.BeginAgain();   // it may have passed a step that verifies
        }

        RegenerateStep regenerate = job.Spec.Steps.OfType<RegenerateStep>().Single();
        if (!regenerate.GivesUpMissing)
        {
            regenerate.GiveUpMissing();
            if (job.Step is not (ResyncStep or RegenerateStep) && regenerate.BytesToMove > 0)
            {
                job.BeginAgain();
            }
        }

        return job;
    }

    private static void RequireRepairable(ManagedVirtualDisk disk)
    {
        if (disk.Status is { Fault: not IoError.None, FaultReason: var reason })
        {
            throw new ManagementException(
                ManagementError.VirtualDiskStateForbids,
                $"Virtual disk '{disk.Description.FriendlyName}' cannot be repaired while it is detached: {reason}.",
                "Bring its missing disks back, then run Update-StoragePool.");
        }
    }

    /// <summary>Repairs a virtual disk from the beginning: its repair under way does, or a new one.</summary>
    private void BeginRepair(ManagedPool managed, ManagedVirtualDisk disk)
    {
        disk.Repairs.Begin();
        if (_runner.RepairOf(managed, disk) is not { } running || !running.BeginAgain())
        {
            StartJob(managed, disk, JobKind.Repair, _core.Lane.NewGuid(), null, verifies: false);
        }
    }

    /// <summary>Notes the work that an ended repair has left, and the earliest time of the next repair.</summary>
    private async LaneTask<Nothing> NoteEnded(ManagedPool managed, StorageJob job)
    {
        if (managed.Pool is { } pool && managed.VirtualDisks.TryGetValue(new VirtualDiskId(job.Spec.VirtualDisk), out ManagedVirtualDisk? disk))
        {
            bool isStopped = job.State == JobState.Terminated;
            disk.Repairs.End(isStopped, LeavingUnder(pool, disk));
            long left = isStopped ? 0 : await disk.Ask(static open => open.BytesToResync);
            if (managed.Pool != pool || !managed.Has(disk))
            {
                return default;   // closed meanwhile
            }

            bool isWhole = job.State == JobState.Completed && left == 0 && new SlabMover(pool, disk.Opened).Plan(givesUpMissing: false).Count == 0;
            disk.Repairs.NoteLeft(_core.Lane.NowNs, left, isWhole || isStopped, _core.Options.Healing);
        }

        return default;
    }

    /// <summary>Returns the steps of a repair, in order. An interrupted repair resumes at the step with the saved name.</summary>
    private List<IJobStep> RepairSteps(ManagedPool managed, ManagedVirtualDisk disk, VerifyOrder verify) =>
    [
        .. PartsOf(disk).Select(part => ResyncStep.OfPart(disk.Opened, part.Number, TierOf(disk, part))),
        .. disk.Status.RemotePool is not null ? [ResyncStep.OfRemoteCache(disk.Opened, "write cache")] : Array.Empty<IJobStep>(),
        new RegenerateStep(new SlabMover(managed.Pool!, disk.Opened), () => (disk.Status.Fault, disk.Status.FaultReason), managed.Pool!.Slabs.DataBytes),
        .. ScrubSteps(managed, disk, verify),
    ];

    /// <summary>Verifying a virtual disk, and what its pool keeps about it.</summary>
    private List<IJobStep> ScrubSteps(ManagedPool managed, ManagedVirtualDisk disk, VerifyOrder verify)
    {
        ScrubStep[] scrubs = [.. PartsOf(disk).Select(part => new ScrubStep(disk.Opened, part.Number, verify, TierOf(disk, part)))];
        return [.. scrubs, new MetadataScrubStep(
            managed.Pool!, scrubs[^1].Findings, (found, finding, count) => _reliability.Note(found.Id.Value, finding, count), verify)];
    }

    /// <summary>Returns the parts of a virtual disk in the order in which jobs go through them.</summary>
    private static IEnumerable<TierDescription> PartsOf(ManagedVirtualDisk disk) => disk.Description.Parts.OrderBy(static part => part.Number);

    private static string TierOf(ManagedVirtualDisk disk, TierDescription part) => disk.Description.IsTiered ? part.FriendlyName : "";

    /// <summary>Disks that slabs are to leave, of the pool of a virtual disk and of the one that its write cache is in.</summary>
    private IEnumerable<(Pool Pool, DiskNumber Disk)> LeavingUnder(Pool pool, ManagedVirtualDisk disk) =>
        new[] { pool, _core.Pools.RemotePoolOf(disk) }.OfType<Pool>()
            .SelectMany(static one => LeavingDisks.Of(one, givesUpMissing: false).Select(number => (one, number)));

    private static RepairPlacement Plan(Dictionary<PoolId, PoolSnapshot> pools, DiskToPlan disk, long ringBytes)
    {
        PoolSnapshot pool = pools[disk.Pool];
        long behind = CopySurvey.BytesToResync(pool, pool.State.VirtualDisk(disk.Id)!) + ringBytes;
        SlabForecast forecast = new(pools);
        forecast.Move(disk, forecast.Leaving(disk, givesUpMissing: true));
        return new RepairPlacement(behind, new PlannedSlabMoves(pool.Slabs.DataBytes, forecast.Moves()));
    }
}
