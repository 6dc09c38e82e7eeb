using System.Collections.Immutable;
using TierSpaces.Engine.Formats;
using TierSpaces.Engine.Jobs;
using TierSpaces.Engine.Lanes;
using TierSpaces.Engine.Pools;
using TierSpaces.Engine.Primitives;
using TierSpaces.Engine.Resiliency;
using TierSpaces.Engine.Tiering;
using TierSpaces.Engine.VirtualDisks;

namespace TierSpaces.Engine.Management;

/// <summary>Result of one run, or of one plan, over the tiers of a virtual disk.</summary>
/// <param name="Job">The job; null for a plan.</param>
/// <param name="Plan">Moves of the run.</param>
/// <param name="Report">Fit of the sizes of the tiers to the load, after the moves.</param>
/// <param name="Tiers">The tiers that both count, fastest first.</param>
public sealed record TierOptimization(JobStatus? Job, TierPlan Plan, TierReport Report, ImmutableArray<TierDescription> Tiers);

/// <summary>Optimizes the tiers of virtual disks on command: jobs that move slices.</summary>
public sealed class TierOptimizer
{
    private readonly SubsystemCore _core;
    private readonly JobRunner _runner;

    internal TierOptimizer(SubsystemCore core, JobRunner runner) => (_core, _runner) = (core, runner);

    /// <summary>
    /// Brings the slices of a tiered virtual disk to the tiers that they belong on. Joins an optimization under way. Completes when it has ended,
    /// however it has. One under way that has other limits is waited for first.
    /// </summary>
    /// <exception cref="ManagementException">The virtual disk is not there, cannot be used, or has no tiers; a limit is out of its range.</exception>
    public Task<TierOptimization> OptimizeAsync(Guid virtualDisk, TierLimits? limits = null) => _core.Lane.InvokeAsync(async LaneTask<TierOptimization> () =>
    {
        StorageJob job;
        OptimizeTiersStep step;
        do
        {
            job = await _core.Verbs.Enqueue(() => LaneTask.FromResult(StartOptimizeTiers(virtualDisk, limits ?? TierLimits.None)));   // no verb waits
            await job.WaitForEnd();
            step = job.Spec.Steps.OfType<OptimizeTiersStep>().Single();
        }
        while (step.Limits != (limits ?? TierLimits.None));   // the one under way was another's, such as the continuous mode's, which does a part

        return step is { Plan: { } plan, Report: { } report }
            ? new TierOptimization(JobStatus.Of(job), plan, report, step.Tiers)   // from the job: the disk may be gone by now
            : (await PlanOf(virtualDisk, limits ?? TierLimits.None)) with { Job = JobStatus.Of(job) };
    });

    /// <summary>Returns the plan that <see cref="OptimizeAsync"/> would carry out now.</summary>
    public Task<TierOptimization> PlanAsync(Guid virtualDisk, TierLimits? limits = null) => _core.Verbs.Change(async LaneTask<TierOptimization> () =>
    {
        (ManagedPool managed, ManagedVirtualDisk disk) = _core.Pools.TakeTiered(virtualDisk);
        managed.RequireWritable();
        TierLimitChecks.Require(limits ?? TierLimits.None, disk.Description);
        return await PlanOf(virtualDisk, limits ?? TierLimits.None);
    });

    private async LaneTask<TierOptimization> PlanOf(Guid virtualDisk, TierLimits limits)
    {
        (ManagedPool managed, ManagedVirtualDisk disk) = _core.Pools.TakeTiered(virtualDisk);
        Func<DiskTiering, TierPlanSettings> settingsOf = SettingsOf(managed.Pool!);
        (TierSurvey survey, TierPlanSettings settings) = await disk.Call(
            async LaneTask<(TierSurvey, TierPlanSettings)> (open) => (await open.Tiering!.Survey(), settingsOf(open.Tiering)));
        settings = settings with { MaxBytes = limits.MaxBytes };
        return await _core.Lane.Compute(() => new TierOptimization(null, survey.Plan(settings), survey.Report(), survey.Tiers));
    }

    private StorageJob StartOptimizeTiers(Guid virtualDisk, TierLimits limits)
    {
        (ManagedPool managed, ManagedVirtualDisk disk) = _core.Pools.TakeTiered(virtualDisk);
        managed.RequireWritable();
        TierLimitChecks.Require(limits, disk.Description);
        return _runner.Running(managed.Id.Value)
            .LastOrDefault(job => job.Spec.Kind == JobKind.OptimizeTiers && job.Spec.VirtualDisk == virtualDisk && !job.IsEnding)
            ?? Start(managed, disk, JobKind.OptimizeTiers, _core.Lane.NewGuid(), null, limits);
    }

    internal StorageJob Start(
        ManagedPool managed, ManagedVirtualDisk disk, JobKind kind, Guid id, JobProgress? resumed, TierLimits limits) =>
            _runner.Run(managed, new JobSpec
    {
        Id = id,
        Kind = kind,
        Name = "Storage Tiers Optimization",
        Description = (kind == JobKind.PlacePins ? "Moves what is pinned on" : "Optimizes the tiers of")
            + $" virtual disk {disk.Description.FriendlyName}",
        Pool = managed.Id.Value,
        VirtualDisk = disk.Description.Id.Value,
        VirtualDiskName = disk.Description.FriendlyName,
        DiskLane = disk,
        Steps = [kind == JobKind.PlacePins ? new OptimizeTiersStep(disk.Opened, TierPlanSettings.PinsOnly)
            : new OptimizeTiersStep(disk.Opened, SettingsOf(managed.Pool!), limits, resumed?.BytesProcessed ?? 0)],
        Latency = limits.LatencyTargetNs > 0
            ? new LatencyHold(() => (disk.Traffic.ReadOperations + disk.Traffic.WriteOperations, disk.Traffic.ReadNsTotal + disk.Traffic.WriteNsTotal),
                limits.LatencyTargetNs)
            : null,
        Resumed = resumed,
        Save = progress => JobRunner.Save(managed, id, TierLimitChecks.With(progress, limits)),
    });

    /// <summary>
    /// Returns a function that makes the settings of a plan on the lane of the virtual disk. The free reserve of the continuous mode stays free when an
    /// optimization runs at its time or on command.
    /// </summary>
    internal static Func<DiskTiering, TierPlanSettings> SettingsOf(Pool pool)
    {
        int reserve = TierScheduleService.Of(pool) is { IsContinuous: true, FreeReservePercent: var percent } ? percent : 0;
        return tiering => TierPlanSettings.Default with
        {
            MoveCost = HeatMap.WeightOf(tiering.Store.SliceSize),
            MinimumHeat = tiering.Settings.MinimumHeat,
            ColdBelow = tiering.Settings.DemoteColdAfterNs is > 0 and var after ? tiering.Heat.ColdBelow(after) : 0,
            FreeReservePercent = reserve,
        };
    }

    /// <summary>Whether the tiers of a virtual disk of a pool are being optimized.</summary>
    internal bool IsOptimizing(ManagedPool managed) => _runner.Running(managed.Id.Value).Any(static job => job.Spec.Kind == JobKind.OptimizeTiers);
}
