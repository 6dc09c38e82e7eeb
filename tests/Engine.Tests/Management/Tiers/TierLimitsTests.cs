using TierSpaces.Engine.Devices;
using TierSpaces.Engine.Devices.Emulated;
using TierSpaces.Engine.Formats;
using TierSpaces.Engine.Jobs;
using TierSpaces.Engine.Lanes;
using TierSpaces.Engine.Management;
using TierSpaces.Engine.Primitives;
using TierSpaces.Engine.Tiering;

namespace TierSpaces.Engine.Tests.Management;

/// <summary>
/// Limits of optimizations: the most bytes of a run and the latency of clients that it keeps to, in simulated time on emulated disks (SSDSas and HDD10K).
/// Of 48 slices that are written 16 are on the fast tier; 16 others are hot.
/// </summary>
public sealed class TierLimitsTests
{
    private const int Slice = 1 << 20;
    private const int Fast = 16;
    private const int Used = 48;
    private const int FirstHot = 28;   // up to 44
    private const string Optimization = "Storage Tiers Optimization";

    private readonly ITestOutputHelper _output;
    private readonly SubsystemWorld _world = new()
    {
        Profiles = static media => LatencyProfile.Find(media == MediaType.HDD ? "HDD10K" : "SSDSas")!, SlabSize = 16 << 20,
        Pacing = new JobPacing { SharePercent = 100 },   // only the limits under test hold it back
    };

    private readonly Guid _disk;

    public TierLimitsTests(ITestOutputHelper output)
    {
        _output = output;
        _world.NewPool([(1L << 30, MediaType.SSD), (4L << 30, MediaType.HDD)]);
        VirtualDiskRequest request = new()
        {
            FriendlyName = "d", SliceSize = Slice, ProvisioningType = ProvisioningType.Fixed, WriteCacheSize = 0,
            Tiers = [new(Template("fast", MediaType.SSD), Fast * Slice), new(Template("slow", MediaType.HDD), 2L * Used * Slice)],
        };
        _disk = _world.Run(_world.Subsystem.VirtualDisks.CreateAsync(_world.Pool, request)).Description.Id.Value;
        for (int slice = 0; slice < Used; slice++)
        {
            _world.Write(_disk, (long)slice * Slice, Slice);
        }

        Heat(20);
        _world.Restart();   // takes the pacing
        _world.Run(_world.Subsystem.TierSchedules.SetAsync(_world.Pool, TierSchedule.Default with { IsEnabled = false }));
    }

    [Fact]
    public void A_run_moves_the_bytes_that_it_may_what_is_most_worth_first_and_tells_what_it_left()
    {
        TierPlan whole = Plan(TierLimits.None);
        Assert.Equal((32, 0L), (whole.Moves.Count, whole.MovesOverBudget));
        TierLimits limits = new(10 * Slice);
        TierPlan plan = Plan(limits);
        Assert.Equal((10, 22, 22L * Slice), (plan.Moves.Count, plan.MovesOverBudget, plan.BytesOverBudget));
        Assert.Equal(Shape(whole).Take(10), Shape(plan));
        TierOptimization done = Optimize(limits);
        Assert.Equal((5L * Slice, 5L * Slice), (done.Job!.BytesPromoted, done.Job.BytesDemoted));
        Assert.Equal(Shape(plan), Shape(done.Plan));
        Assert.Contains("22 MB left to a later run", done.Job.Status, StringComparison.Ordinal);
        Assert.Equal(22, Plan(TierLimits.None).Moves.Count);
        Assert.Equal((22, 0L), (Optimize(TierLimits.None).Plan.Moves.Count, Plan(limits).MovesOverBudget));
    }

    [Fact]
    public void A_run_goes_on_in_the_next_host_with_what_is_left_of_its_limit()
    {
        Task<TierOptimization> run = BeginSlowly(new TierLimits(10 * Slice));
        _world.Until(() => _world.Jobs.Any(static job => job.BytesProcessed >= 3 * Slice));
        _world.Pacing = new JobPacing();
        _world.Restart();
        Assert.Equal(JobState.Suspended, _world.Run(run).Job!.State);
        Settle();
        long first = run.Result.Job!.BytesPromoted + run.Result.Job.BytesDemoted;
        JobStatus resumed = Assert.Single(_world.Jobs, static job => job.Name == Optimization);
        _output.WriteLine($"{first} bytes before the restart, {resumed.BytesPromoted + resumed.BytesDemoted} bytes after it");
        Assert.InRange(first + resumed.BytesPromoted + resumed.BytesDemoted, 8 * Slice, 10 * Slice);
        Assert.True(Plan(TierLimits.None).Moves.Count >= 22);
    }

    [Fact]
    public void A_run_with_other_limits_is_waited_for_and_one_with_the_same_is_joined()
    {
        Task<TierOptimization> first = BeginSlowly(new TierLimits(4 * Slice));
        Task<TierOptimization> same = _world.Subsystem.TierOptimizer.OptimizeAsync(_disk, new TierLimits(4 * Slice));
        Task<TierOptimization> other = _world.Subsystem.TierOptimizer.OptimizeAsync(_disk, new TierLimits(6 * Slice));
        Assert.Equal(_world.Run(first).Job!.UniqueId, _world.Run(same).Job!.UniqueId);
        Assert.Equal(6, _world.Run(other).Plan.Moves.Count);
        Assert.NotEqual(first.Result.Job!.UniqueId, other.Result.Job!.UniqueId);
    }

    [Fact]
    public void A_schedule_keeps_its_limits_over_a_restart_and_its_runs_keep_to_them()
    {
        int soon = (int)_world.Lane.UtcNow.ToLocalTime().TimeOfDay.TotalMinutes + 4;
        TierLimits limits = new(16 * Slice, 20_000_000);
        _world.Run(_world.Subsystem.TierSchedules.SetAsync(_world.Pool, new TierSchedule(true, [soon % (24 * 60)]) { Limits = limits }));
        _world.Restart();
        Assert.Equal(limits, _world.Run(_world.Subsystem.TierSchedules.GetAsync(_world.Pool)).Limits);
        _world.Advance(TimeSpan.FromMinutes(6));
        JobStatus job = Assert.Single(_world.Jobs, static job => job.Name == Optimization);
        Assert.Equal((JobState.Completed, 16L * Slice), (job.State, job.BytesPromoted + job.BytesDemoted));
        _world.Run(_world.Subsystem.TierSchedules.SetAsync(_world.Pool, static schedule => schedule with { Limits = TierLimits.None }));
        Assert.Equal(TierLimits.None, _world.Run(_world.Subsystem.TierSchedules.GetAsync(_world.Pool)).Limits);
    }

    [Theory]
    [InlineData(Slice - 1, 0)]
    [InlineData(0, 0)]
    [InlineData(-1, 0)]
    [InlineData(Slice, 999_999)]
    [InlineData(Slice, -1)]
    [InlineData(Slice, 10_001_000_000)]
    public void Limits_out_of_their_range_are_refused_and_nothing_moves(long bytes, long latency)
    {
        TierLimits limits = new(bytes, latency);
        ManagementException refused = Assert.Throws<ManagementException>(() => Optimize(limits));
        Assert.Equal(ManagementError.InvalidParameter, refused.Error);
        Assert.Contains("Valid: ", refused.Message, StringComparison.Ordinal);
        Assert.Throws<ManagementException>(() => Plan(limits));
        Assert.Throws<ManagementException>(() => _world.Run(_world.Subsystem.TierSchedules.SetAsync(
            _world.Pool, schedule => schedule with { Limits = limits })));
        Assert.Empty(_world.Jobs);
        Assert.Equal(TierLimits.None, _world.Run(_world.Subsystem.TierSchedules.GetAsync(_world.Pool)).Limits);
    }

    [Fact]
    public void Beside_clients_a_run_keeps_their_mean_latency_at_or_below_its_target()
    {
        double alone = Alone();
        long target = (long)(alone * 1.15);
        double kept = MeanBeside(new TierLimits(LatencyTargetNs: target), out long moved);
        _output.WriteLine($"alone {alone / 1e6:f2} ms, target {target / 1e6:f2} ms: {kept / 1e6:f2} ms, {moved >> 10} KiB moved");
        Assert.InRange(kept, 0, target);
        Assert.InRange(moved, 1, long.MaxValue);
    }

    [Fact]
    public void Without_a_target_the_same_run_makes_clients_slower_than_that()
    {
        double alone = Alone();
        double beside = MeanBeside(TierLimits.None, out long moved);
        Assert.DoesNotContain(Plan(TierLimits.None).Moves, static move => move.Slice is >= Fast and < FirstHot);
        _output.WriteLine($"alone {alone / 1e6:f2} ms, beside {beside / 1e6:f2} ms, {moved >> 10} KiB moved");
        Assert.True(beside > alone * 1.3);
    }

    private double Alone()
    {
        MeanBeside(null, out _);   // checksum pages are in memory from here on
        double mean = MeanBeside(null, out _);
        Heat(500);   // what these clients read is not so hot that it is to move
        return mean;
    }

    private void Heat(int rounds)
    {
        for (int i = 0; i < rounds * 16; i++)
        {
            _world.Read(_disk, (FirstHot + (i % 16)) * (long)Slice, 4096);
        }
    }

    /// <summary>Mean latency, in nanoseconds, of reads of 4 KiB at random from slices that stay on HDD, until a run has ended or for three seconds.</summary>
    private double MeanBeside(TierLimits? limits, out long moved)
    {
        Random random = new(3);
        Task<TierOptimization>? run = limits is null ? null : _world.Subsystem.TierOptimizer.OptimizeAsync(_disk, limits);
        _world.Until(() => run is null || _world.Jobs.Any(static job => job is { State: JobState.Running, BytesTotal: > 0 }));
        IoBuffer buffer = _world.Lane.Buffers.Rent(4096);
        (long startNs, int reads) = (_world.Lane.NowNs, 0);
        while (_world.Lane.NowNs - startNs < 3_000_000_000 && run?.IsCompleted != true)
        {
            long at = ((Fast * (long)Slice) + (random.NextInt64(12 * Slice / 4096) * 4096));
            Assert.Equal(IoError.None, _world.Lane.Run(_world.Disk(_disk).Read(at, buffer)));
            reads++;
        }

        _world.Lane.Buffers.Return(buffer);
        double mean = (_world.Lane.NowNs - startNs) / (double)reads;
        moved = run is null ? 0 : _world.Jobs.Single(static job => job.Name == Optimization).BytesProcessed;
        return mean;
    }

    /// <summary>A run of which a mebibyte takes a minute.</summary>
    private Task<TierOptimization> BeginSlowly(TierLimits limits)
    {
        _world.Pacing = new JobPacing { BytesPerSecondMax = 16 << 10 };
        _world.Restart();
        Task<TierOptimization> run = _world.Subsystem.TierOptimizer.OptimizeAsync(_disk, limits);
        _world.Until(() => _world.Jobs.Any(static job => job is { Name: Optimization, State: JobState.Running, BytesTotal: > 0 }));
        return run;
    }

    private static IEnumerable<(long Slice, int To)> Shape(TierPlan plan) => plan.Moves.Select(static move => (move.Slice, (int)move.To));

    private void Settle() => _world.Until(() => _world.Jobs.Any(static job => job is { Name: Optimization, State: JobState.Completed }));

    private TierPlan Plan(TierLimits limits) => _world.Run(_world.Subsystem.TierOptimizer.PlanAsync(_disk, limits)).Plan;

    private TierOptimization Optimize(TierLimits limits) => _world.Run(_world.Subsystem.TierOptimizer.OptimizeAsync(_disk, limits));

    private Guid Template(string name, MediaType media) => _world.Run(_world.Subsystem.Tiers.CreateTemplateAsync(
        _world.Pool, new TierTemplateRequest { FriendlyName = name, MediaType = media, ResiliencySettingName = "Simple" })).UniqueId;
}
