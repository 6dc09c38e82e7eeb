using TierSpaces.Engine.Formats;
using TierSpaces.Engine.Primitives;
using TierSpaces.Engine.Resiliency.Layouts;

namespace TierSpaces.Engine.Resiliency;

public sealed partial class Space
{
    private ChecksumPage? FindPage(SpaceRow row, StripPiece piece) =>
        _pages.Find(row.Index, piece.Column, piece.SlabOffset / _shape.PageSpan) is { IsLoaded: true } page ? page : null;

    /// <summary>The page, read from its copies when it is not in memory; null when no copy answers. The caller pins it at once.</summary>
    private async LaneTask<ChecksumPage?> LoadPage(SpaceRow row, int column, int index)
    {
        while (Fault == IoError.None)
        {
            if (_pages.Find(row.Index, column, index) is { } known)
            {
                if (known.IsLoaded)
                {
                    return known;
                }

                await _pages.Loaded.Wait();
                continue;
            }

            if (_pages.IsCrowded && !_opening)
            {
                await MakeRoomForPages();
                if (_pages.Find(row.Index, column, index) is not null)
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

        _pages.Loaded.NotifyAll();
        page.Pins--;
        return read ? page : null;
    }

    /// <summary>
    /// Takes each sector from the copy where it is newest. A sector that no copy has unharmed loses its blocks: they are poisoned, unless
    /// the log knows better.
    /// </summary>
    private async LaneTask<bool> ReadPage(ChecksumPage page)
    {
        IoBuffer buffer = _lane.Buffers.Rent(ChecksumSector.PageSize);
        ulong[] newest = new ulong[ChecksumSector.PerPage];
        bool[] found = new bool[ChecksumSector.PerPage];
        bool any = false;
        for (int pass = 0; pass < 2 && !any; pass++)   // copies that are stale here only when no other is left
        {
            for (int copy = 0; copy < _shape.Copies; copy++)
            {
                SlabPlace place = page.Row.Place(page.Column, copy);
                if (_members.IsLive(place.Disk) && (pass == 1 || !IsPageStale(page, copy))
                    && await _members.Read(place.Disk, PageOffset(place, page), buffer) == IoError.None)
                {
                    any = true;
                    Merge(page, buffer.Span, newest, found);
                }
            }
        }

        _lane.Buffers.Return(buffer);
        for (int sector = 0; any && sector < found.Length; sector++)
        {
            if (!found[sector])
            {
                page.Generations.AsSpan(sector * ChecksumSector.Entries, ChecksumSector.Entries).Fill(ChecksumSector.Poisoned);
            }
        }

        return any;
    }

    private void Merge(ChecksumPage page, ReadOnlySpan<byte> bytes, ulong[] newest, bool[] found)
    {
        Span<uint> checksums = stackalloc uint[ChecksumSector.Entries];
        Span<ushort> generations = stackalloc ushort[ChecksumSector.Entries];
        ChecksumPlace place = PlaceOf(page);
        for (int sector = 0; sector < ChecksumSector.PerPage; sector++)
        {
            if (ChecksumSector.TryRead(bytes.Slice(sector * ChecksumSector.Size, ChecksumSector.Size), place, sector, out ulong sequence, checksums, generations)
                && (!found[sector] || sequence > newest[sector]))
            {
                found[sector] = true;
                newest[sector] = sequence;
                checksums.CopyTo(page.Checksums.AsSpan(sector * ChecksumSector.Entries));
                generations.CopyTo(page.Generations.AsSpan(sector * ChecksumSector.Entries));
            }
        }
    }

    private ChecksumPlace PlaceOf(ChecksumPage page) => new(_options.PoolTag, _options.Space, page.Row.Index, page.Column, page.Index);

    private static long PageOffset(SlabPlace place, ChecksumPage page) => place.PagesOffset + ((long)page.Index * ChecksumSector.PageSize);

    /// <summary>Regions of its column that a page has entries of, bit per region.</summary>
    private ushort PageRegions(ChecksumPage page)
    {
        int first = (int)((long)page.Index * _shape.PageSpan / _shape.RegionSize);
        int last = (int)(((((long)page.Index + 1) * _shape.PageSpan) - 1) / _shape.RegionSize);
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
        if (_pages.Count >= _options.CachedPagesMax + (_options.CachedPagesMax / 4) && await Flush() == IoError.None)
        {
            await Writeback();
        }
        else
        {
            StartWriteback();
        }

        return default;
    }
}
