using TierSpaces.Engine.Formats;
using TierSpaces.Engine.Lanes;
using TierSpaces.Engine.Pools;
using TierSpaces.Engine.Primitives;

namespace TierSpaces.Engine.Management;

/// <summary>Verifies virtual disks on command and at the interval of their pool.</summary>
public sealed class ScrubService
{
    private static readonly TimeSpan s_scrubIntervalDefault = TimeSpan.FromDays(14);
    private readonly SubsystemCore _core;
    private readonly JobRunner _runner;
    private readonly RepairService _repairs;

    internal ScrubService(SubsystemCore core, JobRunner runner, RepairService repairs) => (_core, _runner, _repairs) = (core, runner, repairs);

    /// <summary>Returns the interval at which the virtual disks of a pool are verified; zero: never.</summary>
    public Task<TimeSpan> IntervalAsync(Guid pool) => _core.Verbs.Look(() => IntervalOf(_core.Pools.TakeOpen(pool).Pool!));

    /// <summary>Sets the interval at which the virtual disks of a pool are verified.</summary>
    /// <param name="pool">The pool.</param>
    /// <param name="interval">From one minute on, or zero for never; whole seconds count.</param>
    /// <exception cref="ManagementException">The interval is outside its range or the pool is not open; nothing was changed.</exception>
    public Task<bool> SetIntervalAsync(Guid pool, TimeSpan interval) => _core.Verbs.Change(async LaneTask<bool> () =>
    {
        if (interval != TimeSpan.Zero && (interval < TimeSpan.FromMinutes(1) || interval > TimeSpan.FromDays(3650)))
        {
            throw new ManagementException(
                ManagementError.InvalidParameter, $"Scrub interval of {interval}: out of range. Valid: zero (never), or one minute to 3650 days.",
                "Choose another.");
        }

        ManagedPool managed = _core.Pools.TakeOpen(pool);
        JobProgress setting = new()
        {
            Kind = JobKind.ScrubInterval, Subject = pool, UtcTicks = _core.Lane.UtcNow.UtcTicks, Cursor = (long)interval.TotalSeconds,
        };
        Commits.Require(await managed.Pool!.Commit(new JobRecord(pool, setting.Encode())), managed.Pool.State.Pool!.FriendlyName);
        return true;
    });

    /// <summary>Verifies a virtual disk that has not been verified for too long: one of a pool at a time.</summary>
    internal async LaneTask<Nothing> StartWhenDue(ManagedPool managed, ManagedVirtualDisk disk)
    {
        Guid id = disk.Description.Id.Value;
        if (_core.Verbs.IsStopped || _core.Verbs.IsTaken || managed.Pool is not { HasLostQuorum: false } pool || disk.Status.Fault != IoError.None)
        {
            return default;
        }

        TimeSpan interval = IntervalOf(pool);
        if (!pool.State.Jobs.TryGetValue(id, out JobRecord? record) || JobProgress.TryDecode(record.State) is not { } last)
        {
            await JobRunner.Save(managed, id, _runner.LastScrub(id));   // the interval counts from when it was first seen
        }
        else if (interval > TimeSpan.Zero && _core.Lane.UtcNow.UtcTicks - last.UtcTicks >= interval.Ticks && !_runner.Running(managed.Id.Value).Any())
        {
            _repairs.StartJob(managed, disk, JobKind.Scrub, _core.Lane.NewGuid(), null);
        }

        return default;
    }

    /// <summary>Returns the interval of an open pool.</summary>
    internal static TimeSpan IntervalOf(IPoolReader pool) =>
        pool.State.Jobs.TryGetValue(pool.Id.Value, out JobRecord? record) && JobProgress.TryDecode(record.State) is { } setting
            ? TimeSpan.FromSeconds(setting.Cursor) : s_scrubIntervalDefault;
}
