using TierSpaces.Engine.Formats;
using TierSpaces.Engine.Primitives;
using TierSpaces.Engine.Resiliency.Layouts;

namespace TierSpaces.Engine.Resiliency;

public sealed partial class Space
{
    private const int ResyncChunk = 256 << 10;

    /// <summary>Makes a region that was dirty at an unclean stop agree on all copies; everyone who needs it waits here.</summary>
    private async LaneTask<IoError> Resolve(SpaceRow row, int region)
    {
        while (row.Regions[region].State >= RegionState.Unresolved)
        {
            if (Fault != IoError.None)
            {
                return Fault;
            }

            if (row.Regions[region].State == RegionState.Resolving)
            {
                await _regionsChanged.Wait();
                continue;
            }

            row.Regions[region].State = RegionState.Resolving;
            IoError error = await ResolveRegion(row, region);
            row.Regions[region].State = error == IoError.None ? RegionState.Dirty : RegionState.Unresolved;
            _regionsChanged.NotifyAll();
            if (error != IoError.None)
            {
                return error;
            }

            UnresolvedRegions--;
            DirtyRegions++;
            Counters.RegionsResynced++;
            Touch(row, region);
        }

        return IoError.None;
    }

    private void Touch(SpaceRow row, int region)
    {
        row.Regions[region].ActiveRound = _nextRound;
        row.Regions[region].ActiveNs = _lane.NowNs;
    }

    // Per block: a copy that matches its entry wins; when none does, the first copy that answers is taken as an unflushed
    // write. Order: write the choice to all copies, flush, log its entry, flush, serve.
    private async LaneTask<IoError> ResolveRegion(SpaceRow row, int region)
    {
        int column = region / SpaceShape.RegionsPerSlab;
        int start = region % SpaceShape.RegionsPerSlab * _shape.RegionSize;
        int chunk = Math.Min(ResyncChunk, Math.Min(_shape.RegionSize, _shape.PageSpan));
        IoBuffer buffers = _lane.Buffers.Rent(chunk * _shape.Copies);
        List<CapturedEntry> taken = [];
        bool anyWritten = false;
        IoError error = IoError.None;
        for (int at = 0; at < _shape.RegionSize && error == IoError.None; at += chunk)
        {
            StripPiece piece = new(row.Index, column, start + at, chunk);
            (error, bool written) = await ResolveChunk(row, piece, buffers, taken);
            anyWritten |= written;
        }

        _lane.Buffers.Return(buffers);
        if (error == IoError.None && (anyWritten || taken.Count > 0))
        {
            error = await FlushDisks();
            error = error == IoError.None ? await LogTaken(taken) : error;
        }

        return error;
    }

    private async LaneTask<IoError> LogTaken(List<CapturedEntry> taken)
    {
        foreach (CapturedEntry entry in taken)
        {
            entry.Page.Set(entry.Block, entry.Checksum);
            NoteChanged(entry.Page, 1);
            entry.Page.Pins--;
        }

        return taken.Count > 0 ? await Flush() : IoError.None;
    }

    private async LaneTask<(IoError Error, bool Written)> ResolveChunk(SpaceRow row, StripPiece piece, IoBuffer buffers, List<CapturedEntry> taken)
    {
        ChecksumPage? page = null;
        if (_shape.Checksums)
        {
            page = FindPage(row, piece) ?? await LoadPage(row, piece.Column, piece.SlabOffset / _shape.PageSpan);
            if (page is null)
            {
                return (IoError.Io, false);
            }

            if (AllNeverWritten(page, FirstBlock(piece), piece.Length / BlockSize))
            {
                return (IoError.None, false);
            }

            page.Pins++;
        }

        int answered = await ReadAllCopies(row, piece, buffers);
        bool written = false;
        IoError error = IoError.None;
        for (int i = 0; i < piece.Length / BlockSize && error == IoError.None; i++)
        {
            StripPiece block = piece with { SlabOffset = piece.SlabOffset + (i * BlockSize), Length = BlockSize };
            (int choice, int wrong) = Judge(page, block, buffers, piece.Length, i, answered, taken);
            if (choice >= 0 && wrong != 0)
            {
                written = true;
                error = await Overwrite(row, block, wrong, buffers.Slice((choice * piece.Length) + (i * BlockSize), BlockSize));
            }
        }

        if (page is not null)
        {
            page.Pins--;
        }

        return (error, written);
    }

    private async LaneTask<int> ReadAllCopies(SpaceRow row, StripPiece piece, IoBuffer buffers)
    {
        int answered = 0;
        for (int copy = 0; copy < _shape.Copies; copy++)
        {
            if (IsReadable(row, piece, copy) && await ReadCopy(row, piece, copy, buffers.Slice(copy * piece.Length, piece.Length)) == IoError.None)
            {
                answered |= 1 << copy;
            }
        }

        return answered;
    }

    /// <summary>Which copy of a block holds, and which of the others that answered differ from it. −1: nothing to decide.</summary>
    private (int Choice, int Wrong) Judge(
        ChecksumPage? page, StripPiece block, IoBuffer buffers, int stride, int index, int answered, List<CapturedEntry> taken)
    {
        int choice = -1;
        int first = -1;
        int entry = FirstBlock(block);
        if (page?.Generations[entry] is ChecksumSector.NeverWritten or ChecksumSector.Poisoned)
        {
            return (-1, 0);
        }

        for (int copy = _shape.Copies - 1; copy >= 0; copy--)
        {
            if ((answered >> copy & 1) != 0)
            {
                first = copy;
                choice = page is not null && Crc32c.Compute(BlockOf(buffers, stride, copy, index)) == page.Checksums[entry] ? copy : choice;
            }
        }

        if (choice < 0 && first >= 0)
        {
            choice = first;
            if (page is not null)
            {
                page.Pins++;
                taken.Add(new CapturedEntry(page, (ushort)entry, 0, Crc32c.Compute(BlockOf(buffers, stride, choice, index))));
            }
        }

        return (choice, choice < 0 ? 0 : Differing(buffers, stride, index, answered, choice));
    }

    private int Differing(IoBuffer buffers, int stride, int index, int answered, int choice)
    {
        int wrong = 0;
        for (int copy = 0; copy < _shape.Copies; copy++)
        {
            bool differs = (answered >> copy & 1) != 0
                && !BlockOf(buffers, stride, copy, index).SequenceEqual(BlockOf(buffers, stride, choice, index));
            wrong |= differs ? 1 << copy : 0;
        }

        return wrong;
    }

    private static ReadOnlySpan<byte> BlockOf(IoBuffer buffers, int stride, int copy, int index) =>
        buffers.Span.Slice((copy * stride) + (index * BlockSize), BlockSize);

    private async LaneTask<IoError> Overwrite(SpaceRow row, StripPiece block, int copies, IoBuffer good)
    {
        for (int copy = 0; copy < _shape.Copies; copy++)
        {
            SlabPlace place = row.Place(block.Column, copy);
            if ((copies >> copy & 1) == 0)
            {
                continue;
            }

            IoError error = await WriteMember(place.Disk, place.DataOffset + block.SlabOffset, good, hasOtherCopy: true);
            if (error != IoError.None)
            {
                error = await MarkStale(row, (block.Column * _shape.Copies) + copy, RegionBit(row, block));
            }

            if (error != IoError.None)
            {
                return error;
            }
        }

        return IoError.None;
    }
}
