using System.Numerics;
using TierSpaces.Engine.Formats;
using TierSpaces.Engine.Primitives;
using TierSpaces.Engine.Resiliency.Layouts;

namespace TierSpaces.Engine.Resiliency;

// Verifying a checksum page on every copy. What the disks should hold is known exactly only while no writeback runs and the page
// has nothing that they lack; then every sector of every copy is what memory has as logged. A page that is not is written anew by
// an ordinary writeback: to every copy, flushed, read back.
public sealed partial class Space
{
    private async LaneTask<Nothing> ScrubPage(StripPiece piece, ScrubFindings findings)
    {
        if (_rows[piece.Row] is not { IsInitialized: true } row)
        {
            return default;
        }

        int turn = row.Enter();
        if ((FindPage(row, piece) ?? await LoadPage(row, piece.Column, piece.SlabOffset / _shape.PageSpan)) is { } page)
        {
            page.Pins++;   // in memory until the end: while a writeback is kept out nothing may wait for one
            if (HasGoodCopies(page) && await CountWrongSectors(page, null) > 0 && Fault == IoError.None)
            {
                await RewritePage(page, findings);
            }

            page.Pins--;
        }

        row.Leave(turn);
        return default;
    }

    // 1. With writebacks kept out, the sectors are judged.
    // 2. The page is written again, as a writeback does it.
    private async LaneTask<Nothing> RewritePage(ChecksumPage page, ScrubFindings findings)
    {
        while (_writebackRunning)
        {
            await _writebackEnded.Wait();
        }

        if (Fault != IoError.None || !HasGoodCopies(page))
        {
            return default;
        }

        _writebackRunning = true;
        int wrong = await CountWrongSectors(page, findings);
        if (wrong > 0 && page.OldestUnwritten == 0 && HasGoodCopies(page))
        {
            page.OldestUnwritten = Math.Max(1, _log!.Journal.Durable);
        }

        _writebackRunning = false;
        _writebackEnded.NotifyAll();
        if (wrong > 0 && await Writeback() == IoError.None && page.OldestUnwritten == 0)
        {
            findings.MetadataHealed += wrong;
        }

        return default;
    }

    /// <summary>Sectors of the page that are damaged on some copy; with <paramref name="findings"/> each is counted.</summary>
    private async LaneTask<int> CountWrongSectors(ChecksumPage page, ScrubFindings? findings)
    {
        IoBuffer buffer = _lane.Buffers.Rent(ChecksumSector.PageSize);
        int wrong = 0;
        uint wrongOnAll = byte.MaxValue;
        for (int copy = 0; copy < _shape.Copies; copy++)
        {
            SlabPlace place = page.Row.Place(page.Column, copy);
            int disk = place.Disk;
            if (_members.IsLive(disk) && !IsPageStale(page, copy))
            {
                uint mask = await WrongSectors(page, copy, buffer);
                int count = BitOperations.PopCount(mask);
                wrongOnAll &= mask;
                wrong += count;
                NoteWrongPage(disk, findings is null ? 0 : count, place.PagesOffset + (page.Index * ChecksumSector.PageSize));
            }
        }

        if (findings is not null && wrong > 0)
        {
            findings.MetadataLost += CountPoisoned(page, wrongOnAll);
        }

        _lane.Buffers.Return(buffer);
        return wrong;
    }

    /// <summary>Bit per sector of one copy that is not as it should be; all of them when it cannot be read.</summary>
    private async LaneTask<uint> WrongSectors(ChecksumPage page, int copy, IoBuffer buffer)
    {
        SlabPlace place = page.Row.Place(page.Column, copy);
        return await _members.Read(place.Disk, PageOffset(place, page), buffer) == IoError.None ? WrongSectors(page, buffer.Span) : byte.MaxValue;
    }

    private uint WrongSectors(ChecksumPage page, ReadOnlySpan<byte> bytes)
    {
        Span<uint> checksums = stackalloc uint[ChecksumSector.Entries];
        Span<ushort> generations = stackalloc ushort[ChecksumSector.Entries];
        ChecksumPlace place = PlaceOf(page);
        bool isSettled = page.OldestUnwritten == 0;
        uint wrong = 0;
        for (int sector = 0; sector < ChecksumSector.PerPage; sector++)
        {
            int at = sector * ChecksumSector.Entries;
            bool isRight = ChecksumSector.TryRead(
                    bytes.Slice(sector * ChecksumSector.Size, ChecksumSector.Size), place, sector, out ulong _, checksums, generations)
                && (!isSettled || (generations.SequenceEqual(page.LoggedGenerations.Slice(at, ChecksumSector.Entries))
                    && checksums.SequenceEqual(page.LoggedChecksums.Slice(at, ChecksumSector.Entries))));
            wrong |= isRight ? 0 : 1u << sector;
        }

        return wrong;
    }

    /// <summary>Of the sectors that are wrong everywhere, those whose entries memory does not have either.</summary>
    private static int CountPoisoned(ChecksumPage page, uint sectors)
    {
        int count = 0;
        for (int sector = 0; sector < ChecksumSector.PerPage; sector++)
        {
            ReadOnlySpan<ushort> generations = page.Generations.Slice(sector * ChecksumSector.Entries, ChecksumSector.Entries);
            count += (sectors >> sector & 1) != 0 && !generations.ContainsAnyExcept(ChecksumSector.Poisoned) ? 1 : 0;
        }

        return count;
    }

    private void NoteWrongPage(int disk, int sectors, long offset)
    {
        if (sectors > 0)
        {
            Counters.PageSectorsWrong += sectors;
            _host.Report(disk, DiskFinding.ChecksumMismatch, sectors, offset);
        }
    }
}
