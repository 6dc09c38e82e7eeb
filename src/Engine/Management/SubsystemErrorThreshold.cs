using TierSpaces.Engine.Devices;
using TierSpaces.Engine.Formats;
using TierSpaces.Engine.Pools;
using TierSpaces.Engine.Primitives;
using TierSpaces.Engine.VirtualDisks;

namespace TierSpaces.Engine.Management;

// A disk that keeps failing is retired before it fails altogether.
//
// What counts is the number of seconds in which a member that was there failed a request with an I/O error, or gave blocks that are not
// what their checksum says: ErrorSecondsMax of them within ErrorWindowNs. Seconds, because one event, such as a long write that was lost, is
// found as hundreds of errors at once and says no more than one. Requests that time out and disks that are gone do not count:
// those leave the pool by themselves. The count begins anew with the host.
//
// Such a disk is in "Predictive Failure", and retired as soon as all that it holds has room elsewhere. Retiring takes nothing away:
// until a slab has been made anew it serves where it is.
public sealed partial class StorageSubsystem
{
    /// <summary>Seconds with errors within <see cref="ErrorWindowNs"/> from which on a disk is expected to fail.</summary>
    public const int ErrorSecondsMax = 10;

    /// <summary>The window in which they are counted, in nanoseconds: ten minutes.</summary>
    public const long ErrorWindowNs = 600_000_000_000;

    private readonly Dictionary<Guid, ErrorWatch> _errorWatches = [];

    private async LaneTask<Nothing> RetireFailing(ManagedPool managed, Pool pool)
    {
        foreach ((_, ManagedVirtualDisk disk) in UsersOf(managed))
        {
            GatherFindings(pool, disk);
        }

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

    private void CountErrors(DiskDescription disk, MeteredDisk device)
    {
        Guid id = disk.Id.Value;
        long mismatches = _reliability.MismatchesOf(id);
        if (!_errorWatches.TryGetValue(id, out ErrorWatch? watch) || watch.Device != device)
        {
            watch ??= _errorWatches[id] = new ErrorWatch { Mismatches = mismatches };
            (watch.Device, watch.MediaErrors) = (device, 0);
        }

        if (device.Counters.MediaErrors > watch.MediaErrors || mismatches > watch.Mismatches)
        {
            watch.ErrorSeconds.Enqueue(_lane.NowNs);
        }

        (watch.MediaErrors, watch.Mismatches) = (device.Counters.MediaErrors, mismatches);
        while (watch.ErrorSeconds.TryPeek(out long oldest) && _lane.NowNs - oldest > ErrorWindowNs)
        {
            watch.ErrorSeconds.Dequeue();
        }

        if (watch.ErrorSeconds.Count >= ErrorSecondsMax && !_reliability.Of(id).IsPastThreshold)
        {
            _reliability.SetPastThreshold(id, true);
            SaveReliability();
            _options.Notice(
                $"Physical disk {disk.FriendlyName} is expected to fail: errors in {ErrorSecondsMax} seconds within {ErrorWindowNs / 60_000_000_000} minutes.");
        }
    }

    private async LaneTask<Nothing> RetireIfFailing(ManagedPool managed, Pool pool, DiskState disk)
    {
        DiskDescription member = disk.Description;
        ErrorWatch watch = _errorWatches[member.Id.Value];
        if (!_reliability.Of(member.Id.Value).IsPastThreshold || member.Usage == DiskUsage.Retired || pool.State.Pool!.IsReadOnly || _lane.NowNs < watch.NotBeforeNs)
        {
            return default;
        }

        watch.NotBeforeNs = _lane.NowNs + _options.Healing.RetryNs;
        if (HasRoomForAll(managed, pool, disk))
        {
            CommitResult retired = await pool.Commit(new DiskChanged(member with { Usage = DiskUsage.Retired }));
            _options.Notice(retired.Succeeded
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
            && UsersOf(managed).All(user => user.Disk.Open.Fault == IoError.None && new SlabMover(user.Home.Pool!, user.Disk.Open).CanAllLeave(pool, number));
    }

    /// <summary>What is known of the errors of a disk since the host started.</summary>
    private sealed class ErrorWatch
    {
        internal MeteredDisk? Device { get; set; }

        internal long MediaErrors { get; set; }

        internal long Mismatches { get; set; }

        /// <summary>When errors were found, a second each, oldest first.</summary>
        internal Queue<long> ErrorSeconds { get; } = [];

        /// <summary>Before this it is not tried again to retire it.</summary>
        internal long NotBeforeNs { get; set; }
    }
}
