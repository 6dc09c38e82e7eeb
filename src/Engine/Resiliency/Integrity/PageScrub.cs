using System.Numerics;
using TierSpaces.Engine.Formats;
using TierSpaces.Engine.Primitives;
using TierSpaces.Engine.Resiliency.Layouts;

namespace TierSpaces.Engine.Resiliency;

// Verifies checksum pages on every copy. The right content of the disks is known exactly only while no writeback runs and the page has nothing that they
// lack; then every sector of every copy is what memory has as logged. A page that is not is written again by an ordinary writeback: to every copy,
// flushed, read back.

/// <summary>Verifies and rewrites the checksum pages of a space.</summary>
internal sealed class PageScrub(SpaceContext space, SpaceLog log, IntegrityStore integrity, PageWriteback writeback)
{
    private readonly ILayout _layout = space.Layout;
    private readonly SpaceStatus _status = space.Status;
    private readonly BufferPool _buffers = space.Lane.Buffers;

    /// <summary>Verifies a page of a column.</summary>
    internal async LaneTask<Nothing> Verify(int index, int column, int page, ScrubFindings findings)
    {
        if (space.Rows[index] is not { IsInitialized: true } row)
        {
            return default;
        }

        int generation = row.Enter();
        if (await integrity.Load(row, column, page) is { } found)
        {
            found.Pin();   // in memory until the end: while a writeback is kept out nothing may wait for one
            if (writeback.HasGoodCopies(found) && await CountWrongSectors(found, null) > 0 && _status.Fault == IoError.None)
            {
                await RewritePage(found, findings);
            }

            found.Unpin();
        }

        row.Leave(generation);
        return default;
    }

    /// <summary>Of the sectors that are wrong everywhere, counts those whose entries memory does not have either.</summary>
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

    // 1. With writebacks kept out, the sectors are judged. 2. The page is written again, as a writeback does it.
    private async LaneTask<Nothing> RewritePage(ChecksumPage page, ScrubFindings findings)
    {
        await writeback.HoldWriteback();
        int wrong = _status.Fault == IoError.None && writeback.HasGoodCopies(page) ? await CountWrongSectors(page, findings) : 0;
        if (wrong > 0 && page.OldestUnwritten == 0 && writeback.HasGoodCopies(page))
        {
            page.RequireWriteback(log.Journal.Durable);
        }

        writeback.ReleaseWriteback();
        if (wrong > 0 && await writeback.Writeback() == IoError.None && page.OldestUnwritten == 0)
        {
            findings.NoteMetadataHealed(wrong);
        }

        return default;
    }

    /// <summary>Counts the sectors of a page that are damaged on some copy; with <paramref name="findings"/> each is reported.</summary>
    private async LaneTask<int> CountWrongSectors(ChecksumPage page, ScrubFindings? findings)
    {
        IoBuffer buffer = _buffers.Rent(ChecksumSector.PageSize);
        int wrong = 0;
        uint wrongOnAll = byte.MaxValue;
        for (int copy = 0; copy < _layout.PageCopies; copy++)
        {
            PagePlace place = _layout.PageAt(page.Column, page.Index, copy);
            SlabPlace slab = page.Row.Places[place.Position];
            if (space.Members.IsLive(slab.Disk) && (page.Row.Stale[place.Position] & integrity.PageRegions(page.Index)) == 0)
            {
                uint mask = await WrongSectors(page, slab.Disk, slab.OffsetOf(place), buffer);
                int count = BitOperations.PopCount(mask);
                wrongOnAll &= mask;
                wrong += count;
                Report(slab.Disk, findings is null ? 0 : count, slab.OffsetOf(place));
            }
        }

        if (findings is not null && wrong > 0)
        {
            findings.NoteMetadataLost(CountPoisoned(page, wrongOnAll));
        }

        _buffers.Return(buffer);
        return wrong;
    }

    /// <summary>Returns a bit per sector of one copy that is not as it should be; all of them when it cannot be read.</summary>
    private async LaneTask<uint> WrongSectors(ChecksumPage page, int disk, long offset, IoBuffer buffer)
    {
        space.Counters.Io.NoteMetadataRead(buffer.Length);
        return await space.Members.Read(disk, offset, buffer) == IoError.None ? WrongSectors(page, buffer.Span) : byte.MaxValue;
    }

    private uint WrongSectors(ChecksumPage page, ReadOnlySpan<byte> bytes)
    {
        Span<uint> checksums = stackalloc uint[ChecksumSector.Entries];
        Span<ushort> generations = stackalloc ushort[ChecksumSector.Entries];
        ChecksumPlace place = integrity.PlaceOf(page);
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

    private void Report(int disk, int sectors, long offset)
    {
        if (sectors > 0)
        {
            space.Counters.Damage.NoteWrongSectors(sectors);
            space.Host.Report(disk, DiskFinding.ChecksumMismatch, sectors, offset);
        }
    }
}
