using System.Numerics;
using TierSpaces.Engine.Formats;
using TierSpaces.Engine.Primitives;
using TierSpaces.Engine.Resiliency.Layouts;

namespace TierSpaces.Engine.Resiliency;

// Makes the copies of a region agree after an unclean stop, and rebuilds copies.
//
// A region of which no good copy answers stays unresolved: what is on its disks is judged when they are back. A sector that cannot be read is an answer.
//
// Resync, per block: the images that the good copies hold are judged (Judgement); where they prove nothing, those of copies that miss writes too.
// Order: write the choice to all copies, flush, log its entry, flush, serve. A block that nothing proves is marked, in the same order.
//
// A block that no copy can give is not made up when a copy is rebuilt. In its place the target keeps what it has, which its entry refuses (or, if it
// matches, it is the right data). Another place gets the bytes as they are, and the block its mark before: what lay there is another owner's.

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
    private readonly FoundWrites _found = parts.Found;

    /// <summary>See <see cref="ILayoutEngine.ResyncSize"/>.</summary>
    internal int PartSize => Math.Min(ChunkMax, Math.Min(Math.Max(_shape.RegionSize / 4, BlockSize), _shape.PageSpan));

    internal async LaneTask<IoError> ResyncRegion(SpaceRow row, int region, int slabOffset, int length)
    {
        int column = region / SpaceShape.RegionsPerSlab;
        int chunk = Math.Min(ChunkMax, Math.Min(length, _shape.PageSpan));
        IoBuffer buffers = _buffers.Rent(chunk * copies.Count);
        ResyncFindings findings = new();
        IoError error = IoError.None;
        for (int at = 0; at < length && error == IoError.None; at += chunk)
        {
            error = await ResyncChunk(row, new StripPiece(row.Index, column, slabOffset + at, Math.Min(chunk, length - at)), buffers, findings);
        }

        _buffers.Return(buffers);
        if (error == IoError.None && (findings.AnyWritten || findings.Entries.Count > 0))
        {
            error = await _flusher.FlushDisks();
            error = error == IoError.None ? await _flusher.LogTaken(findings.Entries) : error;
        }

        error = findings.Zeroed.Count > 0 ? await LogZeroed(error, findings.Zeroed) : error;
        if (error == IoError.None && !_found.IsEmpty)
        {
            _found.RemoveJudged(new StripPiece(row.Index, column, slabOffset, length));
            _found.Release();
        }

        return error;
    }

    /// <summary>Copies a stretch from good copies to a place that takes its writes already.</summary>
    internal async LaneTask<IoError> Rebuild(SpaceRow row, int position, StripPiece piece, SlabPlace target)
    {
        IoBuffer buffer = _buffers.Rent(piece.Length);
        IoError error = _shape.Checksums ? await CopyVerified(row, position, piece, target, buffer) : await reads.ReadUnverified(row, piece, buffer);
        error = error == IoError.None && !_shape.Checksums ? await WriteTarget(piece, target, buffer) : error;
        _buffers.Return(buffer);
        return error;
    }

    private async LaneTask<IoError> ResyncChunk(SpaceRow row, StripPiece piece, IoBuffer buffers, ResyncFindings findings)
    {
        ChecksumPage? page = null;
        if (_shape.Checksums)
        {
            page = _integrity.Find(row, piece) ?? await _integrity.Load(row, piece);
            if (page is null)
            {
                return IoError.Io;
            }

            if (page.IsNeverWritten(_integrity.FirstBlock(piece), piece.Length / BlockSize) && !_found.HasAny(piece))
            {
                return IoError.None;
            }

            page.Pin();
        }

        IoError error = await ResyncBlocks(row, piece, page, buffers, findings);
        page?.Unpin();
        return error;
    }

    private async LaneTask<IoError> ResyncBlocks(SpaceRow row, StripPiece piece, ChecksumPage? page, IoBuffer buffers, ResyncFindings findings)
    {
        int answered = await copies.ReadAllCopies(row, piece, buffers);
        if (answered == 0 && !await copies.AnswersAny(row, piece))
        {
            return IoError.Io;
        }

        IoError error = IoError.None;
        for (int i = 0; i < piece.Length / BlockSize && error == IoError.None; i++)
        {
            StripPiece block = piece with { SlabOffset = piece.SlabOffset + (i * BlockSize), Length = BlockSize };
            error = page is null ? await MakeEqual(row, block, buffers, piece.Length, i, answered, findings)
                : await ResyncBlock(row, block, page, buffers, piece.Length, i, answered, findings);
        }

        return error;
    }

    /// <summary>Without checksums nothing proves a value: what the first copy that answers holds is taken.</summary>
    private async LaneTask<IoError> MakeEqual(
        SpaceRow row, StripPiece block, IoBuffer buffers, int stride, int index, int answered, ResyncFindings findings)
    {
        if (answered == 0)
        {
            return IoError.None;
        }

        int choice = BitOperations.TrailingZeroCount(answered);
        int wrong = copies.Differing(buffers, stride, index, answered, choice);
        findings.AnyWritten |= wrong != 0;
        parts.Space.Counters.Repair.NoteAdopted(wrong != 0 ? 1 : 0);
        return wrong == 0 ? IoError.None
            : await copies.Overwrite(row, block, wrong, buffers.Slice((choice * stride) + (index * BlockSize), BlockSize));
    }

    private async LaneTask<IoError> ResyncBlock(
        SpaceRow row, StripPiece block, ChecksumPage page, IoBuffer buffers, int stride, int index, int answered, ResyncFindings findings)
    {
        BlockEvidence evidence = EvidenceOf(row, block, page);
        if (evidence is { Generation: ChecksumSector.NeverWritten, Records: null })
        {
            return IoError.None;
        }

        Conclusion conclusion = Judgement.Of(evidence, new BlockImages(buffers, stride, index, answered));
        if (conclusion.Verdict is Verdict.Proven)
        {
            int wrong = copies.Differing(buffers, stride, index, answered, conclusion.Image);
            return await Take(row, block, page, buffers.Slice((conclusion.Image * stride) + (index * BlockSize), BlockSize), wrong, findings);
        }

        if (conclusion.Verdict is Verdict.NeverWritten)
        {
            page.Pin();   // until logged
            findings.Zeroed.Add((page, block));
            return IoError.None;
        }

        return await ResyncUnproven(row, block, page, findings);
    }

    /// <summary>Judges a block that the good copies do not prove, by all copies that are there, each read for itself.</summary>
    private async LaneTask<IoError> ResyncUnproven(SpaceRow row, StripPiece block, ChecksumPage page, ResyncFindings findings)
    {
        IoBuffer buffers = _buffers.Rent(copies.Count * BlockSize);
        (int answered, int good, bool isSilent) = await copies.ReadAllThere(row, block, buffers);
        BlockEvidence evidence = EvidenceOf(row, block, page);
        Conclusion conclusion = Judgement.OfCopies(evidence, buffers, answered, good);
        if (conclusion.Verdict is Verdict.Lost or Verdict.InDoubt)
        {
            evidence = evidence with { MayAdopt = _found.Knowledge == WriteKnowledge.None };
            conclusion = Judgement.Of(evidence, new BlockImages(buffers, BlockSize, 0, answered & good));
        }

        IoError error = IoError.None;
        if (conclusion.Image >= 0)
        {
            int wrong = good & (copies.Differing(buffers, BlockSize, 0, answered, conclusion.Image) | ~answered);
            parts.Space.Counters.Repair.NoteAdopted(conclusion.Verdict == Verdict.Adopted ? 1 : 0);
            error = await Take(row, block, page, buffers.Slice(conclusion.Image * BlockSize, BlockSize), wrong, findings);
        }
        else if (isSilent)
        {
            error = IoError.Io;   // what does not answer may have the value: the region is resynced when it does
        }
        else
        {
            Mark(row, block, page, evidence, good, findings);
        }

        _buffers.Return(buffers);
        return error;
    }

    private BlockEvidence EvidenceOf(SpaceRow row, in StripPiece block, ChecksumPage page)
    {
        int index = _integrity.FirstBlock(block);
        return new BlockEvidence(page.Generations[index], page.Checksums[index], _found.Of(block), copies.IsAway(row, block.Column), MayAdopt: false);
    }

    /// <summary>
    /// Makes the good copies equal to a value, and enters it where the entry says something else, or where the log has records of the block, which end with
    /// that.
    /// </summary>
    private async LaneTask<IoError> Take(SpaceRow row, StripPiece block, ChecksumPage page, IoBuffer value, int wrong, ResyncFindings findings)
    {
        int index = _integrity.FirstBlock(block);
        uint checksum = Crc32c.Compute(value.Span);
        bool isEntered = page.Checksums[index] == checksum && page.Generations[index] != ChecksumSector.NeverWritten
            && !ChecksumSector.IsMark(page.Generations[index]);
        if (!isEntered || _found.HasAny(block))
        {
            page.Pin();   // until logged
            findings.Entries.Add(new CapturedEntry(page, (ushort)index, 0, checksum));
            parts.Space.Counters.Repair.NoteRecovered(isEntered ? 0 : 1);
        }

        findings.AnyWritten |= wrong != 0;
        return wrong == 0 ? IoError.None : await copies.Overwrite(row, block, wrong, value);
    }

    /// <summary>Marks a block that nothing proves; its records stay as long as one of them may be proven.</summary>
    private void Mark(SpaceRow row, in StripPiece block, ChecksumPage page, in BlockEvidence evidence, int good, ResyncFindings findings)
    {
        int index = _integrity.FirstBlock(block);
        copies.NoteLost(row, block, good);
        WriteRecord? final = Judgement.Final(evidence);
        if (final is { IsLost: true })
        {
            page.Pin();   // until logged
            findings.Entries.Add(new CapturedEntry(page, (ushort)index, ChecksumSector.Poisoned, 0));
            return;
        }

        if (evidence.Records is not null)
        {
            _found.Keep(row, block);
        }

        bool isKnown = evidence.HasEntry || final is not null;
        uint checksum = Judgement.ExpectedChecksum(evidence);
        if (isKnown && (page.Generations[index] != ChecksumSector.Marked || page.Checksums[index] != checksum))
        {
            page.Pin();   // until logged
            findings.Entries.Add(new CapturedEntry(page, (ushort)index, ChecksumSector.Marked, checksum));
        }
    }

    /// <summary>Logs, durably, that blocks are never-written of which no copy is what was recorded.</summary>
    private async LaneTask<IoError> LogZeroed(IoError error, List<(ChecksumPage Page, StripPiece Block)> zeroed)
    {
        foreach ((ChecksumPage page, StripPiece block) in zeroed)
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

    private async LaneTask<IoError> CopyVerified(SpaceRow row, int position, StripPiece piece, SlabPlace target, IoBuffer buffer)
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
                : await CopyBlocks(row, position, piece, page, target, buffer);
        }

        page.Unpin();
        return error;
    }

    /// <summary>
    /// Something of the piece is damaged: block by block, healing. A block that no copy has is left as it is in its place, and goes to another one as it is: a
    /// page that comes back may still prove it. A slab whose disk is away, and that may have such a block, is not given up for another one.
    /// </summary>
    private async LaneTask<IoError> CopyBlocks(SpaceRow row, int position, StripPiece piece, ChecksumPage page, SlabPlace target, IoBuffer buffer)
    {
        IoError error = IoError.None;
        bool isInPlace = target == row.Places[position];
        for (int at = 0; at < piece.Length && error == IoError.None; at += BlockSize)
        {
            StripPiece block = piece with { SlabOffset = piece.SlabOffset + at, Length = BlockSize };
            IoBuffer part = buffer.Slice(at, BlockSize);
            if (await copies.ReadBlockHealing(row, block, page, part) == IoError.None)
            {
                error = await WriteTarget(block, target, part);
            }
            else if (!isInPlace)
            {
                SlabPlace source = row.Places[position];
                bool isThere = await _members.Read(source.Disk, source.DataOffset + block.SlabOffset, part) == IoError.None;
                if (!isThere)
                {
                    part.Span.Clear();
                }

                error = _members.IsAway(source.Disk) ? IoError.Io : await WriteTarget(block, target, part);
            }
        }

        return error == IoError.None && parts.Changes.HasMarks ? await _flusher.Flush() : error;
    }

    private async LaneTask<IoError> WriteTarget(StripPiece piece, SlabPlace target, IoBuffer buffer)
    {
        parts.Space.Counters.Repair.NoteWrite(buffer.Length);
        return await _members.WriteOrEvict(target.Disk, target.DataOffset + piece.SlabOffset, buffer, hasOtherCopy: true);
    }

    /// <summary>Conclusions of the resync of a region that are not logged yet.</summary>
    private sealed class ResyncFindings
    {
        /// <summary>Values and marks of blocks. The page of each is pinned.</summary>
        internal List<CapturedEntry> Entries { get; } = [];

        /// <summary>Blocks that are never-written. The page of each is pinned.</summary>
        internal List<(ChecksumPage Page, StripPiece Block)> Zeroed { get; } = [];

        /// <summary>Whether a copy was written.</summary>
        internal bool AnyWritten { get; set; }
    }
}
