using System.Collections.Immutable;
using System.Globalization;
using TierSpaces.Engine.Formats;
using TierSpaces.Engine.Jobs;
using TierSpaces.Engine.Lanes;
using TierSpaces.Engine.Pools;
using TierSpaces.Engine.Primitives;
using TierSpaces.Engine.Tiering;
using TierSpaces.Engine.VirtualDisks;

namespace TierSpaces.Engine.Management;

/// <summary>When the tiers of a pool's virtual disks are optimized without a command.</summary>
/// <param name="IsEnabled">Whether they are.</param>
/// <param name="Times">Times of the day, local, in minutes since midnight, ascending; 1 to 48 of them.</param>
/// <param name="IsContinuous">Whether slices also move as soon as that is worth it, and the faster tiers are kept from being full.</param>
/// <param name="FreeReservePercent">Percent of the faster tiers that are kept free then, 0 to 50.</param>
public sealed record TierSchedule(bool IsEnabled, IReadOnlyList<int> Times, bool IsContinuous = false, int FreeReservePercent = 10)
{
    /// <summary>Every night at one.</summary>
    public static TierSchedule Default { get; } = new(true, [60]);
}

/// <summary>What one run over the tiers of a virtual disk came to, or would.</summary>
/// <param name="Job">The job; null for a plan.</param>
/// <param name="Plan">What was to move.</param>
/// <param name="Report">How well the sizes of the tiers fit the load, afterwards.</param>
/// <param name="Tiers">The tiers that both count, fastest first.</param>
public sealed record TierOptimization(JobStatus? Job, TierPlan Plan, TierReport Report, ImmutableArray<TierDescription> Tiers);

// Tiers of virtual disks: optimized on command and at times of the day. The times are a record in the metadata of the pool, as the interval of
// verifying is.
public sealed partial class StorageSubsystem
{
    private const long HeatSaveNs = 600_000_000_000;
    private const int TimesMax = 48;
    private const long ScheduleEnabled = 1;      // in the cursor of its record
    private const long ScheduleContinuous = 2;
    private const long ContinuousBytes = 1L << 30;   // planned at once, so that the plan stays young

    private readonly Dictionary<Guid, long> _tierTimes = [];   // per pool: minute, since year 1, up to which its schedule has been looked at
    private readonly HashSet<Guid> _tiersDue = [];             // virtual disks whose time has come and whose optimization has not begun
    private readonly Dictionary<Guid, long> _heatSaved = [];   // per pool, on the lane's clock

    /// <summary>
    /// Brings the slices of a tiered virtual disk to the tiers that they belong on. Joins an optimization under way. Completes when it has ended,
    /// however it has.
    /// </summary>
    /// <exception cref="RefusedException">The virtual disk is not there, cannot be used, or has no tiers.</exception>
    public Task<TierOptimization> OptimizeTiersAsync(Guid virtualDisk) => _lane.InvokeAsync(async LaneTask<TierOptimization> () =>
    {
        StorageJob job;
        do
        {
            job = await InTurn(() => LaneTask.FromResult(StartOptimizeTiers(virtualDisk)));   // the wait holds up no other verb
            await job.WaitForEnd();
        }
        while (job.Spec.Steps.OfType<OptimizeTiersStep>().Any(static step => step.IsLimited));   // the continuous mode's, which does a part

        OptimizeTiersStep step = job.Spec.Steps.OfType<OptimizeTiersStep>().Single();
        return step is { Plan: { } plan, Report: { } report }
            ? new TierOptimization(JobStatus.Of(job), plan, report, step.Tiers)   // from the job: the disk may be gone by now
            : (await PlanOf(virtualDisk)) with { Job = JobStatus.Of(job) };
    });

    /// <summary>What <see cref="OptimizeTiersAsync"/> would do now.</summary>
    public Task<TierOptimization> PlanTiersAsync(Guid virtualDisk) => Change(async LaneTask<TierOptimization> () =>
    {
        RequireWritable(TakeTiered(virtualDisk).Pool);
        return await PlanOf(virtualDisk);
    });

    /// <summary>When the tiers of a pool's virtual disks are optimized.</summary>
    public Task<TierSchedule> TierScheduleAsync(Guid pool) => Look(() => ScheduleOf(OpenPool(pool).Pool!));

    /// <summary>Sets when they are.</summary>
    /// <exception cref="RefusedException">A time is outside its range, there are none or too many, or the pool is not open; nothing was changed.</exception>
    public Task<TierSchedule> SetTierScheduleAsync(Guid pool, TierSchedule schedule) => Change(async LaneTask<TierSchedule> () =>
    {
        (ManagedPool managed, int[] times) = PossibleSchedule(pool, schedule);
        JobProgress setting = new()
        {
            Kind = JobKind.TierSchedule, Subject = pool, UtcTicks = _lane.UtcNow.UtcTicks,
            Cursor = (schedule.IsEnabled ? ScheduleEnabled : 0) | (schedule.IsContinuous ? ScheduleContinuous : 0), BytesProcessed = schedule.FreeReservePercent,
            Step = string.Join(',', times.Select(static minute => minute.ToString(CultureInfo.InvariantCulture))),
        };
        Require(await managed.Pool!.Commit(new JobRecord(ScheduleKey(pool), setting.Encode())), managed.Pool.State.Pool!.FriendlyName);
        return ScheduleOf(managed.Pool);
    });

    /// <summary>Refuses what <see cref="SetTierScheduleAsync"/> would refuse.</summary>
    public Task<bool> CheckSetTierScheduleAsync(Guid pool, TierSchedule schedule) => Check(() => PossibleSchedule(pool, schedule));

    private async LaneTask<TierOptimization> PlanOf(Guid virtualDisk)
    {
        (ManagedPool managed, ManagedVirtualDisk disk) = TakeTiered(virtualDisk);
        DiskTiering tiering = disk.Open.Tiering!;
        TierPlanSettings settings = SettingsOf(managed.Pool!, tiering);
        TierSurvey survey = await tiering.Survey();
        return await _lane.Compute(() => new TierOptimization(null, survey.Plan(settings), survey.Report(), survey.Tiers));
    }

    private (ManagedPool Pool, int[] Times) PossibleSchedule(Guid pool, TierSchedule schedule)
    {
        int[] times = [.. schedule.Times.Distinct().Order()];
        if (times.Length is < 1 or > TimesMax || times.Any(static minute => minute is < 0 or >= 24 * 60))
        {
            throw new RefusedException(
                Refusal.InvalidParameter, $"{schedule.Times.Count} times of the day are not possible; 1 to {TimesMax} from 00:00 to 23:59 are.", "Give other times, or switch the schedule off.");
        }

        if (schedule.FreeReservePercent is < 0 or > TierPlanSettings.FreeReservePercentMax)
        {
            throw new RefusedException(
                Refusal.InvalidParameter, $"A free reserve of {schedule.FreeReservePercent} percent is not possible; 0 to {TierPlanSettings.FreeReservePercentMax} are.", "Give another one.");
        }

        return (OpenPool(pool), times);
    }

    private static TierSchedule ScheduleOf(Pool pool)
    {
        if (!pool.State.Jobs.TryGetValue(ScheduleKey(pool.Id.Value), out JobRecord? record) || JobProgress.TryDecode(record.State) is not { } setting)
        {
            return TierSchedule.Default;
        }

        List<int> times = [];
        foreach (string time in setting.Step.Split(','))
        {
            if (int.TryParse(time, NumberStyles.None, CultureInfo.InvariantCulture, out int minute) && minute < 24 * 60)
            {
                times.Add(minute);
            }
        }

        return times.Count == 0 ? TierSchedule.Default : new TierSchedule(
            (setting.Cursor & ScheduleEnabled) != 0, times, (setting.Cursor & ScheduleContinuous) != 0,
            (int)Math.Clamp(setting.BytesProcessed, 0, TierPlanSettings.FreeReservePercentMax));
    }

    /// <summary>The record that a pool's schedule is kept under: not its id, which the interval of verifying has.</summary>
    private static Guid ScheduleKey(Guid pool)
    {
        byte[] bytes = pool.ToByteArray();
        bytes[15] ^= (byte)JobKind.TierSchedule;
        return new Guid(bytes);
    }

    private (ManagedPool Pool, ManagedVirtualDisk Disk) TakeTiered(Guid id)
    {
        (ManagedPool managed, ManagedVirtualDisk disk) = TakeUsable(id);
        return HasSeveralTiers(disk) ? (managed, disk) : throw new RefusedException(
            Refusal.NotSupported, $"Virtual disk '{disk.Open.Description.FriendlyName}' has {(disk.Open.Tiering is null ? "no tiers" : "one tier, and nowhere to move slices to")}.",
            "Only virtual disks made with several -StorageTiers can be optimized.");
    }

    private static bool HasSeveralTiers(ManagedVirtualDisk disk) => disk.Open.Tiering is { Store.Tiers: > 1 };

    private StorageJob StartOptimizeTiers(Guid virtualDisk)
    {
        (ManagedPool managed, ManagedVirtualDisk disk) = TakeTiered(virtualDisk);
        RequireWritable(managed);
        return _jobs.Running(managed.Id.Value).LastOrDefault(job => job.Spec.Kind == JobKind.OptimizeTiers && job.Spec.VirtualDisk == virtualDisk && !job.IsEnding)
            ?? RunOptimizeTiers(managed, disk, JobKind.OptimizeTiers, _lane.NewGuid(), null);
    }

    private StorageJob RunOptimizeTiers(
        ManagedPool managed, ManagedVirtualDisk disk, JobKind kind, Guid id, JobProgress? resumed, TierPlanSettings? settings = null) => Run(managed, new JobSpec
    {
        Id = id,
        Kind = kind,
        Name = "Storage Tiers Optimization",
        Description = (kind == JobKind.PlacePins ? "Moves what is pinned on" : "Optimizes the tiers of") + $" virtual disk {disk.Open.Description.FriendlyName}",
        Pool = managed.Id.Value,
        VirtualDisk = disk.Open.Description.Id.Value,
        Steps = [new OptimizeTiersStep(disk.Open, settings ?? (kind == JobKind.PlacePins ? TierPlanSettings.PinsOnly : SettingsOf(managed.Pool!, disk.Open.Tiering!)))],
        Resumed = resumed,
        Save = progress => SaveJob(managed, id, progress),
    });

    // What the continuous mode keeps free stays free when an optimization runs at its time or on command.
    private static TierPlanSettings SettingsOf(Pool pool, DiskTiering tiering) => TierPlanSettings.Default with
    {
        MoveCost = HeatMap.WeightOf(tiering.Store.SliceSize),
        MinimumHeat = tiering.Settings.MinimumHeat,
        ColdBelow = tiering.Settings.DemoteColdAfterNs is > 0 and var after ? tiering.Heat.ColdBelow(after) : 0,
        FreeReservePercent = ScheduleOf(pool) is { IsContinuous: true, FreeReservePercent: var percent } ? percent : 0,
    };

    /// <summary>Once a minute: begins optimizations whose time has come, and saves heat every ten minutes.</summary>
    private async LaneTask<Nothing> TendTiers(ManagedPool managed)
    {
        if (_stopped || managed.Pool is not { HasLostQuorum: false } pool)
        {
            return default;
        }

        ManagedVirtualDisk[] disks = [.. managed.VirtualDisks.Values.Where(static disk => disk.Open is { Tiering: not null, Fault: IoError.None })];
        bool mayStart = !_verbRunning && !pool.State.Pool!.IsReadOnly;
        bool isDue = mayStart && IsTierTime(pool);   // asked only when it can be followed: a time that is passed over now is found the next time
        TierSchedule schedule = ScheduleOf(pool);
        foreach (ManagedVirtualDisk disk in disks.Where(HasSeveralTiers))
        {
            Guid id = disk.Open.Description.Id.Value;
            if (isDue)
            {
                _tiersDue.Add(id);
            }
            else if (!schedule.IsEnabled)
            {
                _tiersDue.Remove(id);   // switched off before it began
            }

            if (mayStart && !IsOptimizing(managed, disk) && _tiersDue.Remove(id))
            {
                RunOptimizeTiers(managed, disk, JobKind.OptimizeTiers, _lane.NewGuid(), null);
            }
        }

        foreach (ManagedVirtualDisk disk in disks.Where(HasSeveralTiers))
        {
            await OptimizeWhenWorth(managed, disk);
        }

        if (_lane.NowNs - _heatSaved.GetValueOrDefault(pool.Id.Value) >= HeatSaveNs)
        {
            _heatSaved[pool.Id.Value] = _lane.NowNs;
            foreach (ManagedVirtualDisk disk in disks)
            {
                await disk.Open.Tiering!.SaveHeat();   // does nothing to one that has been closed meanwhile
            }
        }

        return default;
    }

    private bool IsOptimizing(ManagedPool managed, ManagedVirtualDisk disk) => _jobs.Running(managed.Id.Value)
        .Any(job => job.Spec.Kind == JobKind.OptimizeTiers && job.Spec.VirtualDisk == disk.Open.Description.Id.Value);

    /// <summary>Continuous mode: begins an optimization when there is something to move and none is under way.</summary>
    private async LaneTask<Nothing> OptimizeWhenWorth(ManagedPool managed, ManagedVirtualDisk disk)
    {
        if (!MayStart())
        {
            return default;
        }

        DiskTiering tiering = disk.Open.Tiering!;
        TierPlan plan = await tiering.Plan(Settings());
        if (plan.Moves.Count > 0 && MayStart())   // somebody may have come in meanwhile
        {
            RunOptimizeTiers(managed, disk, JobKind.OptimizeTiers, _lane.NewGuid(), null, Settings());
        }

        return default;

        TierPlanSettings Settings() => SettingsOf(managed.Pool!, tiering) with { MaxBytes = ContinuousBytes };

        bool MayStart() => !_stopped && !_verbRunning
            && managed.Pool is { HasLostQuorum: false } pool && !pool.State.Pool!.IsReadOnly && ScheduleOf(pool).IsContinuous
            && managed.VirtualDisks.ContainsValue(disk) && disk.Open.Fault == IoError.None
            && !_jobs.Running(managed.Id.Value).Any(job => job.Spec.VirtualDisk == disk.Open.Description.Id.Value);
    }

    /// <summary>Whether a time of the schedule has come since this was last asked; the first time it is asked, none has.</summary>
    private bool IsTierTime(Pool pool)
    {
        DateTime now = _lane.UtcNow.ToLocalTime().DateTime;
        long minute = now.Ticks / TimeSpan.TicksPerMinute;
        bool isKnown = _tierTimes.TryGetValue(pool.Id.Value, out long seen);
        _tierTimes[pool.Id.Value] = minute;
        TierSchedule schedule = ScheduleOf(pool);
        long day = TimeSpan.TicksPerDay / TimeSpan.TicksPerMinute;
        return isKnown && schedule.IsEnabled && schedule.Times.Any(time => LastTime(time) > seen);

        long LastTime(int time) => minute - ((minute - time) % day);
    }
}
