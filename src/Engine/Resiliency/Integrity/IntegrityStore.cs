using TierSpaces.Engine.Formats;
using TierSpaces.Engine.Lanes;
using TierSpaces.Engine.Primitives;
using TierSpaces.Engine.Resiliency.Layouts;

namespace TierSpaces.Engine.Resiliency;

// Checksum entries of a space by row, column and block: pages in memory, read from their copies when they are needed.
//
// Invariants
//  1. An entry is taken from the copy where it is newest, of those that are not stale in its region; a known one goes before an unknown one.
//  2. An entry that none of these has unharmed counts if a stale copy has it and a good copy of the block matches it. Otherwise it is unknown as long as a
//     disk with a copy of the page is away, and poisoned when none is, unless the log has it.
//  3. Entries of the log for a page that was not read since the space was opened (unplaced) are kept in the log, and applied when the page is read: when it is
//     asked for, and before the log is trimmed. Of a page that no disk can give it stays there.

/// <summary>The checksum entries of a space.</summary>
internal sealed class IntegrityStore(SpaceContext space, SpaceLog log)
{
    private const int BlockSize = SpaceShape.BlockSize;
    private const int CopiesMax = 3;   // of a page

    [ThreadStatic]
    private static Stack<ulong[]>? s_newest;   // one array per page being read

    private readonly ILayout _layout = space.Layout;
    private readonly SpaceShape _shape = space.Shape;
    private readonly SpaceStatus _status = space.Status;
    private readonly SpaceMembers _members = space.Members;
    private readonly BufferPool _buffers = space.Lane.Buffers;
    private readonly ChecksumPageCache _pages = new(space.Layout, space.Shape, space.Options.CachedPagesMax);
    private readonly Dictionary<long, List<LoggedEntries>> _unplaced = [];
    private Func<LaneTask<Nothing>>? _makeRoom;

    /// <summary>Pages in memory.</summary>
    internal List<ChecksumPage> Pages => _pages.All;

    /// <summary>Whether the pages in memory have grown as far as they may.</summary>
    internal bool IsOverfull => _pages.IsOverfull;

    /// <summary>Log block of the oldest entry that is unplaced, or the given one.</summary>
    internal ulong OldestUnplaced(ulong otherwise)
    {
        ulong oldest = otherwise;
        foreach (List<LoggedEntries> logged in _unplaced.Values)
        {
            oldest = Math.Min(oldest, logged[0].Sequence);
        }

        return oldest;
    }

    /// <summary>Says how pages are written back when there are too many.</summary>
    internal void MakeRoomBy(Func<LaneTask<Nothing>> makeRoom) => _makeRoom = makeRoom;

    /// <summary>Number of the first block of a piece in its page.</summary>
    internal int FirstBlock(in StripPiece piece) => _shape.BlockInPage(piece.SlabOffset);

    /// <summary>Prefetches the entries of a block that is likely to be asked for next, if they are in memory.</summary>
    internal void Prefetch(in StripPiece piece) => _pages.Prefetch(piece);

    /// <summary>Returns the page of a piece, if it is in memory.</summary>
    internal ChecksumPage? Find(SpaceRow row, in StripPiece piece) =>
        _pages.Find(row, piece.Column, piece.SlabOffset / _shape.PageSpan) is { IsLoaded: true } page ? page : null;

    /// <summary>Returns the page of a piece, read from its copies if it is not in memory; null when no copy answers. The caller pins it at once.</summary>
    internal LaneTask<ChecksumPage?> Load(SpaceRow row, in StripPiece piece) => Load(row, piece.Column, piece.SlabOffset / _shape.PageSpan);

    /// <summary>Returns a page, read from its copies if it is not in memory; null when no copy answers. The caller pins it at once.</summary>
    internal LaneTask<ChecksumPage?> Load(SpaceRow row, int column, int index) => RequestTrace.IsOn
        ? space.Lane.Trace(TraceLayer.ChecksumPage, space.Lane.NowNs, LoadPage(row, column, index, isWriteback: false))
        : LoadPage(row, column, index, isWriteback: false);

    private async LaneTask<ChecksumPage?> LoadPage(SpaceRow row, int column, int index, bool isWriteback)
    {
        while (_status.Fault == IoError.None)
        {
            if (_pages.Find(row, column, index) is { } known)
            {
                if (known.IsLoaded)
                {
                    return known;
                }

                await _pages.Loaded.Wait();
                continue;
            }

            if (!_status.IsOpening && !isWriteback && !_pages.TryMakeRoom())   // room is made by a writeback
            {
                await _makeRoom!();
                if (_pages.Find(row, column, index) is not null)
                {
                    continue;
                }
            }

            return await ReadNew(row, column, index);
        }

        return null;
    }

    /// <summary>
    /// Reads pages of a group side by side that work is about to need, so that a rotating disk goes to them once. The work itself handles pages that cannot be
    /// read. The caller is counted as a user of the row.
    /// </summary>
    internal async LaneTask<Nothing> LoadAhead(SpaceRow row, int group, int first, int count)
    {
        List<LaneTask<ChecksumPage?>> loads = [];
        for (int column = 0; column < _layout.Columns; column++)
        {
            for (int index = first; index < first + count && _layout.GroupOf(column) == group; index++)
            {
                loads.Add(Load(row, column, index));
            }
        }

        foreach (LaneTask<ChecksumPage?> load in loads)
        {
            await load;
        }

        return default;
    }

    /// <summary>Appends the states of the blocks of a piece in one column, as their entries have them.</summary>
    internal async LaneTask<IoError> AppendStates(SpaceRow row, StripPiece piece, List<StoreExtent> extents)
    {
        if ((Find(row, piece) ?? await Load(row, piece)) is not { } page)
        {
            return IoError.Io;
        }

        foreach (ushort generation in page.Generations.Slice(FirstBlock(piece), piece.Length / BlockSize))
        {
            StoreExtent.Append(extents, BlockSize, generation == ChecksumSector.NeverWritten ? ExtentState.Zero : ExtentState.Data);
        }

        return IoError.None;
    }

    /// <summary>Records what the log says of blocks of a page that is not read yet.</summary>
    internal void NoteLogged(int row, int column, int index, in LoggedEntries entries)
    {
        long key = ChecksumPageCache.Key(row, column, index);
        if (!_unplaced.TryGetValue(key, out List<LoggedEntries>? logged))
        {
            _unplaced[key] = logged = [];
        }

        logged.Add(entries);
    }

    /// <summary>
    /// Reads the pages that the log has entries of, for a writeback, in the order of the disks; where their disks are out, the entries stay unplaced.
    /// </summary>
    internal IEnumerable<LaneTask<IoError>> PlaceLogged()
    {
        long[] keys = [.. _unplaced.Keys];
        Array.Sort(keys);
        foreach (long key in keys)
        {
            if (space.Rows[(int)(key >> 24)] is { } row)
            {
                yield return Place(row, (int)(key >> 16) & 0xFF, (int)key & 0xFFFF);
            }
        }
    }

    /// <summary>A disk is back: entries that no disk could give are read from it.</summary>
    internal async LaneTask<Nothing> LearnUnknown()
    {
        foreach (ChecksumPage page in _pages.All.FindAll(static page => page.IsLoaded && page.HasUnknown))
        {
            ChecksumPage fresh = new();
            fresh.Assign(page.Row, page.Column, page.Index);
            page.Pin();
            if (await Read(fresh))
            {
                bool isNew = false;
                for (int block = 0; block < ChecksumPage.Blocks; block++)
                {
                    if (page.Generations[block] == ChecksumSector.Unknown && fresh.Generations[block] != ChecksumSector.Unknown)
                    {
                        page.Learn(block, fresh.Generations[block], fresh.Checksums[block]);
                        isNew = true;
                    }
                }

                if (isNew && page.OldestUnwritten == 0)
                {
                    page.RequireWriteback(log.Journal.Durable);
                }
            }

            page.Unpin();
        }

        return default;
    }

    /// <summary>Encodes a page as the durable part of the log has it. A page that is not in memory is on its good copies as it is.</summary>
    internal async LaneTask<IoError> EncodeLogged(SpaceRow row, int column, int index, IoBuffer image)
    {
        ChecksumPage? page = _pages.Find(row, column, index) is { IsLoaded: true } cached ? cached : null;
        if (page is null)
        {
            page = new ChecksumPage();
            page.Assign(row, column, index);
            if (_unplaced.ContainsKey(ChecksumPageCache.Key(row.Index, column, index)))
            {
                await LoadPage(row, column, index, isWriteback: true);
            }
            else if (!await Read(page))
            {
                return IoError.Io;
            }

            page = _pages.Find(row, column, index) is { IsLoaded: true } since ? since : page;
        }

        if (page.HasUnknown)
        {
            return IoError.Io;   // what the target has of these entries may be the last there is
        }

        log.ApplyDurable();
        Encode(page, image);
        return IoError.None;
    }

    /// <summary>Writes blank pages into the slab of a position: every page that is there says never-written.</summary>
    internal async LaneTask<IoError> BlankPages(SpaceRow row, int position)
    {
        uint[] checksums = new uint[ChecksumPage.Blocks];
        ushort[] generations = new ushort[ChecksumPage.Blocks];
        IoBuffer pages = _buffers.Rent(_shape.PagesPerSlab * ChecksumSector.PageSize);
        IoError error = IoError.None;
        for (int column = 0; column < _layout.Columns && error == IoError.None; column++)
        {
            for (int copy = 0; copy < _layout.PageCopies && error == IoError.None; copy++)
            {
                PagePlace first = _layout.PageAt(column, 0, copy);
                if (first.Position != position)
                {
                    continue;
                }

                for (int page = 0; page < _shape.PagesPerSlab; page++)
                {
                    ChecksumPlace place = new(space.Options.PoolTag, space.Options.Space, row.Index, column, page);
                    Encode(pages.Span.Slice(page * ChecksumSector.PageSize, ChecksumSector.PageSize), place, log.Journal.Next - 1, checksums, generations);
                }

                error = await _members.Write(row.Places[position].Disk, row.Places[position].OffsetOf(first), pages);
                space.Counters.Io.NoteMetadata(pages.Length);
            }
        }

        _buffers.Return(pages);
        return error;
    }

    /// <summary>Counts the written blocks of a row whose count is not known.</summary>
    internal async LaneTask<IoError> CountWritten(SpaceRow row)
    {
        int count = 0;
        for (int column = 0; column < _layout.Columns; column++)
        {
            for (int index = 0; index < _shape.PagesPerSlab; index++)
            {
                if (await Load(row, column, index) is not { } page)
                {
                    return IoError.Io;
                }

                foreach (ushort generation in page.Generations.Slice(0, _shape.PageSpan / BlockSize))
                {
                    count += generation != ChecksumSector.NeverWritten ? 1 : 0;
                }
            }
        }

        row.SetWritten(count);
        return IoError.None;
    }

    /// <summary>Drops the pages of a row that is given back.</summary>
    internal void Drop(SpaceRow row, ChangedEntries changes)
    {
        foreach (ChecksumPage page in _pages.All.FindAll(page => page.Row == row))
        {
            changes.Forget(page);
            page.Clear();
            _pages.Remove(page);
        }
    }

    internal ChecksumPlace PlaceOf(ChecksumPage page) => new(space.Options.PoolTag, space.Options.Space, page.Row.Index, page.Column, page.Index);

    /// <summary>Encodes a page as it is logged now.</summary>
    internal void Encode(ChecksumPage page, IoBuffer image) =>
        Encode(image.Span, PlaceOf(page), log.Journal.Durable, page.LoggedChecksums, page.LoggedGenerations);

    /// <summary>Regions of its group that a page has entries of, bit per region.</summary>
    internal ushort PageRegions(int index)
    {
        int first = (int)((long)index * _shape.PageSpan / _shape.RegionSize);
        int last = (int)(((((long)index + 1) * _shape.PageSpan) - 1) / _shape.RegionSize);
        return (ushort)(((1 << (last - first + 1)) - 1) << first);
    }

    private static void Place(ChecksumPage page, List<LoggedEntries> logged)
    {
        foreach (LoggedEntries entries in logged)
        {
            for (int i = 0; i < entries.Count; i++)
            {
                page.Load(entries.Block + i, entries.Generation, entries.Checksum);
            }
        }

        page.NoteFound(logged[0].Sequence, logged[^1].Sequence);
    }

    private static void Encode(Span<byte> target, in ChecksumPlace place, ulong sequence, ReadOnlySpan<uint> checksums, ReadOnlySpan<ushort> generations)
    {
        for (int sector = 0; sector < ChecksumSector.PerPage; sector++)
        {
            ChecksumSector.Write(
                target.Slice(sector * ChecksumSector.Size, ChecksumSector.Size), place, sector, sequence,
                checksums.Slice(sector * ChecksumSector.Entries, ChecksumSector.Entries),
                generations.Slice(sector * ChecksumSector.Entries, ChecksumSector.Entries));
        }
    }

    private async LaneTask<IoError> Place(SpaceRow row, int column, int index)
    {
        await LoadPage(row, column, index, isWriteback: true);
        return IoError.None;   // what no disk gives stays unplaced
    }

    private async LaneTask<ChecksumPage?> ReadNew(SpaceRow row, int column, int index)
    {
        ChecksumPage page = _pages.Add(row, column, index);
        page.Pin();
        bool read = row.TakeBlank((column * _shape.PagesPerSlab) + index) || await Read(page);
        if (!read)
        {
            _pages.Remove(page);
        }
        else
        {
            page.EndLoading();
        }

        if (read && _unplaced.Remove(ChecksumPageCache.Key(row.Index, column, index), out List<LoggedEntries>? logged))
        {
            Place(page, logged);
        }

        _pages.Loaded.NotifyAll();
        page.Unpin();
        return read ? page : null;
    }

    /// <summary>Reads a page as invariants 1 and 2 say, all copies side by side. False when no region has a copy that answers.</summary>
    private async LaneTask<bool> Read(ChecksumPage page)
    {
        IoBuffer buffer = _buffers.Rent(CopiesMax * ChecksumSector.PageSize);
        ulong[] newest = (s_newest ??= new()).TryPop(out ulong[]? spare) ? spare : new ulong[ChecksumPage.Blocks];
        Array.Clear(newest);   // of each run, sequence + 1 of the sector it was taken from; 0: none yet
        ushort regions = PageRegions(page.Index);
        (ushort usable0, ushort usable1, ushort usable2) = (UsableOn(page, 0, regions), UsableOn(page, 1, regions), UsableOn(page, 2, regions));
        LaneTask<IoError> read0 = ReadCopy(page, 0, usable0, buffer), read1 = ReadCopy(page, 1, usable1, buffer), read2 = ReadCopy(page, 2, usable2, buffer);
        bool any = Merge(page, 0, await read0, usable0, buffer, newest);
        any |= Merge(page, 1, await read1, usable1, buffer, newest);
        any |= Merge(page, 2, await read2, usable2, buffer, newest);
        if (any)
        {
            NoteUnread(page, newest);
        }

        if (any && page.HasUnknown)
        {
            await LearnKnown(page, buffer, newest, (usable0, usable1, usable2));
        }

        (s_newest ??= new()).Push(newest);

        _buffers.Return(buffer);
        return any;
    }

    /// <summary>Regions of a page that a copy of it, if there is one, can be read for.</summary>
    private ushort UsableOn(ChecksumPage page, int copy, ushort regions)
    {
        if (copy >= _layout.PageCopies)
        {
            return 0;
        }

        PagePlace place = _layout.PageAt(page.Column, page.Index, copy);
        return _members.IsLive(page.Row.Places[place.Position].Disk) ? (ushort)(regions & ~page.Row.Stale[place.Position]) : (ushort)0;
    }

    private LaneTask<IoError> ReadCopy(ChecksumPage page, int copy, ushort usable, IoBuffer buffer)
    {
        if (usable == 0)
        {
            return LaneTask.FromResult(IoError.DeviceGone);
        }

        PagePlace place = _layout.PageAt(page.Column, page.Index, copy);
        SlabPlace slab = page.Row.Places[place.Position];
        space.Counters.Io.NoteMetadataRead(ChecksumSector.PageSize);
        return _members.Read(slab.Disk, slab.OffsetOf(place), ImageOf(buffer, copy));
    }

    private static IoBuffer ImageOf(IoBuffer buffer, int copy) => buffer.Slice(copy * ChecksumSector.PageSize, ChecksumSector.PageSize);

    /// <summary>Takes from a copy, if it was read, the entries that are newer there. Whether it was read.</summary>
    private bool Merge(ChecksumPage page, int copy, IoError error, ushort usable, IoBuffer buffer, ulong[] newest)
    {
        if (error != IoError.None)
        {
            return false;
        }

        Span<uint> checksums = stackalloc uint[ChecksumSector.Entries];
        Span<ushort> generations = stackalloc ushort[ChecksumSector.Entries];
        ReadOnlySpan<byte> bytes = ImageOf(buffer, copy).Span;
        ChecksumPlace place = PlaceOf(page);
        for (int sector = 0; sector < ChecksumSector.PerPage; sector++)
        {
            if (!ChecksumSector.TryRead(
                bytes.Slice(sector * ChecksumSector.Size, ChecksumSector.Size), place, sector, out ulong sequence, checksums, generations))
            {
                continue;
            }

            for (int i = 0; i < ChecksumSector.Entries; i += RunBlocks)
            {
                int block = (sector * ChecksumSector.Entries) + i;
                if (sequence >= newest[block] && (usable >> RegionOfBlock(page, block) & 1) != 0)
                {
                    newest[block] = sequence + 1;
                    page.Load(block, generations.Slice(i, RunBlocks), checksums.Slice(i, RunBlocks));
                }
            }
        }

        return true;
    }

    /// <summary>Blocks whose entries are in one sector and one region: all of them are taken from the same copy.</summary>
    private int RunBlocks => Math.Min(ChecksumSector.Entries, _shape.RegionSize / BlockSize);

    /// <summary>Enters that the entries which no good copy gave are unknown; what an earlier release called so by chance is an ordinary entry.</summary>
    private void NoteUnread(ChecksumPage page, ulong[] newest)
    {
        for (int run = 0; run < newest.Length; run += RunBlocks)
        {
            for (int block = run; newest[run] == 0 && block < run + RunBlocks; block++)
            {
                page.Load(block, ChecksumSector.Unknown, 0);
            }
        }

        for (int block = 0; page.HasUnknown && block < ChecksumPage.Blocks; block++)
        {
            if (page.Generations[block] == ChecksumSector.Unknown && page.Checksums[block] != 0)
            {
                page.Load(block, 1, page.Checksums[block]);
            }
        }
    }

    /// <summary>
    /// Enters what other copies of a page know of its unknown entries: good ones, stale ones that have missed no page, and others where a good copy of the
    /// block matches. Entries that are unknown then are poisoned unless a disk with a copy of the page is away.
    /// </summary>
    private async LaneTask<Nothing> LearnKnown(
        ChecksumPage page, IoBuffer buffer, ulong[] newest, (ushort Copy0, ushort Copy1, ushort Copy2) usableOn)
    {
        bool isAway = false;
        for (int copy = 0; copy < _layout.PageCopies && page.HasUnknown; copy++)
        {
            ushort usable = copy switch { 0 => usableOn.Copy0, 1 => usableOn.Copy1, _ => usableOn.Copy2 };
            PagePlace place = _layout.PageAt(page.Column, page.Index, copy);
            SlabPlace slab = page.Row.Places[place.Position];
            isAway |= !_members.IsLive(slab.Disk);
            if (_members.IsLive(slab.Disk) && await _members.Read(slab.Disk, slab.OffsetOf(place), ImageOf(buffer, copy)) == IoError.None)
            {
                await LearnFrom(page, copy, usable, newest, buffer);
            }
        }

        for (int copy = 0; copy < _layout.PageCopies && !isAway; copy++)
        {
            isAway = !_members.IsLive(page.Row.Places[_layout.PageAt(page.Column, page.Index, copy).Position].Disk);
        }

        for (int block = 0; block < ChecksumPage.Blocks && !isAway; block++)
        {
            if (page.Generations[block] == ChecksumSector.Unknown)
            {
                page.Load(block, ChecksumSector.Poisoned, 0);
            }
        }

        return default;
    }

    private async LaneTask<Nothing> LearnFrom(ChecksumPage page, int copy, ushort usable, ulong[] newest, IoBuffer buffer)
    {
        uint[] checksums = new uint[ChecksumSector.Entries];
        ushort[] generations = new ushort[ChecksumSector.Entries];
        int position = _layout.PageAt(page.Column, page.Index, copy).Position;
        for (int sector = 0; sector < ChecksumSector.PerPage; sector++)
        {
            IoBuffer image = ImageOf(buffer, copy).Slice(sector * ChecksumSector.Size, ChecksumSector.Size);
            if (!ChecksumSector.TryRead(image.Span, PlaceOf(page), sector, out ulong _, checksums, generations))
            {
                continue;
            }

            for (int i = 0; i < ChecksumSector.Entries; i++)
            {
                int block = (sector * ChecksumSector.Entries) + i;
                bool isKnown = !ChecksumSector.IsMark(generations[i]) || generations[i] == ChecksumSector.Marked;
                if (page.Generations[block] == ChecksumSector.Unknown && isKnown)
                {
                    bool isGood = (usable >> RegionOfBlock(page, block) & 1) != 0;
                    bool isMarked = newest[block - (block % RunBlocks)] != 0;   // a good copy calls it unknown: it has not changed since
                    ushort missed = (isMarked ? page.Row.StaleWhenMade : page.Row.PagesMissed)[position];
                    bool isWhole = (missed >> RegionOfBlock(page, block) & 1) == 0;
                    if (isGood || isWhole || (generations[i] != ChecksumSector.NeverWritten && await HoldsGood(page, block, checksums[i])))
                    {
                        page.Load(block, generations[i], checksums[i]);
                    }
                }
            }
        }

        return default;
    }

    /// <summary>Whether a position that is good in the region of a block holds a block with a checksum.</summary>
    private async LaneTask<bool> HoldsGood(ChecksumPage page, int block, uint checksum)
    {
        int positions = _layout.Positions / _layout.Columns;
        int region = RegionOfBlock(page, block);
        IoBuffer data = _buffers.Rent(BlockSize);
        bool isFound = false;
        for (int i = 0; i < positions && !isFound; i++)
        {
            int position = (page.Column * positions) + i;
            SlabPlace place = page.Row.Places[position];
            long offset = ((long)page.Index * _shape.PageSpan) + ((long)block * BlockSize);
            isFound = space.Redundancy.IsGood(page.Row, position, region) && offset < _shape.SlabSize
                && await _members.Read(place.Disk, place.DataOffset + offset, data) == IoError.None && Crc32c.Compute(data.Span) == checksum;
        }

        _buffers.Return(data);
        return isFound;
    }

    /// <summary>Region, in its group, of a block of a page. Entries beyond a slab smaller than a page count to its last region.</summary>
    private int RegionOfBlock(ChecksumPage page, int block) => (int)Math.Min(
        (((long)page.Index * _shape.PageSpan) + ((long)block * BlockSize)) / _shape.RegionSize, SpaceShape.RegionsPerSlab - 1);
}

/// <summary>Entries of neighbouring blocks that are equal, as a block of the log has them.</summary>
internal readonly record struct LoggedEntries(ulong Sequence, int Block, int Count, ushort Generation, uint Checksum);
