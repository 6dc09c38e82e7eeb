using TierSpaces.Engine.Formats;
using TierSpaces.Engine.Lanes;
using TierSpaces.Engine.Pools;
using TierSpaces.Engine.Primitives;
using TierSpaces.Engine.Tiering;
using TierSpaces.Engine.VirtualDisks;

namespace TierSpaces.Engine.Management;

/// <summary>Begins optimizations of tiers at their times and, in continuous mode, when they are worth it; saves heat.</summary>
internal sealed class TierUpkeep(SubsystemCore core, JobRunner runner, TierOptimizer optimizer)
{
    private const long ContinuousBytes = 1L << 30;   // planned at once, so that the plan stays young

    private readonly Dictionary<Guid, long> _tierTimes = [];   // per pool: minute, since year 1, up to which its schedule has been looked at
    private readonly HashSet<Guid> _tiersDue = [];             // virtual disks whose time has come and whose optimization has not begun

    /// <summary>Once a minute: begins optimizations whose time has come, one in a pool at a time, and saves heat that has changed.</summary>
    internal async LaneTask<Nothing> Tend(ManagedPool managed)
    {
        if (core.Verbs.IsStopped || managed.Pool is not { HasLostQuorum: false } pool)
        {
            return default;
        }

        ManagedVirtualDisk[] disks = [.. managed.VirtualDisks.Values.Where(static disk => disk.Status is { IsTiered: true, Fault: IoError.None })];
        bool mayStart = !core.Verbs.IsTaken && !pool.State.Pool!.IsReadOnly;
        bool isDue = mayStart && IsTierTime(pool);   // asked only when it can be followed: a time that is passed over now is found the next time
        TierSchedule schedule = TierScheduleService.Of(pool);
        foreach (ManagedVirtualDisk disk in disks.Where(static disk => disk.Status.HasSeveralTiers))
        {
            Guid id = disk.Description.Id.Value;
            if (isDue)
            {
                _tiersDue.Add(id);
            }
            else if (!schedule.IsEnabled)
            {
                _tiersDue.Remove(id);   // switched off before it began
            }

            if (mayStart && !optimizer.IsOptimizing(managed) && _tiersDue.Remove(id))
            {
                optimizer.Start(managed, disk, JobKind.OptimizeTiers, core.Lane.NewGuid(), null, schedule.Limits);
            }
        }

        foreach (ManagedVirtualDisk disk in disks.Where(static disk => disk.Status.HasSeveralTiers))
        {
            await OptimizeWhenWorth(managed, disk);
        }

        foreach (ManagedVirtualDisk disk in disks)
        {
            await disk.Call(static open => open.Tiering!.SaveChangedHeat());   // does nothing to one that has been closed meanwhile
        }

        return default;
    }

    /// <summary>Continuous mode: begins an optimization when there is something to move and none is under way.</summary>
    private async LaneTask<Nothing> OptimizeWhenWorth(ManagedPool managed, ManagedVirtualDisk disk)
    {
        if (!MayStart())
        {
            return default;
        }

        Func<DiskTiering, TierPlanSettings> settingsOf = TierOptimizer.SettingsOf(managed.Pool!);
        bool isWorth = await disk.Call(async LaneTask<bool> (open) => (await open.Tiering!.Plan(settingsOf(open.Tiering))).Moves.Count > 0);
        if (isWorth && MayStart())   // another job may have begun while the plan was made
        {
            TierLimits limits = TierScheduleService.Of(managed.Pool!).Limits with { MaxBytes = ContinuousBytes };
            optimizer.Start(managed, disk, JobKind.OptimizeTiers, core.Lane.NewGuid(), null, limits);
        }

        return default;

        bool MayStart() => !core.Verbs.IsStopped && !core.Verbs.IsTaken
            && managed.Pool is { HasLostQuorum: false } pool && !pool.State.Pool!.IsReadOnly && TierScheduleService.Of(pool).IsContinuous
            && managed.Has(disk) && disk.Status.Fault == IoError.None
            && !runner.Running(managed.Id.Value).Any(job => job.Spec.VirtualDisk == disk.Description.Id.Value);
    }

    /// <summary>Whether a time of the schedule has come since this was last asked; the first time it is asked, none has.</summary>
    private bool IsTierTime(Pool pool)
    {
        DateTime now = core.Lane.UtcNow.ToLocalTime().DateTime;
        long minute = now.Ticks / TimeSpan.TicksPerMinute;
        bool isKnown = _tierTimes.TryGetValue(pool.Id.Value, out long seen);
        _tierTimes[pool.Id.Value] = minute;
        TierSchedule schedule = TierScheduleService.Of(pool);
        long day = TimeSpan.TicksPerDay / TimeSpan.TicksPerMinute;
        return isKnown && schedule.IsEnabled && schedule.Times.Any(time => LastTime(time) > seen);

        long LastTime(int time) => minute - ((minute - time) % day);
    }
}
