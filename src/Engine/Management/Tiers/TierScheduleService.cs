using System.Globalization;
using TierSpaces.Engine.Formats;
using TierSpaces.Engine.Lanes;
using TierSpaces.Engine.Pools;
using TierSpaces.Engine.Primitives;
using TierSpaces.Engine.Tiering;

namespace TierSpaces.Engine.Management;

/// <summary>Schedule by which the tiers of a pool's virtual disks are optimized without a command.</summary>
/// <param name="IsEnabled">Whether the schedule is in use.</param>
/// <param name="Times">Times of the day, local, in minutes since midnight, ascending; 1 to 48 of them.</param>
/// <param name="IsContinuous">Whether slices also move as soon as that is worth it, and the faster tiers are kept from being full.</param>
/// <param name="FreeReservePercent">Percent of the faster tiers that are kept free then, 0 to 50.</param>
public sealed record TierSchedule(bool IsEnabled, IReadOnlyList<int> Times, bool IsContinuous = false, int FreeReservePercent = 10)
{
    /// <summary>Every night at one.</summary>
    public static TierSchedule Default { get; } = new(true, [60]);

    /// <summary>
    /// Limits of each run for one virtual disk. The most bytes are those of runs at the times; the latency target is also that of the continuous mode.
    /// </summary>
    public TierLimits Limits { get; init; } = TierLimits.None;
}

/// <summary>Reads and sets the optimization schedule of a pool: a record in the metadata of the pool.</summary>
public sealed class TierScheduleService
{
    private const int TimesMax = 48;
    private const long ScheduleEnabled = 1;      // in the cursor of its record
    private const long ScheduleContinuous = 2;

    private readonly SubsystemCore _core;

    internal TierScheduleService(SubsystemCore core) => _core = core;

    /// <summary>Returns the schedule by which the tiers of a pool's virtual disks are optimized.</summary>
    public Task<TierSchedule> GetAsync(Guid pool) => _core.Verbs.Look(() => Of(_core.Pools.TakeOpen(pool).Pool!));

    /// <summary>Sets the schedule.</summary>
    /// <exception cref="ManagementException">A time is outside its range, there are none or too many, or the pool is not open; nothing was changed.</exception>
    public Task<TierSchedule> SetAsync(Guid pool, TierSchedule schedule) => SetAsync(pool, _ => schedule);

    /// <summary>Changes the schedule.</summary>
    /// <param name="pool">The pool.</param>
    /// <param name="change">Returns the schedule after the change; called on the lane with the one that is in force.</param>
    /// <exception cref="ManagementException">A time is outside its range, there are none or too many, or the pool is not open; nothing was changed.</exception>
    public Task<TierSchedule> SetAsync(Guid pool, Func<TierSchedule, TierSchedule> change) => _core.Verbs.Change(async LaneTask<TierSchedule> () =>
    {
        (ManagedPool managed, TierSchedule schedule, int[] times) = PossibleSchedule(pool, change);
        JobProgress setting = new()
        {
            Kind = JobKind.TierSchedule, Subject = pool, UtcTicks = _core.Lane.UtcNow.UtcTicks,
            Cursor = (schedule.IsEnabled ? ScheduleEnabled : 0) | (schedule.IsContinuous ? ScheduleContinuous : 0),
            BytesProcessed = schedule.FreeReservePercent,
            Step = string.Join(',', times.Select(static minute => minute.ToString(CultureInfo.InvariantCulture))),
        };
        setting = TierLimitChecks.With(setting, schedule.Limits)!;
        Commits.Require(await managed.Pool!.Commit(new JobRecord(ScheduleKey(pool), setting.Encode())), managed.Pool.State.Pool!.FriendlyName);
        return Of(managed.Pool);
    });

    /// <summary>Refuses what <see cref="SetAsync(Guid, Func{TierSchedule, TierSchedule})"/> would refuse.</summary>
    public Task<bool> CheckSetAsync(Guid pool, Func<TierSchedule, TierSchedule> change) => _core.Verbs.Check(() => PossibleSchedule(pool, change));

    /// <summary>Returns the schedule of an open pool.</summary>
    internal static TierSchedule Of(IPoolReader pool)
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
            (int)Math.Clamp(setting.BytesProcessed, 0, TierPlanSettings.FreeReservePercentMax)) { Limits = TierLimitChecks.Of(setting) };
    }

    private (ManagedPool Pool, TierSchedule Schedule, int[] Times) PossibleSchedule(Guid pool, Func<TierSchedule, TierSchedule> change)
    {
        ManagedPool managed = _core.Pools.TakeOpen(pool);
        TierSchedule schedule = change(Of(managed.Pool!));
        int[] times = [.. schedule.Times.Distinct().Order()];
        if (times.Length is < 1 or > TimesMax || times.Any(static minute => minute is < 0 or >= 24 * 60))
        {
            throw new ManagementException(
                ManagementError.InvalidParameter, $"{schedule.Times.Count} times of the day are not possible; 1 to {TimesMax} from 00:00 to 23:59 are.",
                "Give other times, or switch the schedule off.");
        }

        if (schedule.FreeReservePercent is < 0 or > TierPlanSettings.FreeReservePercentMax)
        {
            throw new ManagementException(
                ManagementError.InvalidParameter,
                $"-FreeReservePercent {schedule.FreeReservePercent}: out of range. Valid: 0 to {TierPlanSettings.FreeReservePercentMax} percent.",
                "Give another one.");
        }

        TierLimitChecks.RequireForPool(schedule.Limits);

        return (managed, schedule, times);
    }

    /// <summary>The record that a pool's schedule is kept under: not its id, which the interval of verifying has.</summary>
    private static Guid ScheduleKey(Guid pool)
    {
        byte[] bytes = pool.ToByteArray();
        bytes[15] ^= (byte)JobKind.TierSchedule;
        return new Guid(bytes);
    }
}
