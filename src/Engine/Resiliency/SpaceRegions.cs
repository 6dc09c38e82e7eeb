using TierSpaces.Engine.Formats;
using TierSpaces.Engine.Primitives;
using TierSpaces.Engine.Resiliency.Layouts;

namespace TierSpaces.Engine.Resiliency;

public sealed partial class Space
{
    private int _stalings;   // departures of disks whose stale marks are on their way

    private static void Admit(ref Region region) => region.InFlight++;   // when it was active is noted when it ends: until then it is not idle

    /// <summary>A write ends. One whose region could not be marked has written nothing.</summary>
    private void Leave(ref Region region, bool isMarked)
    {
        region.InFlight--;
        Invariant.That(
            region.InFlight >= 0 && (_log is null || !isMarked || region.State >= RegionState.Dirty), "A write ends once, in a region that has been dirty all the time.");
        region.ActiveRound = _nextRound;
        region.ActiveNs = _lane.RecentNs;
    }

    /// <summary>Makes the dirty mark of a region durable; writers that come meanwhile share it.</summary>
    private async LaneTask<IoError> MarkDirty(SpaceRow row, int region)
    {
        while (row.Regions[region].State != RegionState.Dirty)
        {
            if (Fault != IoError.None)
            {
                return Fault;
            }

            if (row.Regions[region].State == RegionState.Marking)
            {
                await _regionsChanged.Wait();
                continue;
            }

            row.Regions[region].State = RegionState.Marking;
            IoError error = await LogRoom(1);
            ulong sequence = error == IoError.None ? AppendMark(IntegrityKind.Dirty, row, region) : 0;
            row.Regions[region].MarkSequence = sequence;   // from here on the ring keeps it, or writes it again
            error = error == IoError.None ? await _log!.Journal.Commit(sequence) : error;
            AfterLogCommit();
            row.Regions[region].State = error == IoError.None ? RegionState.Dirty : RegionState.Clean;
            DirtyRegions += error == IoError.None ? 1 : 0;
            _regionsChanged.NotifyAll();
            if (error != IoError.None)
            {
                return Fail(error, "a region could not be marked dirty");
            }
        }

        return IoError.None;
    }

    private ulong AppendMark(IntegrityKind kind, SpaceRow row, int region) => _log!.AppendMark(
        kind, row.Index, region / SpaceShape.RegionsPerSlab, region % SpaceShape.RegionsPerSlab);

    /// <summary>
    /// Cleans regions that have been idle long enough: only those into which no write was admitted since the flush that
    /// covers them was submitted. From here on a write marks them again.
    /// </summary>
    private void CleanIdleRegions(long idleNs)
    {
        if (_stalings > 0)
        {
            return;   // what was dirty when a disk left is recorded as stale there first
        }

        foreach (SpaceRow? row in _rows)
        {
            for (int i = 0; row is not null && i < row.Regions.Length; i++)
            {
                ref Region region = ref row.RegionAt(i);
                if (region.State == RegionState.Dirty && region.InFlight == 0 && region.ActiveRound <= _coveredRound
                    && _lane.NowNs - region.ActiveNs >= idleNs && _log!.HasRoom(1))
                {
                    AppendMark(IntegrityKind.Clean, row, i);
                    region.State = RegionState.Clean;
                    region.MarkSequence = 0;
                    DirtyRegions--;
                }
            }
        }
    }

    private bool HasIdleUncovered(long idleNs)
    {
        foreach (SpaceRow? row in _rows)
        {
            for (int i = 0; row is not null && i < row.Regions.Length; i++)
            {
                ref Region region = ref row.RegionAt(i);
                if (region.State == RegionState.Dirty && region.InFlight == 0 && region.ActiveRound > _coveredRound
                    && _lane.NowNs - region.ActiveNs >= idleNs)
                {
                    return true;
                }
            }
        }

        return false;
    }

    /// <summary>Records, durably, that a copy misses writes in these regions of its column.</summary>
    private async LaneTask<IoError> MarkStale(SpaceRow row, int position, ushort regions)
    {
        row.Missed[position] |= regions;   // a repair under way begins these regions again
        while ((row.Stale[position] & ~row.StaleClearing[position] & regions) != regions)
        {
            ushort missing = (ushort)(regions & ~row.Stale[position]);
            if (((row.StalePending[position] | row.StaleClearing[position]) & regions) != 0)
            {
                await _regionsChanged.Wait();
                if (Fault != IoError.None)
                {
                    return Fault;
                }

                continue;
            }

            row.StalePending[position] |= missing;
            IoError error = await _host.MarkStale(_options.Space, row.Index, position, missing);
            row.StalePending[position] &= (ushort)~missing;
            row.Stale[position] |= error == IoError.None ? missing : (ushort)0;
            _regionsChanged.NotifyAll();
            if (error != IoError.None)
            {
                return error;
            }
        }

        return IoError.None;
    }

    /// <summary>A disk has left the view: what is dirty now may differ on it, so all of that is stale there.</summary>
    public async LaneTask<IoError> OnDiskLost(int disk)
    {
        _members.Version++;
        _rings.OnDiskLost(disk);
        _stalings++;
        List<LaneTask<IoError>> marks = [];   // side by side, so that they share the writes of the metadata
        foreach (SpaceRow? row in _rows)
        {
            if (row is { JoiningPosition: >= 0 } && row.Joining.Disk == disk)
            {
                row.JoiningFailed = true;
            }

            for (int position = 0; row is not null && position < row.Places.Length; position++)
            {
                if (row.Places[position].Disk == disk
                    && (ushort)(DirtyMask(row, position / _shape.Copies) & GoodElsewhere(row, position)) is var mask and not 0)
                {
                    marks.Add(MarkStale(row, position, mask));
                }
            }
        }

        IoError error = IoError.None;
        foreach (LaneTask<IoError> mark in marks)
        {
            IoError marked = await mark;
            error = marked == IoError.None ? error : marked;
        }

        _stalings--;
        return error;
    }

    /// <summary>
    /// Everything on a disk has durably been marked stale, while the disk was out of the view: it holds less than it once confirmed. Its copies
    /// of rings take no part since it left.
    /// </summary>
    public void OnDiskMarkedStale(int disk)
    {
        foreach (SpaceRow? row in _rows)
        {
            for (int position = 0; row is not null && position < row.Places.Length; position++)
            {
                if (row.Places[position].Disk == disk)
                {
                    row.Missed[position] = ushort.MaxValue;   // a repair under way begins again
                    row.Stale[position] = ushort.MaxValue;
                }
            }
        }
    }

    /// <summary>
    /// Regions of a position that another copy, live and not stale, holds. A copy is called stale only for what another has: the last
    /// good one never is, whatever becomes of its disk.
    /// </summary>
    private ushort GoodElsewhere(SpaceRow row, int position)
    {
        int column = position / _shape.Copies;
        int good = 0;
        for (int other = column * _shape.Copies; other < (column + 1) * _shape.Copies; other++)
        {
            if (other != position && _members.IsLive(row.Places[other].Disk))
            {
                good |= ~(row.Stale[other] | row.StalePending[other]);
            }
        }

        return (ushort)good;
    }

    private static ushort DirtyMask(SpaceRow row, int column)
    {
        ushort mask = 0;
        for (int i = 0; i < SpaceShape.RegionsPerSlab; i++)
        {
            ref Region region = ref row.RegionAt((column * SpaceShape.RegionsPerSlab) + i);
            mask |= (ushort)(region.State != RegionState.Clean || region.InFlight > 0 ? 1 << i : 0);
        }

        return mask;
    }
}
