using TierSpaces.Engine.Devices;
using TierSpaces.Engine.Formats;
using TierSpaces.Engine.Jobs;
using TierSpaces.Engine.Lanes;
using TierSpaces.Engine.Management;
using TierSpaces.Engine.Primitives;

namespace TierSpaces.Engine.Tests.Management;

/// <summary>
/// Optimizing a virtual disk of four slices on the fast tier and sixteen on the slow one, sixteen of them written: slices 0 to 3 are on the fast one.
/// </summary>
public sealed class SubsystemTiersTests
{
    private const long Hour = 3_600_000_000_000;
    private const int Slice = 1 << 20;

    private readonly SubsystemWorld _world = new();
    private readonly HashSet<Guid> _jobs = [];
    private readonly Guid _disk;

    public SubsystemTiersTests()
    {
        _world.NewPool([(64 << 20, MediaType.SSD), (128 << 20, MediaType.HDD)]);
        TierRequest[] tiers = [new(Template("fast", MediaType.SSD), 4 * Slice), new(Template("slow", MediaType.HDD), 16 * Slice)];
        VirtualDiskRequest request = new() { FriendlyName = "d", Tiers = tiers, SliceSize = Slice, ProvisioningType = ProvisioningType.Fixed };
        _disk = _world.Run(_world.Subsystem.VirtualDisks.CreateAsync(_world.Pool, request)).Description.Id.Value;
        for (int slice = 0; slice < 16; slice++)
        {
            _world.Write(_disk, (long)slice * Slice, Slice);
        }
    }

    [Fact]
    public void What_is_planned_is_what_is_done_and_leaves_nothing_to_do()
    {
        Heat(12, 13);
        TierOptimization planned = _world.Run(_world.Subsystem.TierOptimizer.PlanAsync(_disk));
        Assert.Null(planned.Job);
        TierOptimization done = _world.Run(_world.Subsystem.TierOptimizer.OptimizeAsync(_disk));
        Assert.Equal(planned.Plan.Moves.Select(static move => (move.Slice, move.From, move.To)),
            done.Plan.Moves.Select(static move => (move.Slice, move.From, move.To)));
        Assert.Equal((JobState.Completed, 2L * Slice, 2L * Slice), (done.Job!.State, done.Job.BytesPromoted, done.Job.BytesDemoted));
        Assert.Empty(_world.Run(_world.Subsystem.TierOptimizer.PlanAsync(_disk)).Plan.Moves);

        SliceStatus[] slices = Slices(12 * Slice, 2 * Slice);
        Assert.Equal([12, 13], slices.Select(static slice => slice.Slice));
        Assert.All(slices, static slice => Assert.Equal((0, SliceReason.Promoted), (slice.Entry.Tier, slice.Entry.Reason)));
        Assert.Equal(16, Slices(0, long.MaxValue).Length);
        Assert.Throws<ManagementException>(() => Slices(20 * Slice, 1));
    }

    [Theory]
    [InlineData(false)]
    [InlineData(true)]
    public void What_an_optimization_came_to_is_told_though_its_disk_has_gone_meanwhile(bool isLost)
    {
        Task<TierOptimization> run = BeginSlowly();
        if (isLost)
        {
            _world.Pull(0);
            _world.Pull(1);
        }
        else
        {
            Assert.True(_world.Run(_world.Subsystem.VirtualDisks.RemoveAsync(_disk)));
        }

        TierOptimization done = _world.Run(run);
        Assert.NotEmpty(done.Plan.Moves);
        Assert.Equal(["d_fast", "d_slow"], done.Tiers.Select(static tier => tier.FriendlyName));
        Assert.Equal(4L * Slice, done.Report.Tiers[0].SizeBytes);
        Assert.NotEqual(JobState.Running, done.Job!.State);
    }

    [Fact]
    public void A_time_that_came_before_the_schedule_was_switched_off_begins_nothing()
    {
        Task<TierOptimization> slow = BeginSlowly();
        int soon = (int)_world.Lane.UtcNow.ToLocalTime().TimeOfDay.TotalMinutes + 4;
        _world.Run(_world.Subsystem.TierSchedules.SetAsync(_world.Pool, new TierSchedule(true, [soon % (24 * 60)])));
        Assert.Equal(1, JobsBegunIn(6));
        Assert.False(slow.IsCompleted);   // the time has come meanwhile, and what it is to begin waits
        _world.Run(_world.Subsystem.TierSchedules.SetAsync(_world.Pool, new TierSchedule(false, [soon % (24 * 60)])));
        Assert.Equal(0, JobsBegunIn(60));
        Assert.True(slow.IsCompletedSuccessfully);
    }

    [Fact]
    public void Virtual_disks_of_a_pool_are_optimized_one_after_the_other_when_their_time_comes()
    {
        TierRequest[] tiers = [new(Template("fast2", MediaType.SSD), 4 * Slice), new(Template("slow2", MediaType.HDD), 8 * Slice)];
        _world.Run(_world.Subsystem.VirtualDisks.CreateAsync(_world.Pool, new VirtualDiskRequest { FriendlyName = "e", Tiers = tiers, SliceSize = Slice }));
        Task<TierOptimization> slow = BeginSlowly();
        int soon = (int)_world.Lane.UtcNow.ToLocalTime().TimeOfDay.TotalMinutes + 4;
        _world.Run(_world.Subsystem.TierSchedules.SetAsync(_world.Pool, new TierSchedule(true, [soon % (24 * 60)])));
        Assert.Equal(1, JobsBegunIn(6));
        Assert.False(slow.IsCompleted);   // the time of both has come meanwhile
        Assert.Equal(2, JobsBegunIn(60));
        Assert.True(slow.IsCompletedSuccessfully);
    }

    [Fact]
    public void What_a_pool_that_is_read_only_refuses_it_refuses_to_plan()
    {
        Heat(12);
        _world.Run(_world.Subsystem.Pools.SetAsync(_world.Pool, static pool => pool with { IsReadOnly = true }));
        Assert.Equal(ManagementError.PoolReadOnly,
            Assert.Throws<ManagementException>(() => _world.Run(_world.Subsystem.TierOptimizer.OptimizeAsync(_disk))).Error);
        Assert.Equal(ManagementError.PoolReadOnly, Assert.Throws<ManagementException>(() => _world.Run(_world.Subsystem.TierOptimizer.PlanAsync(_disk))).Error);
    }

    [Fact]
    public void Four_times_of_the_day_begin_four_jobs_each_day_and_none_when_it_is_off()
    {
        TierSchedule schedule = new(true, [13 * 60, 60, 7 * 60, (23 * 60) + 59]);
        Assert.Equal([60, 420, 780, 1439], _world.Run(_world.Subsystem.TierSchedules.SetAsync(_world.Pool, schedule)).Times);
        _world.Restart();
        Assert.Equal([60, 420, 780, 1439], _world.Run(_world.Subsystem.TierSchedules.GetAsync(_world.Pool)).Times);
        _world.Advance(TimeSpan.FromMinutes(2));
        Assert.Equal(4, JobsBegunIn(24 * 60));
        Assert.Equal(4, JobsBegunIn(24 * 60));
        _world.Run(_world.Subsystem.TierSchedules.SetAsync(_world.Pool, schedule with { IsEnabled = false }));
        Assert.Equal(0, JobsBegunIn(24 * 60));
    }

    [Fact]
    public void A_time_that_comes_while_a_verb_runs_is_not_forgotten()
    {
        _world.Advance(TimeSpan.FromMinutes(2));
        int soon = (int)_world.Lane.UtcNow.ToLocalTime().TimeOfDay.TotalMinutes + 3;
        _world.Run(_world.Subsystem.TierSchedules.SetAsync(_world.Pool, new TierSchedule(true, [soon % (24 * 60)])));
        Task<bool> verb = _world.Lane.InvokeAsync(() => _world.Subsystem.Verbs.Enqueue(async LaneTask<bool> () =>
        {
            await _world.Lane.Delay(600_000_000_000);
            return true;
        }));
        Assert.Equal(0, JobsBegunIn(9));
        Assert.Equal(1, JobsBegunIn(5));
        Assert.True(verb.IsCompletedSuccessfully);
    }

    [Fact]
    public void The_continuous_mode_keeps_a_part_of_the_fast_tier_free()
    {
        _world.Run(_world.Subsystem.TierSchedules.SetAsync(_world.Pool, new TierSchedule(false, [60], IsContinuous: true, FreeReservePercent: 25)));
        Assert.True(JobsBegunIn(3) >= 1);
        Assert.Equal(3, _world.Opened(_disk).Tiers!.Map.Mapped(0));
        Assert.Equal(0, JobsBegunIn(10));   // there is nothing more to do
    }

    [Fact]
    public void What_is_not_hot_enough_stays_where_it_is()
    {
        Heat(12, 13);   // 200 requests each
        Set(new TierSettings { MinimumHeat = 300 });
        Assert.Empty(_world.Run(_world.Subsystem.TierOptimizer.PlanAsync(_disk)).Plan.Moves);
        _world.Restart();
        Assert.Empty(_world.Run(_world.Subsystem.TierOptimizer.PlanAsync(_disk)).Plan.Moves);
        Set(new TierSettings { MinimumHeat = 100 });
        Assert.Equal(4, _world.Run(_world.Subsystem.TierOptimizer.PlanAsync(_disk)).Plan.Moves.Count);
    }

    [Fact]
    public void What_is_not_used_for_the_time_set_goes_to_the_slow_tier()
    {
        _world.Run(_world.Subsystem.TierSchedules.SetAsync(_world.Pool, TierSchedule.Default with { IsEnabled = false }));
        Heat(0, 1, 2, 3);
        Set(new TierSettings { HalfLifeNs = Hour, DemoteColdAfterNs = 3 * Hour });
        Assert.Empty(_world.Run(_world.Subsystem.TierOptimizer.PlanAsync(_disk)).Plan.Moves);
        _world.Advance(TimeSpan.FromHours(10));
        Heat(2);
        TierOptimization planned = _world.Run(_world.Subsystem.TierOptimizer.PlanAsync(_disk));
        Assert.Equal([(0, SliceReason.Cold), (1, SliceReason.Cold), (3, SliceReason.Cold)], planned.Plan.Moves.Select(static move => (move.Slice, move.Reason))
            .Order());
        Set(TierSettings.Default);
        Assert.Empty(_world.Run(_world.Subsystem.TierOptimizer.PlanAsync(_disk)).Plan.Moves);
    }

    [Fact]
    public void Another_half_life_counts_at_once_and_after_a_restart()
    {
        _world.Run(_world.Subsystem.TierSchedules.SetAsync(_world.Pool, TierSchedule.Default with { IsEnabled = false }));
        Heat(12);
        double before = HeatOf(12);
        Set(new TierSettings { HalfLifeNs = 12 * Hour });
        Assert.InRange(HeatOf(12), before * 0.49, before * 0.51);   // the same load, counted over half the time
        _world.Restart();
        Assert.InRange(HeatOf(12), before * 0.49, before * 0.51);
        _world.Advance(TimeSpan.FromHours(12));
        Assert.InRange(HeatOf(12), before * 0.24, before * 0.26);
        Set(TierSettings.Default);
        Assert.InRange(HeatOf(12), before * 0.49, before * 0.51);
    }

    [Fact]
    public void A_command_waits_for_a_job_of_the_continuous_mode_and_runs_after_it()
    {
        _world.Run(_world.Subsystem.TierSchedules.SetAsync(_world.Pool, new TierSchedule(false, [60], IsContinuous: true, FreeReservePercent: 25)));
        while (!_world.Jobs.Any(static job => job.Name == "Storage Tiers Optimization"))
        {
            _world.Advance(TimeSpan.FromMilliseconds(1));
        }

        Guid continuous = Assert.Single(_world.Jobs, static job => job.Name == "Storage Tiers Optimization").UniqueId;
        Assert.NotEqual(continuous, _world.Run(_world.Subsystem.TierOptimizer.OptimizeAsync(_disk)).Job!.UniqueId);
    }

    [Fact]
    public void Impossible_times_and_reserves_are_refused_and_change_nothing()
    {
        foreach (TierSchedule wrong in new TierSchedule[] { new(true, []), new(true, [1440]), new(true, [-1]), new(true, [.. Enumerable.Range(0, 49)]),
            new(true, [1], true, 51) })
        {
            Assert.Equal(ManagementError.InvalidParameter,
                Assert.Throws<ManagementException>(() => _world.Run(_world.Subsystem.TierSchedules.SetAsync(_world.Pool, wrong))).Error);
            Assert.Equal(ManagementError.InvalidParameter,
                Assert.Throws<ManagementException>(() => _world.Run(_world.Subsystem.TierSchedules.CheckSetAsync(_world.Pool, _ => wrong))).Error);
        }

        Assert.True(_world.Run(_world.Subsystem.TierSchedules.CheckSetAsync(_world.Pool, _ => new TierSchedule(true, [5]))));

        Assert.Equal(TierSchedule.Default.Times, _world.Run(_world.Subsystem.TierSchedules.GetAsync(_world.Pool)).Times);
    }

    /// <summary>An optimization that moves eight slices and takes about nine minutes.</summary>
    private Task<TierOptimization> BeginSlowly()
    {
        Heat(12, 13, 14, 15);
        _world.Pacing = new JobPacing { BytesPerSecondMax = 16 << 10 };
        _world.Restart();
        Task<TierOptimization> run = _world.Subsystem.TierOptimizer.OptimizeAsync(_disk);
        _world.Until(() => _world.Jobs.Any(static job => job is { Name: "Storage Tiers Optimization", State: JobState.Running, BytesTotal: > 0 }));
        return run;
    }

    private SliceStatus[] Slices(long offset, long length) => _world.Run(_world.Subsystem.Slices.ListAsync(_disk, offset, length, _world.Lane.NowNs)).Slices;

    private double HeatOf(int slice) => Assert.Single(Slices((long)slice * Slice, 1)).Heat;

    private void Set(TierSettings settings) => _world.Run(_world.Subsystem.VirtualDisks.SetAsync(_disk, disk => disk with { TierSettings = settings }));

    private Guid Template(string name, MediaType media) => _world.Run(_world.Subsystem.Tiers.CreateTemplateAsync(
        _world.Pool, new TierTemplateRequest { FriendlyName = name, MediaType = media, ResiliencySettingName = "Simple" })).UniqueId;

    private void Heat(params int[] slices)
    {
        for (int i = 0; i < 200; i++)
        {
            Array.ForEach(slices, slice => _world.Write(_disk, slice * (long)Slice, 4096));
        }
    }

    /// <summary>Optimizations that begin within so many minutes; a job is listed for ten minutes after its end.</summary>
    private int JobsBegunIn(int minutes)
    {
        int before = _jobs.Count;
        for (int minute = 0; minute < minutes; minute++)
        {
            _world.Advance(TimeSpan.FromMinutes(1));
            _jobs.UnionWith(_world.Jobs.Where(static job => job.Name == "Storage Tiers Optimization").Select(static job => job.UniqueId));
        }

        return _jobs.Count - before;
    }
}
