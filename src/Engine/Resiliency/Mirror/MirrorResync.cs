using TierSpaces.Engine.Formats;
using TierSpaces.Engine.Primitives;
using TierSpaces.Engine.Resiliency.Layouts;

namespace TierSpaces.Engine.Resiliency;

// Makes the copies of a region agree after an unclean stop, and rebuilds copies.
//
// A region of which no good copy answers stays unresolved: what is on its disks is judged when they are back. A sector that cannot be read is an answer.
//
// Resync, per block: a copy that matches its entry wins; when none does, the first copy that answers is taken as an unflushed write.
// A block without an entry was never written, unless a copy is what a first write of a process that died recorded: that copy is the choice then, and the
// block is never-written for good when no copy is.
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
    private readonly FoundFirstWrites _found = parts.Found;

    /// <summary>See <see cref="ILayoutEngine.ResyncSize"/>.</summary>
    internal int PartSize => Math.Min(ChunkMax, Math.Min(Math.Max(_shape.RegionSize / 4, BlockSize), _shape.PageSpan));

    internal async LaneTask<IoError> ResyncRegion(SpaceRow row, int region, int slabOffset, int length)
    {
        int column = region / SpaceShape.RegionsPerSlab;
        int chunk = Math.Min(ChunkMax, Math.Min(length, _shape.PageSpan));
        IoBuffer buffers = _buffers.Rent(chunk * copies.Count);
        List<CapturedEntry> taken = [];
        List<(ChecksumPage Page, StripPiece Block)> refused = [];
        bool anyWritten = false;
        IoError error = IoError.None;
        for (int at = 0; at < length && error == IoError.None; at += chunk)
        {
            StripPiece piece = new(row.Index, column, slabOffset + at, Math.Min(chunk, length - at));
            (error, bool written) = await ResyncChunk(row, piece, buffers, taken, refused);
            anyWritten |= written;
        }

        _buffers.Return(buffers);
        if (error == IoError.None && (anyWritten || taken.Count > 0))
        {
            error = await _flusher.FlushDisks();
            error = error == IoError.None ? await _flusher.LogTaken(taken) : error;
        }

        error = refused.Count > 0 ? await LogRefused(error, refused) : error;
        if (error == IoError.None && !_found.IsEmpty)
        {
            _found.Remove(new StripPiece(row.Index, column, slabOffset, length));
            _found.Release();
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

    /// <summary>Returns the copy that the first-write records of a block prove, the newest write first; −1: none, or the block has none.</summary>
    private int ChooseRecorded(in StripPiece block, IoBuffer buffers, int stride, int index, int answered)
    {
        if (_found.Of(block) is not { } records)
        {
            return -1;
        }

        for (int i = records.Count - 1; i >= 0; i--)
        {
            for (int copy = 0; copy < copies.Count; copy++)
            {
                if ((answered >> copy & 1) != 0 && Crc32c.Compute(MirrorCopies.BlockOf(buffers, stride, copy, index)) == records[i].Checksum)
                {
                    return copy;
                }
            }
        }

        for (int copy = 0; copy < copies.Count; copy++)
        {
            if ((answered >> copy & 1) != 0 && FirstWriteRecord.Explain(records, MirrorCopies.BlockOf(buffers, stride, copy, index)))
            {
                return copy;   // a write replaced a part of an earlier one
            }
        }

        return -1;   // the disks lost what they had not flushed
    }

    private async LaneTask<(IoError Error, bool Written)> ResyncChunk(
        SpaceRow row, StripPiece piece, IoBuffer buffers, List<CapturedEntry> taken,
        List<(ChecksumPage Page, StripPiece Block)> refused)
    {
        ChecksumPage? page = null;
        if (_shape.Checksums)
        {
            page = _integrity.Find(row, piece) ?? await _integrity.Load(row, piece);
            if (page is null)
            {
                return (IoError.Io, false);
            }

            if (page.IsNeverWritten(_integrity.FirstBlock(piece), piece.Length / BlockSize) && !_found.HasAny(piece))
            {
                return (IoError.None, false);
            }

            page.Pin();
        }

        (IoError error, bool written) = await ResyncBlocks(row, piece, page, buffers, taken, refused);
        if (page is not null)
        {
            page.Unpin();
        }

        return (error, written);
    }

    private async LaneTask<(IoError Error, bool Written)> ResyncBlocks(
        SpaceRow row, StripPiece piece, ChecksumPage? page, IoBuffer buffers, List<CapturedEntry> taken,
        List<(ChecksumPage Page, StripPiece Block)> refused)
    {
        int answered = await copies.ReadAllCopies(row, piece, buffers);
        bool written = false;
        IoError error = answered == 0 && !await copies.AnswersAny(row, piece) ? IoError.Io : IoError.None;
        if (answered == 0 && error == IoError.None && piece.Length > BlockSize)
        {
            for (int at = 0; at < piece.Length && error == IoError.None; at += BlockSize)   // a place that cannot be read: the others are judged
            {
                StripPiece block = piece with { SlabOffset = piece.SlabOffset + at, Length = BlockSize };
                (error, bool one) = await ResyncBlocks(row, block, page, buffers, taken, refused);
                written |= one;
            }

            return (error, written);
        }

        for (int i = 0; i < piece.Length / BlockSize && error == IoError.None; i++)
        {
            StripPiece block = piece with { SlabOffset = piece.SlabOffset + (i * BlockSize), Length = BlockSize };
            (int choice, int wrong) = Judge(page, block, buffers, piece.Length, i, answered, taken, refused);
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
        ChecksumPage? page, StripPiece block, IoBuffer buffers, int stride, int index, int answered, List<CapturedEntry> taken,
        List<(ChecksumPage Page, StripPiece Block)> refused)
    {
        int choice = -1;
        int first = -1;
        int entry = _integrity.FirstBlock(block);
        if (page?.Generations[entry] is ChecksumSector.NeverWritten or ChecksumSector.Poisoned)
        {
            choice = ChooseRecorded(block, buffers, stride, index, answered);
            if (choice >= 0)
            {
                Take(page, entry, BlockOf(choice), taken);
                parts.Space.Counters.Repair.NoteRecovered(1);
            }
            else if (page.Generations[entry] == ChecksumSector.NeverWritten && _found.HasAny(block))
            {
                page.Pin();   // until logged
                refused.Add((page, block));
            }

            return (choice, choice < 0 ? 0 : copies.Differing(buffers, stride, index, answered, choice));
        }

        for (int copy = copies.Count - 1; copy >= 0; copy--)
        {
            if ((answered >> copy & 1) != 0)
            {
                first = copy;
                choice = page is not null && Crc32c.Compute(BlockOf(copy)) == page.Checksums[entry] ? copy : choice;
            }
        }

        if (choice < 0 && first >= 0)
        {
            choice = first;
            if (page is not null)
            {
                Take(page, entry, BlockOf(choice), taken);
            }
        }

        return (choice, choice < 0 ? 0 : copies.Differing(buffers, stride, index, answered, choice));

        ReadOnlySpan<byte> BlockOf(int copy) => MirrorCopies.BlockOf(buffers, stride, copy, index);
    }

    private static void Take(ChecksumPage page, int entry, ReadOnlySpan<byte> data, List<CapturedEntry> taken)
    {
        page.Pin();   // until logged
        taken.Add(new CapturedEntry(page, (ushort)entry, 0, Crc32c.Compute(data)));
    }

    /// <summary>Logs, durably, that blocks are never-written of which no copy is what their first writes recorded.</summary>
    private async LaneTask<IoError> LogRefused(IoError error, List<(ChecksumPage Page, StripPiece Block)> refused)
    {
        foreach ((ChecksumPage page, StripPiece block) in refused)
        {
            error = error == IoError.None ? await parts.Log.Room(1) : error;
            if (error == IoError.None)
            {
                int entry = _integrity.FirstBlock(block);
                page.Reset(entry);
                parts.Log.AppendZeroed(page, entry, 1, _shape.PageSpan / BlockSize);
                _found.Remove(block);
            }

            page.Unpin();
        }

        return error == IoError.None ? await parts.Log.CommitAll() : error;
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
