using System.Numerics;
using TierSpaces.Engine.Primitives;
using TierSpaces.Engine.Resiliency.Layouts;

namespace TierSpaces.Engine.Resiliency;

// Positions of rows that missed writes, durably recorded by the pool.
//
// Invariants
//  1. A position is marked only in regions that its group can give without it.
//  2. A mark and a clear of the same regions of a position never overlap: the later one waits for the end of the earlier.
//  3. A mark that comes while a repair of the position runs makes the repair begin again (Missed).

/// <summary>Stale marks of a space.</summary>
internal sealed class StaleMap(SpaceContext space, LackedBlocks lacks)
{
    private readonly ILayout _layout = space.Layout;
    private readonly ISpaceHost _host = space.Host;
    private readonly uint _space = space.Options.Space;
    private readonly SpaceStatus _status = space.Status;
    private readonly SpaceMembers _members = space.Members;
    private readonly RowTable _rows = space.Rows;
    private readonly Redundancy _redundancy = space.Redundancy;
    private int _departures;   // departures of disks whose marks are on their way

    /// <summary>Blocks that the positions lack.</summary>
    internal LackedBlocks Lacks => lacks;

    /// <summary>Whether a disk has left whose marks are on their way: no region is cleaned meanwhile.</summary>
    internal bool IsRecordingDeparture => _departures > 0;

    /// <summary>Stale regions over all positions.</summary>
    internal int Count
    {
        get
        {
            int count = 0;
            foreach (SpaceRow? row in _rows)
            {
                count += row?.Stale.Sum(static mask => BitOperations.PopCount(mask)) ?? 0;
            }

            return count;
        }
    }

    /// <summary>Records, durably, that a position misses writes in these regions of its group, and notes what it lacks of them.</summary>
    internal async LaneTask<IoError> MarkStale(SpaceRow row, int position, ushort regions, Lack lack)
    {
        lack.NoteIn(lacks, row, position, regions);
        row.Missed[position] |= regions;   // a repair that is running begins these regions again
        while ((row.Stale[position] & ~row.StaleClearing[position] & regions) != regions)
        {
            ushort missing = (ushort)(regions & ~row.Stale[position]);
            if (((row.StalePending[position] | row.StaleClearing[position]) & regions) != 0)
            {
                await _status.Changed.Wait();   // also while the space fails: what it lacks is recorded all the same
                continue;
            }

            row.StalePending[position] |= missing;
            IoError error = await _host.MarkStale(_space, row.Index, position, missing);
            row.StalePending[position] &= (ushort)~missing;
            row.Stale[position] |= error == IoError.None ? missing : (ushort)0;
            _status.Changed.NotifyAll();
            if (error != IoError.None)
            {
                return error;
            }
        }

        return IoError.None;
    }

    /// <summary>Records, durably, that a position holds these regions again.</summary>
    internal async LaneTask<RepairEnd> ClearStale(SpaceRow row, int position, ushort regions)
    {
        row.StaleClearing[position] |= regions;
        lacks.Forget(row, position, regions);
        IoError error = await _host.ClearStale(_space, row.Index, position, regions);
        row.StaleClearing[position] &= (ushort)~regions;
        if (error == IoError.None)
        {
            row.Stale[position] &= (ushort)~regions;
            space.Counters.Repair.NoteRepaired(BitOperations.PopCount(regions));
        }
        else
        {
            lacks.AddUnknown(row, position, regions);
            if (await _host.MarkStale(_space, row.Index, position, regions) != IoError.None)
            {
                _status.Fail(error, "it is not known whether a copy counts as stale");   // a commit that ran out of space may still be applied
            }
        }

        _status.Changed.NotifyAll();
        return error == IoError.None ? RepairEnd.Done : RepairEnd.Incomplete;
    }

    /// <summary>A disk has left the view: what is dirty now may differ on it, so all of that is marked stale there.</summary>
    internal async LaneTask<IoError> OnDiskLost(int disk)
    {
        _members.NoteChange();
        space.Rings.OnDiskLost(disk);
        bool isKnown = lacks.NoteDeparture(disk);
        _departures++;
        List<LaneTask<IoError>> marks = [];   // side by side, so that they share the writes of the metadata
        foreach (SpaceRow? row in _rows)
        {
            if (row is { JoiningPosition: >= 0 } && row.Joining.Disk == disk)
            {
                row.FailJoining();
            }

            for (int position = 0; row is not null && position < row.Places.Length; position++)
            {
                if (row.Places[position].Disk != disk)
                {
                    continue;
                }

                int group = position / _layout.GroupSize;
                lacks.AddUnknown(row, position, isKnown ? row.UnresolvedMask(group) : row.DirtyMask(group));
                if (HoldsAlone(row, position))
                {
                    _members.NoteLastGone(disk);
                }

                if (Missable(row, position) is var mask and not 0)
                {
                    marks.Add(MarkStale(row, position, mask, Lack.NothingMore));
                }
            }
        }

        IoError error = IoError.None;
        foreach (LaneTask<IoError> mark in marks)
        {
            IoError marked = await mark;
            error = marked == IoError.None ? error : marked;
        }

        _departures--;
        return error;
    }

    /// <summary>
    /// Everything on a disk has durably been marked stale while the disk was out of the view: it holds less than it once confirmed. Its copies of rings
    /// take no part since it left.
    /// </summary>
    internal void OnDiskMarkedStale(int disk)
    {
        foreach (SpaceRow? row in _rows)
        {
            for (int position = 0; row is not null && position < row.Places.Length; position++)
            {
                if (row.Places[position].Disk == disk)
                {
                    row.Missed[position] = ushort.MaxValue;   // a repair that is running begins again
                    row.Stale[position] = ushort.MaxValue;
                    lacks.AddUnknown(row, position, ushort.MaxValue);
                }
            }
        }
    }

    /// <summary>Marks, at open, the regions that were dirty when a disk was out already.</summary>
    internal async LaneTask<IoError> MarkMissingAtOpen()
    {
        IoError error = IoError.None;
        for (int index = 0; index < _rows.Count; index++)
        {
            SpaceRow? row = _rows[index];
            for (int position = 0; row is not null && position < row.Places.Length && error == IoError.None; position++)
            {
                if (!_members.IsLive(row.Places[position].Disk) && Missable(row, position) is var mask and not 0)
                {
                    error = await MarkStale(row, position, mask, Lack.Unknown);
                }
            }
        }

        return error;
    }

    /// <summary>Whether a position holds dirty regions that its group cannot give without it.</summary>
    private bool HoldsAlone(SpaceRow row, int position) =>
        (row.DirtyMask(position / _layout.GroupSize) & ~row.Stale[position] & ~_redundancy.GoodElsewhere(row, position)) != 0;

    private ushort Missable(SpaceRow row, int position) =>
        (ushort)(row.DirtyMask(position / _layout.GroupSize) & _redundancy.GoodElsewhere(row, position));
}
