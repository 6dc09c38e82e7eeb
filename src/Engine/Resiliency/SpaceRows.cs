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

    // 1. Slabs are reserved. 2. Their checksum pages are made blank (without checksums: their data zero).
    // 3. Flush. 4. The map is committed. A crash before 4 leaves free slabs. A disk that leaves before 3 has ended may come back without
    // what 2 wrote, and nothing would say so: then it begins again.
    private async LaneTask<IoError> MakeRow(int index)
    {
        RowGrant grant = await _host.ReserveRow(_options.Space, index);
        if (grant.Error != IoError.None)
        {
            return grant.Error;
        }

        SpaceRow? owned = _rows[index];
        SpaceRow row = owned ?? new SpaceRow(_shape, new SpaceRowMap(index, grant.Places, false, new ushort[_shape.Positions]));
        int version = _members.Version;
        IoError error = await BlankRow(row, owned is not null);
        error = error == IoError.None ? await FlushDisks() : error;
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

    private async LaneTask<IoError> BlankRow(SpaceRow row, bool isOwned)
    {
        for (int position = 0; position < row.Places.Length; position++)
        {
            IoError error = _shape.Checksums
                ? await BlankPages(row, position)
                : await _members.Zero(row.Places[position].Disk, row.Places[position].DataOffset, _shape.SlabSize);
            if (error is IoError.None or IoError.NoSpace)
            {
                if (error == IoError.NoSpace)
                {
                    return error;
                }

                continue;
            }

            bool isOut = await PutOut(row.Places[position].Disk, error, _shape.Copies > 1, "a new slab");
            if (!isOwned || _shape.Copies == 1)
            {
                return isOut && !isOwned ? IoError.TryAgain : error;   // other slabs, from a disk that is still there
            }

            error = await MarkStale(row, position, ushort.MaxValue);
            if (error != IoError.None)
            {
                return error;
            }
        }

        return IoError.None;
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
