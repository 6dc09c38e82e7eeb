using TierSpaces.Engine.Formats;
using TierSpaces.Engine.Primitives;
using TierSpaces.Engine.Resiliency.Layouts;

namespace TierSpaces.Engine.Resiliency;

public sealed partial class Space
{
    private const long DrainPollNs = 100_000;

    private readonly HashSet<int> _rowsChanging = [];   // rows being made or given back

    /// <summary>Makes a row ready for its first write; writers that come meanwhile share it.</summary>
    private async LaneTask<IoError> PrepareRow(int index)
    {
        while (_rows[index] is not { IsInitialized: true })
        {
            if (Fault != IoError.None)
            {
                return Fault;
            }

            if (!_rowsChanging.Add(index))
            {
                await _regionsChanged.Wait();
                continue;
            }

            IoError error = await MakeRow(index);
            _rowsChanging.Remove(index);
            _regionsChanged.NotifyAll();
            if (error is not IoError.None and not IoError.TryAgain)
            {
                return error;
            }
        }

        return IoError.None;
    }

    // 1. Slabs are reserved. If one is on a disk that is away, the row is committed as owned and not written, because marks need a row.
    // 2. Every slab that is there is cleared: its checksum pages are made blank (without checksums: its data zero). 3. Flush.
    // 4. A slab that was not cleared is marked stale, durably, and marks of the others are taken off. 5. The map is committed: the row is initialized.
    // A crash before 5 leaves free slabs, or a row that reads as zeros. A disk that leaves before 4 has ended may come back without what 2
    // wrote, and nothing would say so: then it begins again. The rules are those of tests/Models/absent-slab.py.
    private async LaneTask<IoError> MakeRow(int index)
    {
        RowGrant grant = await _host.ReserveRow(_options.Space, index);
        if (grant.Error != IoError.None)
        {
            return grant.Error;
        }

        SpaceRow? owned = _rows[index];
        if (owned is null && Array.Exists(grant.Places, place => !_members.IsLive(place.Disk)))
        {
            return await OwnRow(index, grant.Places);
        }

        SpaceRow row = owned ?? new SpaceRow(_shape, new SpaceRowMap(index, grant.Places, false, new ushort[_shape.Positions]));
        int version = _members.Version;
        bool[] cleared = new bool[row.Places.Length];
        IoError error = await ClearRow(row, cleared, owned is not null);
        error = error == IoError.None ? await FlushDisks() : error;
        error = error == IoError.None && version == _members.Version && owned is not null ? await MarkNotCleared(row, cleared) : error;
        error = error == IoError.None && version != _members.Version ? IoError.TryAgain : error;
        error = error == IoError.None ? await _host.CommitRow(_options.Space, index) : error;
        if (error != IoError.None)
        {
            _host.AbandonRow(_options.Space, index);
            return error;
        }

        row.WrittenBlocks = 0;
        row.IsInitialized = true;
        _rows[index] = row;
        return IoError.None;
    }

    private async LaneTask<IoError> OwnRow(int index, SlabPlace[] places)
    {
        IoError error = _shape.Copies == 1 ? IoError.TryAgain : await _host.OwnRow(_options.Space, index);   // its disk has left since
        if (error != IoError.None)
        {
            _host.AbandonRow(_options.Space, index);
            return error;
        }

        _rows[index] = new SpaceRow(_shape, new SpaceRowMap(index, places, false, new ushort[_shape.Positions]));
        return IoError.TryAgain;
    }

    /// <summary>Clears every slab of a row whose disk is there; of a row that the space owns already, those of other disks stay as they are.</summary>
    private async LaneTask<IoError> ClearRow(SpaceRow row, bool[] cleared, bool isOwned)
    {
        for (int position = 0; position < row.Places.Length; position++)
        {
            IoError error = _shape.Checksums
                ? await BlankPages(row, position)
                : await _members.Zero(row.Places[position].Disk, row.Places[position].DataOffset, _shape.SlabSize);
            cleared[position] = error == IoError.None;
            if (error == IoError.NoSpace)
            {
                return error;
            }

            if (error != IoError.None)
            {
                bool isOut = await PutOut(row.Places[position].Disk, error, HasLiveOther(row, position), "a new slab");
                if (!isOut || !isOwned || _shape.Copies == 1)
                {
                    return isOut && !isOwned ? IoError.TryAgain : error;   // other slabs, from a disk that is still there
                }
            }
        }

        return IoError.None;
    }

    /// <summary>
    /// Marks the copies that were not cleared. A copy that was cleared misses nothing: marks that an earlier attempt or a disk that lost what it
    /// held left on it are taken off. Each column has a good copy before the row may hold data.
    /// </summary>
    private async LaneTask<IoError> MarkNotCleared(SpaceRow row, bool[] cleared)
    {
        IoError error = IoError.None;
        for (int first = 0; first < row.Places.Length && error == IoError.None; first += _shape.Copies)
        {
            bool hasGood = false;
            for (int position = first; position < first + _shape.Copies; position++)
            {
                hasGood |= cleared[position] && (row.Stale[position] == 0 || await ClearStale(row, position, row.Stale[position]) == RepairEnd.Done);
            }

            error = hasGood ? IoError.None : IoError.Io;
            for (int position = first; position < first + _shape.Copies && error == IoError.None; position++)
            {
                error = cleared[position] ? error : await MarkStale(row, position, ushort.MaxValue);
            }
        }

        return error;
    }

    private bool HasLiveOther(SpaceRow row, int position)
    {
        int first = position / _shape.Copies * _shape.Copies;
        for (int other = first; other < first + _shape.Copies; other++)
        {
            if (other != position && _members.IsLive(row.Places[other].Disk))
            {
                return true;
            }
        }

        return false;
    }

    private async LaneTask<IoError> BlankPages(SpaceRow row, int position)
    {
        uint[] checksums = new uint[ChecksumPage.Blocks];
        ushort[] generations = new ushort[ChecksumPage.Blocks];
        IoBuffer pages = _lane.Buffers.Rent(_shape.PagesPerSlab * ChecksumSector.PageSize);
        for (int page = 0; page < _shape.PagesPerSlab; page++)
        {
            ChecksumPlace place = new(_options.PoolTag, _options.Space, row.Index, position / _shape.Copies, page);
            Encode(pages.Span.Slice(page * ChecksumSector.PageSize, ChecksumSector.PageSize), place, _log!.Journal.Next - 1, checksums, generations);
        }

        IoError error = await _members.Write(row.Places[position].Disk, row.Places[position].PagesOffset, pages);
        Counters.MetadataBytesWritten += pages.Length;
        _lane.Buffers.Return(pages);
        return error;
    }

    /// <summary>Counts the written blocks of a row whose count is not known.</summary>
    private async LaneTask<IoError> CountRow(SpaceRow row)
    {
        int count = 0;
        for (int column = 0; column < _shape.Columns; column++)
        {
            for (int index = 0; index < _shape.PagesPerSlab; index++)
            {
                if (await LoadPage(row, column, index) is not { } page)
                {
                    return IoError.Io;
                }

                foreach (ushort generation in page.Generations.Slice(0, _shape.PageSpan / BlockSize))
                {
                    count += generation != ChecksumSector.NeverWritten ? 1 : 0;
                }
            }
        }

        row.WrittenBlocks = count;
        return IoError.None;
    }

    // Under the lock of the whole row: nobody writes, and readers have drained.
    // 1. The zeros are durable in the log. 2. Its regions are clean. 3. The row leaves the map; the host punches its slabs
    // and only then hands them to others.
    private async LaneTask<IoError> FreeRowIfEmpty(SpaceRow row)
    {
        long start = StripeGeometry.LockKey(_shape, row.Index, 0, 0);
        long end = StripeGeometry.LockKey(_shape, row.Index + 1, 0, 0);
        await _locks.Acquire(start, end);
        IoError error = IoError.None;
        if (row.WrittenBlocks < 0)
        {
            error = await CountRow(row);
        }

        if (error == IoError.None && row.WrittenBlocks == 0 && _rows[row.Index] == row && !HasUnresolved(row)
            && !_closing && IsUnitHeld?.Invoke(row.Index) != true && _rowsChanging.Add(row.Index))
        {
            error = await FreeRow(row);
            _rowsChanging.Remove(row.Index);
            _regionsChanged.NotifyAll();
        }

        _locks.Release(start, end);
        return error;
    }

    private async LaneTask<IoError> FreeRow(SpaceRow row)
    {
        UnlistLostRow(row.Index);
        _rows[row.Index] = null;   // reads see zeros from here on; writes wait for the row to be made anew
        while (row.Users > 0 || _writebackRunning)
        {
            await _lane.Delay(DrainPollNs);
        }

        IoError error = await LogRoom(2);
        if (error == IoError.None)
        {
            CleanAll(row);
            error = await _log!.Journal.Commit(_log.Journal.Next - 1);
            AfterLogCommit();
        }

        await WritebackEnd();   // one that began during the commit has pages of this row in hand: it would miss them on their disks
        if (error == IoError.None)
        {
            DropPages(row);
            error = await _host.FreeRow(_options.Space, row.Index);
            Counters.RowsFreed++;
            _ = error == IoError.None ? error : Fail(error, "it is not known whether a row was given back");   // its slabs may be somebody else's
        }

        if (error != IoError.None)
        {
            _rows[row.Index] = row;
        }

        return error;
    }

    private async LaneTask<Nothing> WritebackEnd()
    {
        while (_writebackRunning)
        {
            await _writebackEnded.Wait();
        }

        return default;
    }

    private void CleanAll(SpaceRow row)
    {
        for (int i = 0; i < row.Regions.Length; i++)
        {
            ref Region region = ref row.RegionAt(i);
            if (region.MarkSequence != 0)
            {
                AppendMark(IntegrityKind.Clean, row, i);
                region.MarkSequence = 0;
                region.State = RegionState.Clean;
                DirtyRegions--;
            }
        }
    }

    private void DropPages(SpaceRow row)
    {
        foreach (ChecksumPage page in _pages.All.FindAll(page => page.Row == row))
        {
            if (page.IsListed)
            {
                _changedPages.Remove(page);
                page.IsListed = false;
            }

            page.Abandon();
            _pages.Remove(page);
        }
    }

    private static bool HasUnresolved(SpaceRow row) => Array.Exists(row.Regions, region => region.State >= RegionState.Unresolved);
}
