using TierSpaces.Engine.Devices;
using TierSpaces.Engine.Formats;
using TierSpaces.Engine.Lanes;
using TierSpaces.Engine.Pools;
using TierSpaces.Engine.Primitives;
using TierSpaces.Engine.VirtualDisks;

namespace TierSpaces.Engine.Management;

// A member that is not in the view of its pool is asked for again every few seconds, by Update-StoragePool, and whenever a disk is registered; one that
// was there and could not take part is tried again in the same way.
//
// Invariants
//  1. A disk that keeps leaving, and not together with others, is looked for later each time, so that it is given up in the end instead of coming and going for
//     ever.
//  2. A disk is looked for once at a time. A device that is found is open only until it is taken back or released.

/// <summary>Looks for members that are missing, and gives up those that stay away.</summary>
internal sealed class MissingDisks(SubsystemCore core, DiskOpener diskOpener, PoolOpener opener, Rejoins rejoins, RepairService repairs)
{
    private const long ForgetDeparturesNs = 3_600_000_000_000;
    private const long SharedCauseNs = 5_000_000_000;

    private readonly LaneSignal _lookEnded = new();
    private int _looks;   // candidates that are being looked at

    /// <summary>Completes when no look at a disk is under way. A look holds its disk open.</summary>
    internal async LaneTask<Nothing> WaitForLooks()
    {
        while (_looks > 0)
        {
            await _lookEnded.Wait();
        }

        return default;
    }

    /// <summary>Notes which members have left, or are back.</summary>
    internal void NoteAbsences()
    {
        foreach (ManagedPool managed in core.Pools.All)
        {
            if (managed.Pool is { HasLostQuorum: false } pool)
            {
                NoteAbsences(managed, pool);
            }
        }
    }

    /// <summary>Looks for registered disks that are not there: missing members, and what could not be opened when the host started.</summary>
    internal void LookForMissing()
    {
        foreach (RegisteredDisk disk in core.Disks.All)
        {
            if (disk is { Search.IsUnderWay: false, Device.LastOpened: null or { InFlight: 0 } } && (core.Disks.IsAway(disk) || DiskTable.IsUnknown(disk))
                && core.Lane.NowNs >= Math.Max(disk.Search.NextNs, core.Disks.AbsenceOf(disk)?.NotBeforeNs ?? 0))
            {
                LookFor(disk).Forget();
            }
        }
    }

    /// <summary>Closes disks that were refused as copies and are gone, and uses the one that is left of each identity.</summary>
    internal async LaneTask<Nothing> LeaveGoneCopies()
    {
        foreach (RegisteredDisk disk in core.Disks.All.Where(
            static disk => disk is { Condition.Copy: not CopyState.None, Device: { Open.IsPresent: false, LastOpened.InFlight: 0 } }).ToArray())
        {
            await disk.Device.Close();
            disk.Lost($"{disk.Stored.Uri} is not there.", CannotPoolKind.Offline);   // looked for like one that never was
        }

        return await opener.UseReleased();
    }

    /// <summary>Looks again, on command, for members of open pools that are not in their view.</summary>
    internal async LaneTask<Nothing> ReturnAll()
    {
        foreach (RegisteredDisk disk in core.Disks.All.ToArray())
        {
            if (core.Disks.IsAway(disk) && await diskOpener.Seek(disk) is var (found, scan))
            {
                await TakeBack(disk, found, scan);
            }
        }

        return default;
    }

    /// <summary>Lets disks that are there and could not take part try again.</summary>
    internal async LaneTask<Nothing> RetryRejoins(ManagedPool managed, Pool pool)
    {
        foreach (DiskNumber number in pool.OutsideDisks.ToArray())
        {
            if (managed.Absences.GetValueOrDefault(number) is not { IsMissing: true } absence || core.Lane.NowNs < absence.NotBeforeNs)
            {
                continue;
            }

            absence.AwaitNextTry(core.Lane.NowNs, core.Options.Healing.ReturnPollNs);
            if (await rejoins.Rejoin(managed, pool, number))
            {
                await repairs.StartRepairs(managed);
            }
        }

        return default;
    }

    /// <summary>Retires members that have been missing past the grace time.</summary>
    internal async LaneTask<Nothing> GiveUpMissing(ManagedPool managed, Pool pool)
    {
        foreach ((DiskNumber number, Absence absence) in managed.Absences.ToArray())
        {
            if (absence.IsMissing && core.Lane.NowNs - absence.SinceNs >= core.Options.Healing.MissingGraceNs
                && pool.MissingDisks.Contains(number) && pool.State.Disk(number) is { UsedSlabs: > 0, Description: { Usage: not DiskUsage.Retired } member }
                && !pool.State.Pool!.IsReadOnly && SlabMovePlan.GivesUpMissing(pool) && CanDrain(managed, pool, number))
            {
                CommitResult retired = await pool.Commit(new DiskChanged(member with { Usage = DiskUsage.Retired }));
                core.Notice(retired.Succeeded
                    ? $"Physical disk {member.FriendlyName} has been missing for {TimeSpan.FromTicks((core.Lane.NowNs - absence.SinceNs) / 100):c}: it is retired, and what it held is rebuilt on other disks."
                    : $"Physical disk {member.FriendlyName} is missing and could not be retired: {retired.Reason}");
            }
        }

        return default;
    }

    internal void NoteAbsences(ManagedPool managed, Pool pool)
    {
        HashSet<DiskNumber> missing = [.. pool.MissingDisks];
        foreach ((DiskNumber number, Absence absence) in managed.Absences.ToArray())
        {
            absence.NoteLook(absence.IsMissing && missing.Contains(number));
            if (!absence.IsMissing && core.Lane.NowNs - absence.SinceNs > ForgetDeparturesNs)
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
                absence.Leave(core.Lane.NowNs, core.Options.Healing.ReturnPollNs);
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
        Absence[] together = [.. managed.Absences.Values.Where(absence => absence.IsMissing && core.Lane.NowNs - absence.SinceNs <= SharedCauseNs)];
        if (together.Length > 1)
        {
            Array.ForEach(together, absence => absence.Discount(core.Options.Healing.ReturnPollNs));
        }
    }

    private async LaneTask LookFor(RegisteredDisk disk)
    {
        disk.Search.Begin();
        _looks++;
        (IDisk Disk, PoolScan Scan)? seen = await diskOpener.Seek(disk);
        _looks--;   // from here on the verb queue orders it
        _lookEnded.NotifyAll();
        if (seen is var (found, scan))
        {
            await core.Verbs.Enqueue(() => TakeBack(disk, found, scan));
        }

        disk.Search.End(core.Lane.NowNs + core.Options.Healing.ReturnPollNs);
    }

    private bool CanDrain(ManagedPool managed, Pool pool, DiskNumber number) =>
        core.Pools.UsersOf(managed)
            .Any(user => user.Disk.Status.Fault == IoError.None && new SlabMover(user.OwnerPool.Pool!, user.Disk.Opened).CanLeave(pool, number));

    /// <summary>A missing disk has been found. If it is still wanted it takes part again, else it is let go.</summary>
    private async LaneTask<Nothing> TakeBack(RegisteredDisk disk, IDisk found, PoolScan scan)
    {
        if (core.Verbs.IsStopped || !core.Disks.All.Contains(disk) || !(core.Disks.IsAway(disk) || DiskTable.IsUnknown(disk)))
        {
            await found.Close();
            return default;
        }

        disk.Found(found);
        core.Disks.Saw(disk, scan);
        if (scan.Label is { } label && core.Pools.Find(label.Pool) is { Pool: null })
        {
            return await opener.Open(only: label.Pool);
        }

        await opener.OfferOrOpen(disk);
        if (core.Disks.AbsenceOf(disk) is { } absence)
        {
            absence.NoteLook(isMissing: core.Disks.IsAway(disk));
        }

        return default;
    }
}
