using TierSpaces.Engine.Formats;
using TierSpaces.Engine.Primitives;
using TierSpaces.Engine.Resiliency.Layouts;

namespace TierSpaces.Engine.Resiliency;

// Writes checksum pages back to the disks, so that the log can be trimmed.
//
// Invariants
//  1. An entry reaches the pages on disk only after its log record is durable; the log is trimmed only after the pages are durable and read back
//     on every copy; the mark of a region still dirty, and records of found writes that are not judged yet, are written again first.
//  2. One writeback runs at a time. While a repair, a move or a scrub holds it, none runs.
//  3. A disk that leaves during a writeback makes it begin again: the pages that it missed are recorded as stale there.

/// <summary>Writes checksum pages back and trims the integrity log.</summary>
internal sealed class PageWriteback(SpaceContext space, SpaceLog log, IntegrityStore integrity, RegionMap regions, FoundWrites found, StaleMap stale,
    SpaceFlusher flusher)
{
    private const int InVainMax = 4;      // without moving the tail: then it cannot move
    private const int PagesAtOnce = 32;   // a rotating disk among clients takes a fifth of a second for each

    private readonly ILayout _layout = space.Layout;
    private readonly SpaceStatus _status = space.Status;
    private readonly SpaceMembers _members = space.Members;
    private readonly SpaceCounters _counters = space.Counters;
    private readonly Redundancy _redundancy = space.Redundancy;
    private readonly BufferPool _buffers = space.Lane.Buffers;
    private readonly LaneSignal _ended = new();

    /// <summary>Whether one runs or is held.</summary>
    internal bool IsRunning { get; private set; }

    /// <summary>Completes when others than the writeback may append this many blocks to the log.</summary>
    internal async LaneTask<IoError> MakeRoom(int blocks)
    {
        for (int idle = 0; !log.HasRoom(blocks) && _status.Fault == IoError.None;)
        {
            ulong tail = log.Journal.DurableTail;
            bool isMine = !IsRunning;
            await Writeback();
            idle = isMine && log.Journal.DurableTail == tail ? idle + 1 : 0;
            if (idle == InVainMax)
            {
                _status.Fail(IoError.Io, "the integrity log is full of entries whose disks are missing");
            }
        }

        log.StartWritebackWhenFull();
        return _status.Fault;
    }

    /// <summary>Starts one in the background.</summary>
    internal void Start()
    {
        if (!IsRunning && !_status.IsClosing)
        {
            Writeback().Forget();
        }
    }

    /// <summary>Makes room for pages in memory.</summary>
    internal async LaneTask<Nothing> MakeRoomForPages()
    {
        if (integrity.IsOverfull && await flusher.Flush() == IoError.None)
        {
            await Writeback();
        }
        else
        {
            Start();
        }

        return default;
    }

    /// <summary>Waits until no writeback runs and keeps others from beginning until <see cref="ReleaseWriteback"/>.</summary>
    internal async LaneTask<Nothing> HoldWriteback()
    {
        await WritebackEnd();
        IsRunning = true;
        return default;
    }

    internal void ReleaseWriteback()
    {
        IsRunning = false;
        _ended.NotifyAll();
    }

    /// <summary>Waits until no writeback runs.</summary>
    internal async LaneTask<Nothing> WritebackEnd()
    {
        while (IsRunning)
        {
            await _ended.Wait();
        }

        return default;
    }

    // 1. Everything appended becomes durable, and pages that the log has entries of since before the opening are read.
    // 2. Pages with entries that the disks lack are written, as logged, to every copy; flush; read back.
    //    A disk that leaves meanwhile starts this again.
    // 3. Marks of regions still dirty are written again; durable.
    // 4. The tail moves over what is on the pages now; durable.

    /// <summary>Writes back all pages with entries that the disks lack; if one runs already, waits for its end instead.</summary>
    internal async LaneTask<IoError> Writeback()
    {
        if (IsRunning)
        {
            await _ended.Wait();
            return _status.Fault;
        }

        IsRunning = true;
        IoError error = await log.CommitAll();
        error = error == IoError.None ? await FewAtATime(integrity.PlaceLogged()) : error;
        List<WrittenPage> written = [];
        string what = "checksum pages could not be written back";
        while (error == IoError.None && _status.Fault == IoError.None)
        {
            int version = _members.Version;
            Unpin(written);
            error = await FewAtATime(WritePages(written));
            if (error == IoError.None && (error = await flusher.FlushDisks()) != IoError.None)
            {
                what = SpaceFlusher.LastCopyUnflushed;
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
            _status.Fail(error, what);
        }

        ReleaseWriteback();
        return error;
    }

    /// <summary>
    /// Whether a page may be written: every region of it has a good copy, and no stale copy would lose an entry that is unknown elsewhere. Else its entries
    /// stay in the log until a disk is back, or the entry is known.
    /// </summary>
    internal bool HasGoodCopies(ChecksumPage page) =>
        (integrity.PageRegions(page.Index) & ~_redundancy.GoodRegions(page.Row, _layout.GroupOf(page.Column))) == 0
        && !(page.HasUnknown && HasStaleCopy(page));

    private bool HasStaleCopy(ChecksumPage page)
    {
        bool hasStale = false;
        for (int copy = 0; copy < _layout.PageCopies && !hasStale; copy++)
        {
            int position = _layout.PageAt(page.Column, page.Index, copy).Position;
            hasStale = _members.IsLive(page.Row.Places[position].Disk) && (page.Row.Stale[position] & integrity.PageRegions(page.Index)) != 0;
        }

        return hasStale;
    }

    private static void Unpin(List<WrittenPage> written)
    {
        foreach (WrittenPage page in written)
        {
            page.Page.Unpin();
        }

        written.Clear();
    }

    /// <summary>Runs independent steps, a few at a time; after the first error no more begin. Returns the first error.</summary>
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

    /// <summary>Encodes each page just before its write, so that the page includes entries that became durable meanwhile.</summary>
    private IEnumerable<LaneTask<IoError>> WritePages(List<WrittenPage> written)
    {
        foreach (ChecksumPage page in integrity.Pages.ToArray())
        {
            if (page.OldestUnwritten == 0 || !page.IsLoaded || page.OldestUnwritten > log.Journal.Durable || !HasGoodCopies(page))
            {
                continue;
            }

            log.ApplyDurable();
            IoBuffer image = _buffers.Rent(ChecksumSector.PageSize);
            integrity.Encode(page, image);
            NoteMissed(page);
            page.Pin();
            written.Add(new WrittenPage(page, log.Journal.Durable, Crc32c.Compute(image.Span)));
            yield return WritePage(page, image);
        }
    }

    /// <summary>Records which copies of a page do not get what is about to be written.</summary>
    private void NoteMissed(ChecksumPage page)
    {
        for (int copy = 0; copy < _layout.PageCopies; copy++)
        {
            int position = _layout.PageAt(page.Column, page.Index, copy).Position;
            bool isLive = _members.IsLive(page.Row.Places[position].Disk);
            page.Row.PagesMissed[position] |= (ushort)(integrity.PageRegions(page.Index) & (isLive ? page.Row.Stale[position] : ushort.MaxValue));
        }
    }

    private async LaneTask<IoError> WritePage(ChecksumPage page, IoBuffer image)
    {
        IoError error = await WritePageCopies(page, image);
        _buffers.Return(image);
        return error;
    }

    private async LaneTask<IoError> WritePageCopies(ChecksumPage page, IoBuffer image)
    {
        int missing = 0;
        for (int copy = 0; copy < _layout.PageCopies; copy++)
        {
            PagePlace place = _layout.PageAt(page.Column, page.Index, copy);
            SlabPlace slab = page.Row.Places[place.Position];
            IoError error = await _members.WriteOrEvict(
                slab.Disk, slab.OffsetOf(place), image, _redundancy.HasOther(page.Row, place.Position), awaitsRoom: true);
            _counters.Io.NoteMetadata(error == IoError.None ? image.Length : 0, error == IoError.None ? 1 : 0);
            missing |= error == IoError.None ? 0 : 1 << copy;
        }

        ushort pageRegions = integrity.PageRegions(page.Index);
        for (int copy = 0; copy < _layout.PageCopies; copy++)
        {
            int position = _layout.PageAt(page.Column, page.Index, copy).Position;
            if ((missing >> copy & 1) == 0)
            {
                continue;
            }

            if ((pageRegions & ~page.Row.Stale[position] & ~_redundancy.GoodElsewhere(page.Row, position)) != 0)
            {
                // The last good copy does not take it: if its disk has left, the writeback starts again without this page.
                return _members.IsLive(page.Row.Places[position].Disk) ? IoError.Io : IoError.None;
            }

            if (await stale.MarkStale(page.Row, position, pageRegions, Lack.NothingMore) is not IoError.None and var failed)
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
            for (int copy = 0; copy < _layout.PageCopies && version == _members.Version; copy++)
            {
                PagePlace place = _layout.PageAt(page.Page.Column, page.Page.Index, copy);
                SlabPlace slab = page.Page.Row.Places[place.Position];
                if (_members.IsLive(slab.Disk))
                {
                    yield return ReadBack(page, slab, place, version);
                }
            }
        }
    }

    private async LaneTask<IoError> ReadBack(WrittenPage page, SlabPlace slab, PagePlace place, int version)
    {
        IoBuffer buffer = _buffers.Rent(ChecksumSector.PageSize);
        _counters.Io.NoteMetadataRead(buffer.Length);
        bool isThere = await _members.Read(slab.Disk, slab.OffsetOf(place), buffer) == IoError.None && Crc32c.Compute(buffer.Span) == page.Checksum;
        _buffers.Return(buffer);
        if (isThere || version != _members.Version)   // where a disk has left, all is written again
        {
            return IoError.None;
        }

        _counters.Damage.NoteMismatch();
        return await _members.Evict(slab.Disk, IoError.Io, _redundancy.HasOtherCopies(slab.Disk), "a checksum page read back") ? IoError.None : IoError.Io;
    }

    private async LaneTask<IoError> TrimLog(List<WrittenPage> written)
    {
        foreach (WrittenPage page in written)
        {
            page.Page.NoteWritten(page.Image);
        }

        ulong end = OldestOfPages(log.Journal.Durable + 1);
        if (end <= log.Journal.Tail)
        {
            return IoError.None;   // entries of a page that no disk takes keep the log: marks written again would only fill it
        }

        regions.MarkAgainUpTo(end - 1);
        found.AppendAgainUpTo(end - 1);
        IoError error = await log.CommitAll();
        if (error != IoError.None)
        {
            return error;
        }

        log.Journal.Trim(Math.Max(log.Journal.Tail, found.Oldest(regions.OldestMark(OldestOfPages(end)))));
        return await log.Journal.CommitTail();
    }

    private ulong OldestOfPages(ulong end)
    {
        ulong oldest = end;
        foreach (ChecksumPage page in integrity.Pages)
        {
            oldest = page.OldestUnwritten != 0 ? Math.Min(oldest, page.OldestUnwritten) : oldest;
        }

        return integrity.OldestUnplaced(oldest);
    }

    private readonly record struct WrittenPage(ChecksumPage Page, ulong Image, uint Checksum);
}
