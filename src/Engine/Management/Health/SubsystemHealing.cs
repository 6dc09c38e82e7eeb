using TierSpaces.Engine.Devices;
using TierSpaces.Engine.Formats;
using TierSpaces.Engine.Jobs;
using TierSpaces.Engine.Pools;
using TierSpaces.Engine.Primitives;
using TierSpaces.Engine.Resiliency;
using TierSpaces.Engine.VirtualDisks;

namespace TierSpaces.Engine.Management;

// What a pool does about its disks without being asked, looked at once a second:
//
//   the majority of its votes is lost     it is closed, and opened anew when the majority is back
//   a member is missing                   it is looked for; when it is back it takes part again, and what it missed is copied
//   one that is back cannot take part     it is tried again, later each time
//   a disk of a write cache is back       a virtual disk that waits for it, because no other disk of its cache is there, is opened again
//   it is missing past the grace time     it is given up (Usage Retired), if RetireMissingPhysicalDisks says so and a slab on it can be
//                                         made anew elsewhere
//   a disk has had too many errors        it is retired as well, if there is room for all that it holds
//   a retired disk holds slabs            each virtual disk is repaired as soon as one of those slabs has somewhere to go
//
// Invariants
//  1. A virtual disk has one repair. One that is past its rebuilding begins again when there is something to rebuild.
//  2. Stale copies that can be made whole are repaired: at once, and after a repair that left some, later each time that one leaves more than half of what
//     the one before left. A repair that a user has stopped begins again when another disk is back or is to be left.
//  3. A disk that keeps leaving, and not together with others, is looked for later each time, so that it is given up in the end instead of coming and going for ever.
//  4. What changes a pool is done in turn with the verbs; looking for a disk is not, because a disk may take long to answer.
public sealed partial class StorageSubsystem
{
    private const long TendPeriodNs = 1_000_000_000;
    private const long ForgetDeparturesNs = 3_600_000_000_000;
    private const int DoublingsMax = 10;
    private const long SharedCauseNs = 5_000_000_000;

    private readonly LaneSignal _lookEnded = new();
    private int _looks;   // candidates that are being looked at

    private async LaneTask TendPools()
    {
        while (!_stopped)
        {
            await _lane.Delay(TendPeriodNs);
            if (!_stopped)
            {
                NoteAbsences();
                LookForMissing();
                await InTurn(Tend);
            }
        }
    }

    private async LaneTask<Nothing> Tend()
    {
        foreach (ManagedPool managed in _pools.Values.ToArray())
        {
            if (!_stopped)
            {
                await TendLost(managed);
            }

            if (!_stopped && managed.Pool is { HasLostQuorum: false } pool)
            {
                await RetryRejoins(managed, pool);
                await ReopenDecided(managed);
                await GiveUpMissing(managed, pool);
                await RetireFailing(managed, pool);
                await BringBackReturnedCaches(managed);
                await RemoveGivenUpCaches(managed);
                BeginRepairs(managed, pool);
            }
        }

        await GiveBackUnnamed();

        return default;
    }

    private void NoteAbsences()
    {
        foreach (ManagedPool managed in _pools.Values)
        {
            if (managed.Pool is { HasLostQuorum: false } pool)
            {
                NoteAbsences(managed, pool);
            }
        }
    }

    private void NoteAbsences(ManagedPool managed, Pool pool)
    {
        HashSet<DiskNumber> missing = [.. pool.MissingDisks];
        foreach ((DiskNumber number, Absence absence) in managed.Absences.ToArray())
        {
            absence.IsMissing &= missing.Contains(number);
            if (!absence.IsMissing && _lane.NowNs - absence.SinceNs > ForgetDeparturesNs)
            {
                managed.Absences.Remove(number);
            }
        }

        foreach (DiskNumber number in missing)
        {
            if (!managed.Absences.TryGetValue(number, out Absence? absence))
            {
                managed.Absences[number] = absence = new Absence();
            }

            if (!absence.IsMissing)
            {
                absence.IsMissing = true;
                absence.SinceNs = _lane.NowNs;
                absence.NotBeforeNs = NextTry(absence);
                DiscountSharedCause(managed);
            }
        }
    }

    /// <summary>
    /// Disks that leave together have left for a cause that they share (a cable, a controller, power), not because one keeps leaving: that departure
    /// does not make them wait longer the next time.
    /// </summary>
    private void DiscountSharedCause(ManagedPool managed)
    {
        Absence[] together = [.. managed.Absences.Values.Where(absence => absence.IsMissing && _lane.NowNs - absence.SinceNs <= SharedCauseNs)];
        foreach (Absence absence in together.Where(absence => together.Length > 1 && !absence.IsShared))
        {
            absence.IsShared = true;
            absence.Departures--;
            absence.NotBeforeNs = absence.SinceNs + _options.Healing.ReturnPollNs;
        }
    }

    /// <summary>Looks for registered disks that are not there: missing members, and what could not be opened when the host started.</summary>
    private void LookForMissing()
    {
        foreach (RegisteredDisk disk in _registry.Disks)
        {
            if (disk is { IsLookedFor: false, LastOpened: null or { InFlight: 0 } } && (IsAway(disk) || IsUnknown(disk))
                && _lane.NowNs >= Math.Max(disk.NextLookNs, AbsenceOf(disk)?.NotBeforeNs ?? 0))
            {
                Look(disk).Forget();
            }
        }
    }

    private Absence? AbsenceOf(RegisteredDisk disk) =>
        disk.Scan?.Label is { } label && _pools.TryGetValue(label.Pool, out ManagedPool? managed) ? managed.Absences.GetValueOrDefault(label.Number) : null;

    private async LaneTask Look(RegisteredDisk disk)
    {
        disk.IsLookedFor = true;
        _looks++;
        var seen = await Seek(disk);
        _looks--;   // from here on it is the turn that counts
        _lookEnded.NotifyAll();
        if (seen is var (found, scan))
        {
            await InTurn(() => TakeBack(disk, found, scan));
        }

        disk.IsLookedFor = false;
        disk.NextLookNs = _lane.NowNs + _options.Healing.ReturnPollNs;
    }

    private async LaneTask<Nothing> RetryRejoins(ManagedPool managed, Pool pool)
    {
        foreach (DiskNumber number in pool.OutsideDisks.ToArray())
        {
            if (managed.Absences.GetValueOrDefault(number) is not { IsMissing: true } absence || _lane.NowNs < absence.NotBeforeNs)
            {
                continue;
            }

            absence.NotBeforeNs = NextTry(absence);
            if (await RejoinDisk(managed, pool, number))
            {
                StartRepairs(managed);
            }
        }

        return default;
    }

    /// <summary>When a disk that has just left, or could not come back, is looked at next.</summary>
    private long NextTry(Absence absence)
    {
        absence.IsShared = false;
        return _lane.NowNs + (_options.Healing.ReturnPollNs << Math.Min(absence.Departures++, DoublingsMax));
    }

    private async LaneTask<Nothing> GiveUpMissing(ManagedPool managed, Pool pool)
    {
        foreach ((DiskNumber number, Absence absence) in managed.Absences.ToArray())
        {
            if (absence.IsMissing && _lane.NowNs - absence.SinceNs >= _options.Healing.MissingGraceNs
                && pool.MissingDisks.Contains(number) && pool.State.Disk(number) is { UsedSlabs: > 0, Description: { Usage: not DiskUsage.Retired } member }
                && !pool.State.Pool!.IsReadOnly && SlabMover.GivesUpMissing(pool) && CanDrain(managed, pool, number))
            {
                CommitResult retired = await pool.Commit(new DiskChanged(member with { Usage = DiskUsage.Retired }));
                _options.Notice(retired.Succeeded
                    ? $"Physical disk {member.FriendlyName} has been missing for {TimeSpan.FromTicks((_lane.NowNs - absence.SinceNs) / 100):c}: it is retired, and what it held is made anew on other disks."
                    : $"Physical disk {member.FriendlyName} is missing and could not be retired: {retired.Reason}");
            }
        }

        return default;
    }

    private bool CanDrain(ManagedPool managed, Pool pool, DiskNumber number) =>
        UsersOf(managed).Any(user => user.Disk.Open.Fault == IoError.None && new SlabMover(user.Home.Pool!, user.Disk.Open).CanLeave(pool, number));

    /// <summary>Begins the repairs that are due, or lets those that have passed their rebuilding begin again.</summary>
    private void BeginRepairs(ManagedPool managed, Pool pool)
    {
        foreach (ManagedVirtualDisk disk in managed.VirtualDisks.Values.ToArray())
        {
            if (disk.Open.Fault != IoError.None || _lane.NowNs < disk.RepairNotBeforeNs || RepairOf(managed, disk) is { Step: ResyncStep or RegenerateStep })
            {
                continue;
            }

            (Pool Pool, DiskNumber Disk)[] leaving = [.. RetiredUnder(pool, disk)];
            SlabMover mover = new(pool, disk.Open);
            bool isDue = (!disk.IsResyncStopped && disk.Open.BytesToResync > 0)
                || (leaving.Except(disk.StoppedFor).Any() && leaving.Any(left => mover.CanLeave(left.Pool, left.Disk)));
            disk.RepairNotBeforeNs = _lane.NowNs + (isDue ? _options.Healing.RetryNs : leaving.Length > 0 ? 10 * TendPeriodNs : 2 * TendPeriodNs);
            if (isDue)
            {
                BeginRepair(managed, disk);
            }
        }
    }

    /// <summary>Retired disks with slabs, of the pool of a virtual disk and of the one that its write cache is in.</summary>
    private static IEnumerable<(Pool Pool, DiskNumber Disk)> RetiredUnder(Pool pool, ManagedVirtualDisk disk) =>
        new[] { pool, disk.Open.Lent?.Pool }.OfType<Pool>().SelectMany(static one => RetiredWithSlabs(one).Select(number => (one, number)));

    private static DiskNumber[] RetiredWithSlabs(Pool pool) =>
    [
        .. pool.State.Disks.Values.Where(disk => disk.Description.Usage == DiskUsage.Retired && disk.UsedSlabs > 0)
            .Select(disk => disk.Description.Number),
    ];

    private StorageJob? RepairOf(ManagedPool managed, ManagedVirtualDisk disk) => _jobs.Running(managed.Id.Value)
        .LastOrDefault(job => job.Spec.VirtualDisk == disk.Open.Description.Id.Value && job.Spec.Kind == JobKind.Repair);

    /// <summary>Repairs a virtual disk from the beginning: its repair under way does, or a new one.</summary>
    private void BeginRepair(ManagedPool managed, ManagedVirtualDisk disk)
    {
        disk.IsResyncStopped = false;
        if (RepairOf(managed, disk) is not { } running || !running.BeginAgain())
        {
            StartJob(managed, disk, JobKind.Repair, _lane.NewGuid(), null);
        }
    }

    /// <summary>What a repair that has ended leaves to be done, and when.</summary>
    private void NoteRepairEnded(ManagedPool managed, StorageJob job)
    {
        if (managed.Pool is { } pool && managed.VirtualDisks.TryGetValue(new VirtualDiskId(job.Spec.VirtualDisk), out ManagedVirtualDisk? disk))
        {
            bool isStopped = job.State == JobState.Terminated;
            disk.StoppedFor = isStopped ? [.. RetiredUnder(pool, disk)] : [];
            disk.IsResyncStopped = isStopped;
            long left = isStopped ? 0 : disk.Open.BytesToResync;
            bool isWhole = job.State == JobState.Completed && left == 0 && new SlabMover(pool, disk.Open).Plan(givesUpMissing: false).Count == 0;
            disk.VainRepairs = left > 0 && left > disk.LeftByRepair / 2 && disk.LeftByRepair > 0 ? disk.VainRepairs + 1 : 0;
            disk.LeftByRepair = left;
            disk.RepairNotBeforeNs = isWhole || isStopped ? 0
                : _lane.NowNs + (left > 0 ? _options.Healing.ReturnPollNs << Math.Min(disk.VainRepairs, DoublingsMax) : _options.Healing.RetryNs);
        }
    }
}
