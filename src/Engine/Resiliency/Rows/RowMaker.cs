using TierSpaces.Engine.Primitives;
using TierSpaces.Engine.Resiliency.Layouts;

namespace TierSpaces.Engine.Resiliency;

// Makes rows ready for their first write and gives empty ones back.
//
// Invariants
//  1. Slabs are used only after their checksum pages are blank (without checksums: their data zero), durably.
//  2. Slabs are given back only after the zeros of the row are logged, durably, and no reader uses them.
//  3. Before a row may hold data, a position that was not cleared is durably stale, one that was cleared is not, and each group has enough good
//     positions. The rules are those of tests/Models/absent-slab.py.

/// <summary>Makes and frees the rows of a space.</summary>
internal sealed class RowMaker(
    SpaceContext space, SpaceLog log, IntegrityStore integrity, ChangedEntries changes, StaleMap stale, RegionMap regions, PageWriteback writeback,
    SpaceFlusher flusher)
{
    private const long DrainPollNs = 100_000;

    private readonly ILayout _layout = space.Layout;
    private readonly SpaceShape _shape = space.Shape;
    private readonly SpaceStatus _status = space.Status;
    private readonly SpaceMembers _members = space.Members;
    private readonly RowTable _rows = space.Rows;
    private readonly LostBlocks _lost = space.Lost;
    private readonly uint _space = space.Options.Space;
    private Func<int, bool>? _isHeld;   // by something in front of the space; null: there is nothing

    /// <summary>Rows are not given back as long as something in front of the space holds data for them.</summary>
    internal void KeepRows(Func<int, bool> isHeld) => _isHeld = isHeld;

    private bool HasRedundancy => _layout.LossesMax > 0;

    /// <summary>Makes a row ready for its first write; writers that come meanwhile share it.</summary>
    internal async LaneTask<IoError> Prepare(int index)
    {
        while (_rows[index] is not { IsInitialized: true })
        {
            if (_status.Fault != IoError.None)
            {
                return _status.Fault;
            }

            if (!_rows.TryBeginChange(index))
            {
                await _status.Changed.Wait();
                continue;
            }

            IoError error = await MakeRow(index);
            _rows.EndChange(index);
            _status.Changed.NotifyAll();
            if (error is not IoError.None and not IoError.TryAgain)
            {
                return error;
            }
        }

        return IoError.None;
    }

    /// <summary>Starts giving back those of some rows that are empty.</summary>
    internal void StartFreeing(int first, int last)
    {
        for (int index = first; index <= last; index++)
        {
            if (_rows[index] is { IsInitialized: true, WrittenBlocks: <= 0 } row)
            {
                FreeRowIfEmpty(row).Forget();
            }
        }
    }

    // 1. Slabs are reserved. If one is on a disk that is away, the row is committed as owned and not written, because marks need a row.
    // 2. Every slab that is there is cleared: its checksum pages are made blank (without checksums: its data zero). 3. Flush.
    // 4. A slab that was not cleared is marked stale, durably, and marks of the others are taken off. 5. The map is committed: the row is initialized.
    // A crash before 5 leaves free slabs, or a row that reads as zeros. A disk that leaves before 4 has ended may come back without what 2
    // wrote, and nothing would say so: then it begins again.
    private async LaneTask<IoError> MakeRow(int index)
    {
        long startNs = space.Lane.NowNs;
        RowGrant grant = await space.Host.ReserveRow(_space, index);
        if (grant.Error != IoError.None)
        {
            return grant.Error;
        }

        SpaceRow? owned = _rows[index];
        if (owned is null && Array.Exists(grant.Places, place => !_members.IsLive(place.Disk)))
        {
            return await OwnRow(index, grant.Places);
        }

        SpaceRow row = owned ?? NewRow(index, grant.Places);
        int version = _members.Version;
        bool[] cleared = new bool[row.Places.Length];
        IoError error = await ClearRow(row, cleared, owned is not null);
        error = error == IoError.None ? await flusher.FlushDisks() : error;
        error = error == IoError.None && version == _members.Version && owned is not null ? await MarkNotCleared(row, cleared) : error;
        error = error == IoError.None && version != _members.Version ? IoError.TryAgain : error;
        error = error == IoError.None ? await space.Host.CommitRow(_space, index) : error;
        if (error != IoError.None)
        {
            space.Host.CancelRow(_space, index);
            return error;
        }

        row.Initialize(_shape.Checksums ? _layout.Columns * _shape.PagesPerSlab : 0);
        _rows.Put(row);
        space.Counters.Rows.NoteMade(row.Places.Length, _layout.RowSize, space.Lane.NowNs - startNs);
        return IoError.None;
    }

    private SpaceRow NewRow(int index, SlabPlace[] places) => _rows.New(new SpaceRowMap(index, places, false, new ushort[_layout.Positions]));

    private async LaneTask<IoError> OwnRow(int index, SlabPlace[] places)
    {
        IoError error = HasRedundancy ? await space.Host.OwnRow(_space, index) : IoError.TryAgain;   // its disk has left since
        if (error != IoError.None)
        {
            space.Host.CancelRow(_space, index);
            return error;
        }

        _rows.Put(NewRow(index, places));
        return IoError.TryAgain;
    }

    /// <summary>Clears every slab of a row whose disk is there; of a row that the space owns already, those of other disks stay as they are.</summary>
    private async LaneTask<IoError> ClearRow(SpaceRow row, bool[] cleared, bool isOwned)
    {
        LaneTask<IoError>[] clearing = new LaneTask<IoError>[row.Places.Length];   // side by side: each slab is on a disk of its own
        for (int position = 0; position < row.Places.Length; position++)
        {
            clearing[position] = _shape.Checksums
                ? integrity.BlankPages(row, position)
                : _members.Zero(row.Places[position].Disk, row.Places[position].DataOffset, _shape.SlabSize);
        }

        IoError[] errors = new IoError[row.Places.Length];
        for (int position = 0; position < row.Places.Length; position++)
        {
            errors[position] = await clearing[position];
        }

        for (int position = 0; position < row.Places.Length; position++)
        {
            IoError error = errors[position];
            cleared[position] = error == IoError.None;
            if (error == IoError.NoSpace)
            {
                return error;
            }

            if (error != IoError.None)
            {
                bool isOut = await _members.Evict(row.Places[position].Disk, error, space.Redundancy.HasLiveOther(row, position), "a new slab");
                if (!isOut || !isOwned || !HasRedundancy)
                {
                    return isOut && !isOwned ? IoError.TryAgain : error;   // other slabs, from a disk that is still there
                }
            }
        }

        return IoError.None;
    }

    /// <summary>
    /// Marks the positions that were not cleared. One that was cleared misses nothing: marks that an earlier attempt or a disk that lost what it
    /// held left on it are taken off. Each group has enough good positions before the row may hold data.
    /// </summary>
    private async LaneTask<IoError> MarkNotCleared(SpaceRow row, bool[] cleared)
    {
        IoError error = IoError.None;
        for (int first = 0; first < row.Places.Length && error == IoError.None; first += _layout.GroupSize)
        {
            int good = 0;
            for (int position = first; position < first + _layout.GroupSize; position++)
            {
                bool isGood = cleared[position] && (row.Stale[position] == 0 || await stale.ClearStale(row, position, row.Stale[position]) == RepairEnd.Done);
                good += isGood ? 1 : 0;
            }

            error = good >= _layout.GroupSize - _layout.LossesMax ? IoError.None : IoError.Io;
            for (int position = first; position < first + _layout.GroupSize && error == IoError.None; position++)
            {
                error = cleared[position] ? error : await stale.MarkStale(row, position, ushort.MaxValue, Lack.Unknown);
            }
        }

        return error;
    }

    // Under the lock of the whole row: nothing writes, and readers have drained.
    // 1. The zeros are durable in the log. 2. Its regions are clean. 3. The row leaves the map; the host punches its slabs
    // and only then hands them to others.
    private async LaneTask<IoError> FreeRowIfEmpty(SpaceRow row)
    {
        long start = _layout.LockKey(row.Index, 0, 0);
        long end = _layout.LockKey(row.Index + 1, 0, 0);
        await space.Locks.Acquire(start, end);
        IoError error = IoError.None;
        if (row.WrittenBlocks < 0 && !RegionMap.HasUnresolved(row))   // resync may find that a block was written
        {
            error = await integrity.CountWritten(row);
        }

        if (error == IoError.None && row.WrittenBlocks == 0 && _rows[row.Index] == row && !RegionMap.HasUnresolved(row) && !RegionMap.HasUnsettled(row)
            && !_status.IsClosing && _isHeld?.Invoke(row.Index) != true && _rows.TryBeginChange(row.Index))
        {
            error = await FreeRow(row);
            _rows.EndChange(row.Index);
            _status.Changed.NotifyAll();
        }

        space.Locks.Release(start, end);
        return error;
    }

    private async LaneTask<IoError> FreeRow(SpaceRow row)
    {
        _lost.RemoveRow(row.Index);
        _rows.Remove(row);   // reads see zeros from here on; writes wait for the row to be made again
        while (row.Users > 0 || writeback.IsRunning)
        {
            await space.Lane.Delay(DrainPollNs);
        }

        IoError error = await log.Room(2);
        if (error == IoError.None)
        {
            regions.CleanAll(row);
            error = await log.CommitAll();
        }

        await writeback.WritebackEnd();   // one that began during the commit has pages of this row in hand: it would miss them on their disks
        if (error == IoError.None)
        {
            integrity.Drop(row, changes);
            error = await space.Host.FreeRow(_space, row.Index);
            space.Counters.Rows.NoteFreed();
            _ = error == IoError.None ? error : _status.Fail(error, "it is not known whether a row was given back");   // its slabs may be another owner's
        }

        if (error != IoError.None)
        {
            _rows.Put(row);
        }

        return error;
    }
}
