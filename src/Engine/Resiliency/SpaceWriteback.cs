using TierSpaces.Engine.Formats;
using TierSpaces.Engine.Primitives;
using TierSpaces.Engine.Resiliency.Layouts;

namespace TierSpaces.Engine.Resiliency;

public sealed partial class Space
{
    private const int WritebacksInVain = 4;   // without moving the tail: then it cannot move
    private const int PagesAtOnce = 32;       // a rotating disk among clients takes a fifth of a second for each

    private readonly LaneSignal _writebackEnded = new();
    private bool _writebackRunning;

    /// <summary>Whether the next writeback has something to do.</summary>
    private bool IsLogHalfFull => _log is not null && _log.Journal.FreeBlocks < _log.Journal.Blocks / 2;

    /// <summary>Completes when others than the writeback may append this many blocks.</summary>
    private async LaneTask<IoError> LogRoom(int blocks)
    {
        for (int idle = 0; !_log!.HasRoom(blocks) && Fault == IoError.None;)
        {
            ulong tail = _log.Journal.DurableTail;
            bool isMine = !_writebackRunning;
            await Writeback();
            idle = isMine && _log.Journal.DurableTail == tail ? idle + 1 : 0;
            if (idle == WritebacksInVain)
            {
                Fail(IoError.Io, "the integrity log is full of entries whose disks are missing");
            }
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
        string what = "checksum pages could not be written back";
        while (error == IoError.None && Fault == IoError.None)
        {
            int version = _members.Version;
            Unpin(written);
            error = await FewAtATime(WritePages(written));
            if (error == IoError.None && (error = await FlushDisks()) != IoError.None)
            {
                what = LastCopyUnflushed;
            }

            error = error == IoError.None && version == _members.Version ? await FewAtATime(ReadBack(written, version)) : error;
            if (version == _members.Version)
            {
                break;
            }
        }

        error = error == IoError.None ? await TrimLog(written) : error;
        Unpin(written);
        if (error != IoError.None)
        {
            Fail(error, what);
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

    /// <summary>Runs steps that have nothing to do with each other, a few at a time; after the first error no more begin. The first error.</summary>
    private static async LaneTask<IoError> FewAtATime(IEnumerable<LaneTask<IoError>> steps)
    {
        IoError error = IoError.None;
        Queue<LaneTask<IoError>> underWay = new(PagesAtOnce);
        foreach (LaneTask<IoError> step in steps)
        {
            underWay.Enqueue(step);
            error = underWay.Count == PagesAtOnce ? await underWay.Dequeue() : error;
            if (error != IoError.None)
            {
                break;
            }
        }

        while (underWay.TryDequeue(out LaneTask<IoError> last))
        {
            IoError later = await last;
            error = error == IoError.None ? later : error;
        }

        return error;
    }

    /// <summary>Each page is encoded when it is its turn: what became durable meanwhile is on it.</summary>
    private IEnumerable<LaneTask<IoError>> WritePages(List<WrittenPage> written)
    {
        foreach (ChecksumPage page in _pages.All.ToArray())
        {
            if (page.OldestUnwritten == 0 || !page.IsLoaded || page.OldestUnwritten > _log!.Journal.Durable || !HasGoodCopies(page))
            {
                continue;
            }

            _log.ApplyDurable();
            IoBuffer image = _lane.Buffers.Rent(ChecksumSector.PageSize);
            Encode(image.Span, PlaceOf(page), _log.Journal.Durable, page.LoggedChecksums, page.LoggedGenerations);
            page.Pins++;
            written.Add(new WrittenPage(page, _log.Journal.Durable, Crc32c.Compute(image.Span)));
            yield return WritePage(page, image);
        }
    }

    private async LaneTask<IoError> WritePage(ChecksumPage page, IoBuffer image)
    {
        IoError error = await WritePageCopies(page, image);
        _lane.Buffers.Return(image);
        return error;
    }

    /// <summary>Whether the page may be written: every region of it has a good copy. Else its entries stay in the log until one is back.</summary>
    private bool HasGoodCopies(ChecksumPage page)
    {
        int first = page.Column * _shape.Copies;
        int good = _members.IsLive(page.Row.Places[first].Disk) ? ~page.Row.Stale[first] : 0;
        return page.Unknown == 0 && (PageRegions(page) & ~(good | GoodElsewhere(page.Row, first))) == 0;
    }

    private async LaneTask<IoError> WritePageCopies(ChecksumPage page, IoBuffer image)
    {
        int missing = 0;
        for (int copy = 0; copy < _shape.Copies; copy++)
        {
            SlabPlace place = page.Row.Place(page.Column, copy);
            bool hasOther = HasOther(page.Row, (page.Column * _shape.Copies) + copy);
            IoError error = await WriteMember(place.Disk, PageOffset(place, page), image, hasOther, awaitsRoom: true);
            Counters.MetadataBytesWritten += error == IoError.None ? image.Length : 0;
            missing |= error == IoError.None ? 0 : 1 << copy;
        }

        for (int copy = 0; copy < _shape.Copies; copy++)
        {
            int position = (page.Column * _shape.Copies) + copy;
            ushort regions = (ushort)(PageRegions(page) & ~page.Row.Stale[position]);
            if ((missing >> copy & 1) == 0)
            {
                continue;
            }

            if ((regions & ~GoodElsewhere(page.Row, position)) != 0)
            {
                // The last good copy does not take it: if its disk has left, the writeback starts again without this page.
                return _members.IsLive(page.Row.Places[position].Disk) ? IoError.Io : IoError.None;
            }

            if (await MarkStale(page.Row, position, PageRegions(page)) is not IoError.None and var failed)
            {
                return failed;
            }
        }

        return IoError.None;
    }

    private IEnumerable<LaneTask<IoError>> ReadBack(List<WrittenPage> written, int version)
    {
        foreach (WrittenPage page in written)
        {
            for (int copy = 0; copy < _shape.Copies && version == _members.Version; copy++)
            {
                SlabPlace place = page.Page.Row.Place(page.Page.Column, copy);
                if (_members.IsLive(place.Disk))
                {
                    yield return ReadBack(page, place, version);
                }
            }
        }
    }

    private async LaneTask<IoError> ReadBack(WrittenPage page, SlabPlace place, int version)
    {
        IoBuffer buffer = _lane.Buffers.Rent(ChecksumSector.PageSize);
        bool isThere = await _members.Read(place.Disk, PageOffset(place, page.Page), buffer) == IoError.None && Crc32c.Compute(buffer.Span) == page.Checksum;
        _lane.Buffers.Return(buffer);
        if (isThere || version != _members.Version)   // where a disk has left, all is written again
        {
            return IoError.None;
        }

        Counters.ChecksumMismatches++;
        return await PutOut(place.Disk, IoError.Io, HasOtherCopies(place.Disk), "a checksum page read back") ? IoError.None : IoError.Io;
    }

    private async LaneTask<IoError> TrimLog(List<WrittenPage> written)
    {
        foreach (WrittenPage page in written)
        {
            page.Page.OldestUnwritten = page.Page.LatestLogged > page.Image ? page.Image + 1 : 0;
        }

        ulong end = OldestOfPages(_log!.Journal.Durable + 1);
        if (end <= _log.Journal.Tail)
        {
            return IoError.None;   // entries of a page that no disk takes keep the log: marks written again would only fill it
        }

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

    private ulong OldestOfPages(ulong end)
    {
        ulong oldest = end;
        foreach (ChecksumPage page in _pages.All)
        {
            oldest = page.OldestUnwritten != 0 ? Math.Min(oldest, page.OldestUnwritten) : oldest;
        }

        foreach (List<LoggedEntries> logged in _unplaced.Values)
        {
            oldest = Math.Min(oldest, logged[0].Sequence);
        }

        return oldest;
    }

    private ulong OldestNeeded(ulong end)
    {
        ulong oldest = OldestOfPages(end);
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
