using TierSpaces.Engine.Devices;
using TierSpaces.Engine.Formats;
using TierSpaces.Engine.Lanes;
using TierSpaces.Engine.Pools;
using TierSpaces.Engine.Primitives;
using TierSpaces.Engine.VirtualDisks;

namespace TierSpaces.Engine.Management;

// A disk whose errors spread is retired before it fails altogether.
//
// A place is 64 KiB of a disk at which a request failed with an I/O error, or gave blocks that are not what their checksum says (BadPlaces). It counts
// once until it is rewritten, so one damaged place that a client reads again and again counts as one. Requests that time out and disks
// that are gone do not count: those leave the pool by themselves. The count starts at zero when the host starts.
//
// A disk is expected to fail with
//   - BadPlacesMax distinct places within BadPlacesWindowNs, or
//   - distinct places in at least one of BadPlacesReads reads, over at least BadPlacesReadsMin reads.
//
// Such a disk is in "Predictive Failure", and retired as soon as all that it holds has room elsewhere. Retiring removes no data:
// until a slab has been rebuilt elsewhere it serves where it is.

/// <summary>Counts the errors of disks, and retires those whose errors spread.</summary>
internal sealed class FailingDisks(SubsystemCore core, ReliabilityRecords reliability)
{
    /// <summary>Distinct bad places within <see cref="BadPlacesWindowNs"/> from which on a disk is expected to fail.</summary>
    internal const int BadPlacesMax = 10;

    /// <summary>The window in which they are counted, in nanoseconds: a day.</summary>
    internal const long BadPlacesWindowNs = 86_400L * 1_000_000_000;

    /// <summary>Reads for each of which one bad place is too many.</summary>
    internal const int BadPlacesReads = 1000;

    /// <summary>Fewest reads over which that is judged.</summary>
    internal const int BadPlacesReadsMin = 10_000;

    private readonly Dictionary<Guid, ErrorWatch> _errorWatches = [];

    internal async LaneTask<Nothing> RetireFailing(ManagedPool managed, Pool pool)
    {
        await reliability.GatherFindings(managed, pool);
        foreach (DiskState disk in pool.State.Disks.Values)
        {
            if (pool.Disk(disk.Description.Number) is MeteredDisk { IsPresent: true } device)
            {
                CountErrors(disk.Description, device);
                await RetireIfFailing(managed, pool, disk);
            }
        }

        return default;
    }

    /// <summary>Resets the error count of a disk.</summary>
    internal void Forget(Guid disk) => _errorWatches.Remove(disk);

    private void CountErrors(DiskDescription disk, MeteredDisk device)
    {
        Guid id = disk.Id.Value;
        if (!_errorWatches.TryGetValue(id, out ErrorWatch? watch))
        {
            _errorWatches[id] = watch = new ErrorWatch();
        }

        watch.ReadsBefore += watch.Device is { } before && before != device ? before.TotalCounters().ReadOperations : 0;
        watch.Device = device;
        foreach (long place in device.BadPlaces.Take())
        {
            watch.Places[place] = core.Lane.NowNs;
        }

        if (watch.WhyFailing(core.Lane.NowNs) is { Length: > 0 } why && !reliability.Of(id).IsPastThreshold)
        {
            reliability.SetPastThreshold(id, true);
            reliability.Save().Forget();
            core.Notice($"Physical disk {disk.FriendlyName} is expected to fail: {why}.");
        }
    }

    private async LaneTask<Nothing> RetireIfFailing(ManagedPool managed, Pool pool, DiskState disk)
    {
        DiskDescription member = disk.Description;
        ErrorWatch watch = _errorWatches[member.Id.Value];
        if (!reliability.Of(member.Id.Value).IsPastThreshold || member.Usage == DiskUsage.Retired || pool.State.Pool!.IsReadOnly
            || core.Lane.NowNs < watch.NotBeforeNs)
        {
            return default;
        }

        watch.NotBeforeNs = core.Lane.NowNs + core.Options.Healing.RetryNs;
        if (HasRoomForAll(managed, pool, disk))
        {
            CommitResult retired = await pool.Commit(new DiskChanged(member with { Usage = DiskUsage.Retired }));
            core.Notice(retired.Succeeded
                ? $"Physical disk {member.FriendlyName} is retired because of its errors; what it holds moves to other disks."
                : $"Physical disk {member.FriendlyName} could not be retired: {retired.Reason}");
        }

        return default;
    }

    private bool HasRoomForAll(ManagedPool managed, Pool pool, DiskState disk)
    {
        DiskNumber number = disk.Description.Number;
        long free = pool.State.Disks.Values
            .Where(other => other.Description.Number != number && other.Description.Usage is not (DiskUsage.Retired or DiskUsage.ManualSelect))
            .Sum(other => pool.Allocator.FreeSlabs(other.Description.Number));
        return free >= disk.UsedSlabs
            && core.Pools.UsersOf(managed)
                .All(user => user.Disk.Status.Fault == IoError.None && new SlabMover(user.OwnerPool.Pool!, user.Disk.Opened).CanAllLeave(pool, number));
    }

    /// <summary>Errors of a disk since the host started.</summary>
    private sealed class ErrorWatch
    {
        internal MeteredDisk? Device { get; set; }

        /// <summary>Reads of the devices that the disk was before.</summary>
        internal long ReadsBefore { get; set; }

        /// <summary>Bad places, each with the time at which it was last found bad for the first time since it was written.</summary>
        internal Dictionary<long, long> Places { get; } = [];

        /// <summary>Before this it is not tried again to retire it.</summary>
        internal long NotBeforeNs { get; set; }

        /// <summary>Returns the reason why the disk is predicted to fail; empty if it is not.</summary>
        internal string WhyFailing(long nowNs)
        {
            int recent = Places.Count == 0 ? 0 : Places.Values.Count(foundNs => nowNs - foundNs <= BadPlacesWindowNs);
            long reads = ReadsBefore + (Device?.TotalCounters().ReadOperations ?? 0);
            return recent >= BadPlacesMax ? $"{recent} distinct places of {ByteText.Exact(BadPlaces.PlaceBytes)} were bad within 24 hours"
                : reads >= BadPlacesReadsMin && (long)Places.Count * BadPlacesReads >= reads ? $"{Places.Count} distinct places were bad in {reads} reads"
                : "";
        }
    }
}
