using TierSpaces.Engine.Formats;
using TierSpaces.Engine.Primitives;
using TierSpaces.Engine.Resiliency.Layouts;

namespace TierSpaces.Engine.Resiliency;

// Makes the copies of a region agree after an unclean stop, and rebuilds copies.
//
// A region of which no good copy answers stays unresolved: what is on its disks is judged when they are back. A sector that cannot be read is an answer.
//
// Resync, per block: a copy that matches its entry wins; when none does, the first copy that answers is taken as an unflushed write.
// Order: write the choice to all copies, flush, log its entry, flush, serve.
//
// A block that no good copy can give is not made up when a copy is rebuilt: it keeps what the target has, which its entry refuses (or, if it
// matches, it is the right data).

/// <summary>Resyncs and rebuilds copies of a simple or mirrored space.</summary>
internal sealed class MirrorResync(EngineParts parts, MirrorCopies copies, MirrorReads reads)
{
    private const int ChunkMax = 256 << 10;

    private const int BlockSize = SpaceShape.BlockSize;

    private readonly SpaceMembers _members = parts.Space.Members;
    private readonly SpaceShape _shape = parts.Space.Shape;
    private readonly BufferPool _buffers = parts.Space.Lane.Buffers;
    private readonly IntegrityStore _integrity = parts.Integrity;
    private readonly SpaceFlusher _flusher = parts.Flusher;

    internal async LaneTask<IoError> ResyncRegion(SpaceRow row, int region)
    {
        int column = region / SpaceShape.RegionsPerSlab;
        int start = region % SpaceShape.RegionsPerSlab * _shape.RegionSize;
        int chunk = Math.Min(ChunkMax, Math.Min(_shape.RegionSize, _shape.PageSpan));
        IoBuffer buffers = _buffers.Rent(chunk * copies.Count);
        List<CapturedEntry> taken = [];
        bool anyWritten = false;
        IoError error = IoError.None;
        for (int at = 0; at < _shape.RegionSize && error == IoError.None; at += chunk)
        {
            StripPiece piece = new(row.Index, column, start + at, chunk);
            (error, bool written) = await ResyncChunk(row, piece, buffers, taken);
            anyWritten |= written;
        }

        _buffers.Return(buffers);
        if (error == IoError.None && (anyWritten || taken.Count > 0))
        {
            error = await _flusher.FlushDisks();
            error = error == IoError.None ? await _flusher.LogTaken(taken) : error;
        }

        return error;
    }

    /// <summary>Copies a stretch from good copies to a place that takes its writes already.</summary>
    internal async LaneTask<IoError> Rebuild(SpaceRow row, StripPiece piece, SlabPlace target)
    {
        IoBuffer buffer = _buffers.Rent(piece.Length);
        IoError error = _shape.Checksums ? await CopyVerified(row, piece, target, buffer) : await reads.ReadUnverified(row, piece, buffer);
        error = error == IoError.None && !_shape.Checksums ? await WriteTarget(piece, target, buffer) : error;
        _buffers.Return(buffer);
        return error;
    }

    /// <summary>See <see cref="ILayoutEngine.Recover"/>.</summary>
    internal async LaneTask<IoError> Recover(SpaceRow row, StripPiece block, ChecksumPage page, List<FirstWriteRecord> journal, List<CapturedEntry> kept)
    {
        page.Pin();   // until logged
        IoBuffer buffers = _buffers.Rent(BlockSize * copies.Count);
        int answered = await copies.ReadAllCopies(row, block, buffers);
        int choice = ChooseRecorded(journal, buffers, answered);
        IoError error = IoError.None;
        if (choice < 0)
        {
            page.Unpin();
        }
        else
        {
            kept.Add(new CapturedEntry(page, (ushort)_integrity.FirstBlock(block), 0, Crc32c.Compute(MirrorCopies.BlockOf(buffers, BlockSize, choice, 0))));
            int wrong = copies.Differing(buffers, BlockSize, 0, answered, choice);
            error = await copies.Overwrite(row, block, wrong, buffers.Slice(choice * BlockSize, BlockSize));
        }

        _buffers.Return(buffers);
        return error;
    }

    /// <summary>Returns the copy that the first-write records prove, the newest write first; −1: none.</summary>
    private int ChooseRecorded(List<FirstWriteRecord> journal, IoBuffer buffers, int answered)
    {
        for (int i = journal.Count - 1; i >= 0; i--)
        {
            for (int copy = 0; copy < copies.Count; copy++)
            {
                if ((answered >> copy & 1) != 0 && Crc32c.Compute(MirrorCopies.BlockOf(buffers, BlockSize, copy, 0)) == journal[i].Checksum)
                {
                    return copy;
                }
            }
        }

        for (int copy = 0; copy < copies.Count; copy++)
        {
            if ((answered >> copy & 1) != 0 && FirstWriteRecord.Explain(journal, MirrorCopies.BlockOf(buffers, BlockSize, copy, 0)))
            {
                return copy;   // a write replaced a part of an earlier one
            }
        }

        return -1;   // the disks lost what they had not flushed
    }

    private async LaneTask<(IoError Error, bool Written)> ResyncChunk(SpaceRow row, StripPiece piece, IoBuffer buffers, List<CapturedEntry> taken)
    {
        ChecksumPage? page = null;
        if (_shape.Checksums)
        {
            page = _integrity.Find(row, piece) ?? await _integrity.Load(row, piece);
            if (page is null)
            {
                return (IoError.Io, false);
            }

            if (page.IsNeverWritten(_integrity.FirstBlock(piece), piece.Length / BlockSize))
            {
                return (IoError.None, false);
            }

            page.Pin();
        }

        (IoError error, bool written) = await ResyncBlocks(row, piece, page, buffers, taken);
        if (page is not null)
        {
            page.Unpin();
        }

        return (error, written);
    }

    private async LaneTask<(IoError Error, bool Written)> ResyncBlocks(
        SpaceRow row, StripPiece piece, ChecksumPage? page, IoBuffer buffers, List<CapturedEntry> taken)
    {
        int answered = await copies.ReadAllCopies(row, piece, buffers);
        bool written = false;
        IoError error = answered == 0 && !await copies.AnswersAny(row, piece) ? IoError.Io : IoError.None;
        if (answered == 0 && error == IoError.None && piece.Length > BlockSize)
        {
            for (int at = 0; at < piece.Length && error == IoError.None; at += BlockSize)   // a place that cannot be read: the others are judged
            {
                StripPiece block = piece with { SlabOffset = piece.SlabOffset + at, Length = BlockSize };
                (error, bool one) = await ResyncBlocks(row, block, page, buffers, taken);
                written |= one;
            }

            return (error, written);
        }

        for (int i = 0; i < piece.Length / BlockSize && error == IoError.None; i++)
        {
            StripPiece block = piece with { SlabOffset = piece.SlabOffset + (i * BlockSize), Length = BlockSize };
            (int choice, int wrong) = Judge(page, block, buffers, piece.Length, i, answered, taken);
            if (choice >= 0 && wrong != 0)
            {
                written = true;
                error = await copies.Overwrite(row, block, wrong, buffers.Slice((choice * piece.Length) + (i * BlockSize), BlockSize));
            }
        }

        return (error, written);
    }

    /// <summary>Returns the copy of a block that holds, and those that answered and differ from it. −1: nothing to decide.</summary>
    private (int Choice, int Wrong) Judge(
        ChecksumPage? page, StripPiece block, IoBuffer buffers, int stride, int index, int answered, List<CapturedEntry> taken)
    {
        int choice = -1;
        int first = -1;
        int entry = _integrity.FirstBlock(block);
        if (page?.Generations[entry] is ChecksumSector.NeverWritten or ChecksumSector.Poisoned)
        {
            return (-1, 0);
        }

        for (int copy = copies.Count - 1; copy >= 0; copy--)
        {
            if ((answered >> copy & 1) != 0)
            {
                first = copy;
                choice = page is not null && Crc32c.Compute(MirrorCopies.BlockOf(buffers, stride, copy, index)) == page.Checksums[entry] ? copy : choice;
            }
        }

        if (choice < 0 && first >= 0)
        {
            choice = first;
            if (page is not null)
            {
                page.Pin();
                taken.Add(new CapturedEntry(page, (ushort)entry, 0, Crc32c.Compute(MirrorCopies.BlockOf(buffers, stride, choice, index))));
            }
        }

        return (choice, choice < 0 ? 0 : copies.Differing(buffers, stride, index, answered, choice));
    }

    private async LaneTask<IoError> CopyVerified(SpaceRow row, StripPiece piece, SlabPlace target, IoBuffer buffer)
    {
        ChecksumPage? page = _integrity.Find(row, piece) ?? await _integrity.Load(row, piece);
        if (page is null || !copies.HasReadable(row, piece))
        {
            return IoError.Io;
        }

        page.Pin();
        int first = _integrity.FirstBlock(piece);
        IoError error = IoError.None;
        if (!page.IsNeverWritten(first, piece.Length / BlockSize))
        {
            error = await copies.ReadCopy(row, piece, copies.ChooseCopy(row, piece), buffer);
            error = error == IoError.None && page.Verify(first, buffer)
                ? await WriteTarget(piece, target, buffer)
                : await CopyBlocks(row, piece, page, target, buffer);
        }

        page.Unpin();
        return error;
    }

    /// <summary>Something of the piece is damaged: block by block, healing; a block that no copy has is left as it is.</summary>
    private async LaneTask<IoError> CopyBlocks(SpaceRow row, StripPiece piece, ChecksumPage page, SlabPlace target, IoBuffer buffer)
    {
        IoError error = IoError.None;
        for (int at = 0; at < piece.Length && error == IoError.None; at += BlockSize)
        {
            StripPiece block = piece with { SlabOffset = piece.SlabOffset + at, Length = BlockSize };
            IoBuffer part = buffer.Slice(at, BlockSize);
            if (await copies.ReadBlockHealing(row, block, page, part) == IoError.None)
            {
                error = await WriteTarget(block, target, part);
            }
        }

        return error;
    }

    private async LaneTask<IoError> WriteTarget(StripPiece piece, SlabPlace target, IoBuffer buffer)
    {
        parts.Space.Counters.Repair.NoteWrite(buffer.Length);
        return await _members.WriteOrEvict(target.Disk, target.DataOffset + piece.SlabOffset, buffer, hasOtherCopy: true);
    }
}
