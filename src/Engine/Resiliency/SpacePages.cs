using TierSpaces.Engine.Formats;
using TierSpaces.Engine.Primitives;
using TierSpaces.Engine.Resiliency.Layouts;

namespace TierSpaces.Engine.Resiliency;

public sealed partial class Space
{
    [ThreadStatic]
    private static Stack<ulong[]>? s_newest;   // one array per page being read

    /// <summary>What the log says of pages that no disk has given yet, by page: applied when one does, and kept in the log until then.</summary>
    private readonly Dictionary<long, List<LoggedEntries>> _unplaced = [];

    private ChecksumPage? FindPage(SpaceRow row, StripPiece piece) =>
        _pages.Find(row, piece.Column, piece.SlabOffset / _shape.PageSpan) is { IsLoaded: true } page ? page : null;

    /// <summary>The page, read from its copies when it is not in memory; null when no copy answers. The caller pins it at once.</summary>
    private async LaneTask<ChecksumPage?> LoadPage(SpaceRow row, int column, int index)
    {
        while (Fault == IoError.None)
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

            if (!_opening && !_pages.TryMakeRoom())
            {
                await MakeRoomForPages();
                if (_pages.Find(row, column, index) is not null)
                {
                    continue;
                }
            }

            return await ReadNewPage(row, column, index);
        }

        return null;
    }

    private async LaneTask<ChecksumPage?> ReadNewPage(SpaceRow row, int column, int index)
    {
        ChecksumPage page = _pages.Add(row, column, index);
        page.Pins++;
        bool read = await ReadPage(page);
        page.IsLoaded = read;
        if (!read)
        {
            _pages.Remove(page);
        }
        else if (_unplaced.Remove(ChecksumPageCache.Key(row.Index, column, index), out List<LoggedEntries>? logged))
        {
            Place(page, logged);
        }

        _pages.Loaded.NotifyAll();
        page.Pins--;
        return read ? page : null;
    }

    /// <summary>
    /// Takes each entry from the copy where it is newest, of those that are not stale in its region. An entry that no copy has
    /// unharmed loses its block: it is poisoned, unless the log knows better. False when no region has a copy that answers.
    /// </summary>
    private async LaneTask<bool> ReadPage(ChecksumPage page)
    {
        IoBuffer buffer = _lane.Buffers.Rent(ChecksumSector.PageSize);
        ulong[] newest = (s_newest ??= new()).TryPop(out ulong[]? spare) ? spare : new ulong[ChecksumPage.Blocks];
        Array.Clear(newest);   // sequence + 1 of the sector an entry was taken from; 0: none yet
        ushort regions = PageRegions(page);
        ushort known = 0;
        bool any = false;
        for (int copy = 0; copy < _shape.Copies; copy++)
        {
            SlabPlace place = page.Row.Place(page.Column, copy);
            ushort usable = (ushort)(regions & ~page.Row.Stale[(page.Column * _shape.Copies) + copy]);
            if (usable == 0 || !_members.IsLive(place.Disk))
            {
                continue;
            }

            known |= usable;
            if (await _members.Read(place.Disk, PageOffset(place, page), buffer) == IoError.None)
            {
                any = true;
                Merge(page, buffer.Span, usable, newest);
            }
        }

        _lane.Buffers.Return(buffer);
        for (int block = 0; any && block < newest.Length; block++)
        {
            if (newest[block] == 0)
            {
                page.Load(block, ChecksumSector.Poisoned, 0);
            }
        }

        (s_newest ??= new()).Push(newest);
        page.Unknown = (ushort)(regions & ~known);
        return any;
    }

    private void Merge(ChecksumPage page, ReadOnlySpan<byte> bytes, ushort usable, ulong[] newest)
    {
        Span<uint> checksums = stackalloc uint[ChecksumSector.Entries];
        Span<ushort> generations = stackalloc ushort[ChecksumSector.Entries];
        ChecksumPlace place = PlaceOf(page);
        for (int sector = 0; sector < ChecksumSector.PerPage; sector++)
        {
            if (!ChecksumSector.TryRead(bytes.Slice(sector * ChecksumSector.Size, ChecksumSector.Size), place, sector, out ulong sequence, checksums, generations))
            {
                continue;
            }

            for (int i = 0; i < ChecksumSector.Entries; i++)
            {
                int block = (sector * ChecksumSector.Entries) + i;
                if (sequence >= newest[block] && (usable >> RegionOfBlock(page, block) & 1) != 0)
                {
                    newest[block] = sequence + 1;
                    page.Load(block, generations[i], checksums[i]);
                }
            }
        }
    }

    /// <summary>Region, in its slab, of a block of a page. Entries beyond a slab smaller than a page count to its last region.</summary>
    private int RegionOfBlock(ChecksumPage page, int block) => (int)Math.Min(
        (((long)page.Index * _shape.PageSpan) + ((long)block * BlockSize)) / _shape.RegionSize, SpaceShape.RegionsPerSlab - 1);

    /// <summary>A disk is back: entries that nobody could tell are read from it.</summary>
    private async LaneTask<Nothing> LearnUnknown()
    {
        foreach (ChecksumPage page in _pages.All.FindAll(page => page.Unknown != 0 && page.IsLoaded))
        {
            ChecksumPage fresh = new();
            fresh.Assign(page.Row, page.Column, page.Index);
            page.Pins++;
            ushort before = page.Unknown;
            if (await ReadPage(fresh))
            {
                for (int block = 0; block < ChecksumPage.Blocks; block++)
                {
                    bool isNew = (before & ~fresh.Unknown & (1 << RegionOfBlock(page, block))) != 0;
                    if (isNew && page.Generations[block] == ChecksumSector.Poisoned)
                    {
                        page.Learn(block, fresh.Generations[block], fresh.Checksums[block]);
                    }
                }

                page.Unknown &= fresh.Unknown;
            }

            page.Pins--;
        }

        return default;
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

        page.OldestUnwritten = logged[0].Sequence;
        page.LatestLogged = logged[^1].Sequence;
    }

    private ChecksumPlace PlaceOf(ChecksumPage page) => new(_options.PoolTag, _options.Space, page.Row.Index, page.Column, page.Index);

    private static long PageOffset(SlabPlace place, ChecksumPage page) => place.PagesOffset + ((long)page.Index * ChecksumSector.PageSize);

    /// <summary>Regions of its column that a page has entries of, bit per region.</summary>
    private ushort PageRegions(ChecksumPage page) => PageRegions(page.Index);

    private ushort PageRegions(int index)
    {
        int first = (int)((long)index * _shape.PageSpan / _shape.RegionSize);
        int last = (int)(((((long)index + 1) * _shape.PageSpan) - 1) / _shape.RegionSize);
        return (ushort)(((1 << (last - first + 1)) - 1) << first);
    }

    private bool IsPageStale(ChecksumPage page, int copy) =>
        (page.Row.Stale[(page.Column * _shape.Copies) + copy] & PageRegions(page)) != 0;

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

    private async LaneTask<Nothing> MakeRoomForPages()
    {
        if (_pages.IsOverfull && await Flush() == IoError.None)
        {
            await Writeback();
        }
        else
        {
            StartWriteback();
        }

        return default;
    }

    private readonly record struct LoggedEntries(ulong Sequence, int Block, int Count, ushort Generation, uint Checksum);
}
