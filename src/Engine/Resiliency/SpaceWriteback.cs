using TierSpaces.Engine.Formats;
using TierSpaces.Engine.Primitives;
using TierSpaces.Engine.Resiliency.Layouts;

namespace TierSpaces.Engine.Resiliency;

public sealed partial class Space
{
    private readonly LaneSignal _writebackEnded = new();
    private bool _writebackRunning;

    /// <summary>Whether the next writeback has something to do.</summary>
    private bool IsLogHalfFull => _log is not null && _log.Journal.FreeBlocks < _log.Journal.Blocks / 2;

    /// <summary>Completes when others than the writeback may append this many blocks.</summary>
    private async LaneTask<IoError> LogRoom(int blocks)
    {
        while (!_log!.HasRoom(blocks) && Fault == IoError.None)
        {
            await Writeback();
        }

        StartWritebackWhenFull();
        return Fault;
    }

    private void StartWritebackWhenFull()
    {
        if (IsLogHalfFull)
        {
            StartWriteback();
        }
    }

    private void StartWriteback()
    {
        if (!_writebackRunning && !_closing)
        {
            Discard(Writeback()).Forget();
        }

        static async LaneTask Discard(LaneTask<IoError> task) => await task;
    }

    private void AfterLogCommit()
    {
        _log!.ApplyDurable();
        Counters.MetadataBytesWritten += _logMedium!.BytesWritten - _logBytesCounted;
        _logBytesCounted = _logMedium.BytesWritten;
    }

    private long _logBytesCounted;

    // 1. Everything appended becomes durable.
    // 2. Pages with entries that the disks lack are written, as logged, to every copy; flush; read back.
    //    A disk that leaves meanwhile starts this again.
    // 3. Marks of regions still dirty are written again; durable.
    // 4. The tail moves over what is on the pages now; durable.
    private async LaneTask<IoError> Writeback()
    {
        if (_writebackRunning)
        {
            await _writebackEnded.Wait();
            return Fault;
        }

        _writebackRunning = true;
        IoError error = await _log!.Journal.Commit(_log.Journal.Next - 1);
        AfterLogCommit();
        List<WrittenPage> written = [];
        while (error == IoError.None && Fault == IoError.None)
        {
            int version = _members.Version;
            Unpin(written);
            error = await WritePages(written);
            error = error == IoError.None ? await FlushDisks() : error;
            error = error == IoError.None ? await ReadBack(written) : error;
            if (version == _members.Version)
            {
                break;
            }
        }

        error = error == IoError.None ? await TrimLog(written) : error;
        Unpin(written);
        if (error != IoError.None)
        {
            Fail(error, "checksum pages could not be written back");
        }

        _writebackRunning = false;
        _writebackEnded.NotifyAll();
        return error;
    }

    private static void Unpin(List<WrittenPage> written)
    {
        foreach (WrittenPage page in written)
        {
            page.Page.Pins--;
        }

        written.Clear();
    }

    private async LaneTask<IoError> WritePages(List<WrittenPage> written)
    {
        foreach (ChecksumPage page in _pages.All.ToArray())
        {
            if (page.OldestUnwritten == 0 || !page.IsLoaded || page.OldestUnwritten > _log!.Journal.Durable)
            {
                continue;
            }

            _log.ApplyDurable();
            IoBuffer image = _lane.Buffers.Rent(ChecksumSector.PageSize);
            Encode(image.Span, PlaceOf(page), _log.Journal.Durable, page.LoggedChecksums, page.LoggedGenerations);
            page.Pins++;
            written.Add(new WrittenPage(page, _log.Journal.Durable, Crc32c.Compute(image.Span)));
            IoError error = await WritePageCopies(page, image);
            _lane.Buffers.Return(image);
            if (error != IoError.None)
            {
                return error;
            }
        }

        return IoError.None;
    }

    private async LaneTask<IoError> WritePageCopies(ChecksumPage page, IoBuffer image)
    {
        bool any = false;
        for (int copy = 0; copy < _shape.Copies; copy++)
        {
            SlabPlace place = page.Row.Place(page.Column, copy);
            IoError error = await WriteMember(place.Disk, PageOffset(place, page), image);
            Counters.MetadataBytesWritten += error == IoError.None ? image.Length : 0;
            if (error == IoError.None)
            {
                any = true;
            }
            else if (await MarkStale(page.Row, (page.Column * _shape.Copies) + copy, PageRegions(page)) is not IoError.None and var failed)
            {
                return failed;
            }
        }

        return any || !HasAnyCopy(page) ? IoError.None : IoError.Io;
    }

    private bool HasAnyCopy(ChecksumPage page)
    {
        for (int copy = 0; copy < _shape.Copies; copy++)
        {
            if (_members.IsLive(page.Row.Place(page.Column, copy).Disk))
            {
                return true;
            }
        }

        return false;
    }

    private async LaneTask<IoError> ReadBack(List<WrittenPage> written)
    {
        IoBuffer buffer = _lane.Buffers.Rent(ChecksumSector.PageSize);
        IoError error = IoError.None;
        foreach (WrittenPage page in written)
        {
            for (int copy = 0; copy < _shape.Copies && error == IoError.None; copy++)
            {
                SlabPlace place = page.Page.Row.Place(page.Page.Column, copy);
                if (_members.IsLive(place.Disk)
                    && (await _members.Read(place.Disk, PageOffset(place, page.Page), buffer) != IoError.None || Crc32c.Compute(buffer.Span) != page.Checksum))
                {
                    Counters.ChecksumMismatches++;
                    error = await PutOut(place.Disk, IoError.Io, HasOtherCopies(place.Disk), "a checksum page read back") ? IoError.None : IoError.Io;
                }
            }
        }

        _lane.Buffers.Return(buffer);
        return error;
    }

    private async LaneTask<IoError> TrimLog(List<WrittenPage> written)
    {
        foreach (WrittenPage page in written)
        {
            page.Page.OldestUnwritten = page.Page.LatestLogged > page.Image ? page.Image + 1 : 0;
        }

        ulong end = _log!.Journal.Durable + 1;
        MarkAgainUpTo(end - 1);
        IoError error = await _log.Journal.Commit(_log.Journal.Next - 1);
        AfterLogCommit();
        if (error != IoError.None)
        {
            return error;
        }

        _log.Journal.Trim(Math.Max(_log.Journal.Tail, OldestNeeded(end)));
        return await _log.Journal.CommitTail();
    }

    private void MarkAgainUpTo(ulong last)
    {
        foreach (SpaceRow? row in _rows)
        {
            for (int i = 0; row is not null && i < row.Regions.Length; i++)
            {
                ref Region region = ref row.RegionAt(i);
                if (region.MarkSequence != 0 && region.MarkSequence <= last)
                {
                    region.MarkSequence = AppendMark(IntegrityKind.Dirty, row, i);
                }
            }
        }
    }

    private ulong OldestNeeded(ulong end)
    {
        ulong oldest = end;
        foreach (ChecksumPage page in _pages.All)
        {
            oldest = page.OldestUnwritten != 0 ? Math.Min(oldest, page.OldestUnwritten) : oldest;
        }

        foreach (SpaceRow? row in _rows)
        {
            for (int i = 0; row is not null && i < row.Regions.Length; i++)
            {
                ref Region region = ref row.RegionAt(i);
                oldest = region.MarkSequence != 0 ? Math.Min(oldest, region.MarkSequence) : oldest;
            }
        }

        return oldest;
    }

    private readonly record struct WrittenPage(ChecksumPage Page, ulong Image, uint Checksum);
}
