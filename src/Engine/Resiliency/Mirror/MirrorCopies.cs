using System.Numerics;
using TierSpaces.Engine.Formats;
using TierSpaces.Engine.Primitives;
using TierSpaces.Engine.Resiliency.Layouts;

namespace TierSpaces.Engine.Resiliency;

/// <summary>A piece of a column of a row, on whichever copy.</summary>
/// <param name="Row">The row.</param>
/// <param name="Piece">The piece.</param>
internal readonly record struct RowPiece(SpaceRow Row, StripPiece Piece);

/// <summary>The copies of a piece of a simple or mirrored space: which can be read, reading, writing and healing them.</summary>
internal sealed class MirrorCopies(EngineParts parts, FailedWrites failed) : ICopies<RowPiece>
{
    private const int BlockSize = SpaceShape.BlockSize;

    private readonly SpaceMembers _members = parts.Space.Members;
    private readonly SpaceIoCounters _traffic = parts.Space.Counters.Io;
    private readonly SpaceDamageCounters _damage = parts.Space.Counters.Damage;
    private readonly ISpaceHost _host = parts.Space.Host;
    private readonly SpaceShape _shape = parts.Space.Shape;
    private readonly Redundancy _redundancy = parts.Space.Redundancy;
    private readonly LostBlocks _lost = parts.Space.Lost;
    private int _turn;   // breaks ties between equally busy copies

    /// <inheritdoc/>
    public int Count => _shape.Copies;

    /// <inheritdoc/>
    public bool IsReadable(RowPiece range, int copy) => IsReadable(range.Row, range.Piece, copy);

    /// <inheritdoc/>
    public int LoadOf(RowPiece range, int copy) => _members.Load(PlaceOf(range.Row, range.Piece.Column, copy).Disk);

    /// <inheritdoc/>
    public LaneTask<IoError> ReadCopy(RowPiece range, int copy, IoBuffer target) => ReadCopy(range.Row, range.Piece, copy, target);

    /// <summary>Writes a piece of a copy. If the slab moves, the piece goes to its target too, and only the answer of the source counts.</summary>
    public LaneTask<IoError> WriteCopy(RowPiece range, int copy, IoBuffer source)
    {
        (SpaceRow row, StripPiece piece) = range;
        _traffic.NoteWrite(source.Length);
        return _members.Write(row, PositionOf(piece.Column, copy), piece.SlabOffset, source);
    }

    internal static ushort RegionBit(SpaceRow row, in StripPiece piece) =>
        (ushort)(1 << (row.RegionOf(piece.Column, piece.SlabOffset) % SpaceShape.RegionsPerSlab));

    /// <summary>Returns a block of one copy, of buffers that hold a stretch of every copy.</summary>
    internal static ReadOnlySpan<byte> BlockOf(IoBuffer buffers, int stride, int copy, int index) =>
        buffers.Span.Slice((copy * stride) + (index * BlockSize), BlockSize);

    internal int PositionOf(int column, int copy) => (column * _shape.Copies) + copy;

    internal SlabPlace PlaceOf(SpaceRow row, int column, int copy) => row.Places[PositionOf(column, copy)];

    internal bool IsReadable(SpaceRow row, in StripPiece piece, int copy) =>
        _redundancy.IsGood(row, PositionOf(piece.Column, copy), row.RegionOf(piece.Column, piece.SlabOffset));

    internal bool HasReadable(SpaceRow row, in StripPiece piece) =>
        _redundancy.IsReadable(row, piece.Column, row.RegionOf(piece.Column, piece.SlabOffset));

    /// <summary>Returns the least busy copy that may be read; ties alternate, so that one stream uses every disk. −1: none.</summary>
    internal int ChooseCopy(SpaceRow row, in StripPiece piece)
    {
        if (_shape.Copies == 1)
        {
            return IsReadable(row, piece, 0) ? 0 : -1;
        }

        _turn++;
        return CopyIo.LeastBusy(this, new RowPiece(row, piece), _turn);
    }

    internal LaneTask<IoError> ReadCopy(SpaceRow row, in StripPiece piece, int copy, IoBuffer target)
    {
        Invariant.That((uint)copy < (uint)_shape.Copies && IsReadable(row, piece, copy), "Nothing is read from a copy that is stale or whose disk is gone.");
        SlabPlace place = PlaceOf(row, piece.Column, copy);
        _traffic.NoteRead(target.Length);
        return _members.Read(place.Disk, place.DataOffset + piece.SlabOffset, target);
    }

    /// <summary>Reads every copy that may be read, one after the other in <paramref name="buffers"/>; returns those that answered, bit per copy.</summary>
    internal async LaneTask<int> ReadAllCopies(SpaceRow row, StripPiece piece, IoBuffer buffers)
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

    /// <summary>Whether any disk with a copy that may be read answers; one that does not leaves the view.</summary>
    internal async LaneTask<bool> AnswersAny(SpaceRow row, StripPiece piece)
    {
        for (int copy = 0; copy < _shape.Copies; copy++)
        {
            if (IsReadable(row, piece, copy) && await _members.Answers(PlaceOf(row, piece.Column, copy).Disk))
            {
                return true;
            }
        }

        return false;
    }

    /// <summary>Returns the copies that answered and differ from one of them in a block, bit per copy.</summary>
    internal int Differing(IoBuffer buffers, int stride, int index, int answered, int choice)
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

    /// <summary>
    /// Reads a block from every copy, whichever of them was the doubtful one, and heals what is wrong; a disk that does not answer is not
    /// waited for beside a good copy.
    /// </summary>
    internal async LaneTask<IoError> ReadBlockHealing(SpaceRow row, StripPiece block, ChecksumPage page, IoBuffer target)
    {
        int index = parts.Integrity.FirstBlock(block);
        if (page.Generations[index] == ChecksumSector.Marked)
        {
            return await Settle(row, block, page, target);
        }

        int wrong = 0;   // bit per copy that answered with something else, or not at all
        bool isFound = false;
        IoBuffer other = parts.Space.Lane.Buffers.Rent(BlockSize);
        for (int copy = 0; copy < _shape.Copies; copy++)
        {
            if (page.Generations[index] == ChecksumSector.Poisoned || !IsReadable(row, block, copy)
                || (isFound && _members.HasOverdue(PlaceOf(row, block.Column, copy).Disk)))
            {
                continue;
            }

            IoBuffer data = isFound ? other : target;
            IoError error = await ReadCopy(row, block, copy, data);
            if (error == IoError.None && page.Verify(index, data))
            {
                isFound = true;
                continue;
            }

            wrong |= 1 << copy;
            NoteWrong(row, block, copy, error);
        }

        parts.Space.Lane.Buffers.Return(other);
        if (isFound)
        {
            NoteSettled(row, block);   // what reads have returned stays, also where a failed write has arrived on another copy
            return await Heal(row, block, wrong, target);
        }

        return page.Generations[index] is ChecksumSector.Poisoned or ChecksumSector.Unknown ? NoteLost(row, block, wrong)
            : await Settle(row, block, page, target);
    }

    /// <summary>
    /// Judges a block that no good copy gives as its entry says, by all copies that are there: one that misses writes may hold the value still. A proven value
    /// is written to the good copies, durably; else the block is marked and the read is an error.
    /// </summary>
    /// <param name="row">The row.</param>
    /// <param name="block">The block.</param>
    /// <param name="page">Its page.</param>
    /// <param name="target">Memory for the block.</param>
    /// <param name="isAnswer">Whether an error is answered to a client.</param>
    internal async LaneTask<IoError> Settle(SpaceRow row, StripPiece block, ChecksumPage page, IoBuffer target, bool isAnswer = true)
    {
        int index = parts.Integrity.FirstBlock(block);
        if (!HasReadable(row, block) || page.Generations[index] is ChecksumSector.Poisoned or ChecksumSector.Unknown)
        {
            return NoteLost(row, block, 0);
        }

        IoBuffer buffers = parts.Space.Lane.Buffers.Rent(BlockSize * Count);
        (int answered, int good, bool isSilent) = await ReadAllThere(row, block, buffers);
        BlockEvidence evidence = new(
            page.Generations[index], page.Checksums[index], RecordsOf(block), IsAway(row, block.Column), MayAdopt: false);
        Conclusion conclusion = Judgement.OfCopies(evidence, buffers, answered, good);
        IoError error = conclusion.Verdict switch
        {
            Verdict.Proven => await TakeProven(row, block, page, buffers, conclusion.Image, answered, good),
            Verdict.NeverWritten => await TakeZeroed(row, block, page),
            _ when isSilent => IoError.Io,   // what does not answer may have the value
            _ => await TakeMark(row, block, page, Judgement.ExpectedChecksum(evidence), good, isAnswer),
        };
        if (error == IoError.None)
        {
            BlockOf(buffers, BlockSize, Math.Max(conclusion.Image, 0), 0).CopyTo(target.Span);
            if (conclusion.Verdict == Verdict.NeverWritten)
            {
                target.Span.Clear();
            }
        }

        parts.Space.Lane.Buffers.Return(buffers);
        return error;
    }

    /// <summary>
    /// Reads a block of a space without checksums of which a write has failed: takes what the first copy that answers holds, and makes the others equal,
    /// durably.
    /// </summary>
    internal async LaneTask<IoError> TakeFirst(SpaceRow row, StripPiece block, IoBuffer target)
    {
        IoBuffer buffers = parts.Space.Lane.Buffers.Rent(BlockSize * Count);
        int answered = await ReadAllCopies(row, block, buffers);
        IoError error = answered == 0 ? IoError.Io : IoError.None;
        if (error == IoError.None)
        {
            int choice = BitOperations.TrailingZeroCount(answered);
            BlockOf(buffers, BlockSize, choice, 0).CopyTo(target.Span);
            error = await Overwrite(row, block, Differing(buffers, BlockSize, 0, answered, choice), buffers.Slice(choice * BlockSize, BlockSize));
            error = error == IoError.None ? await parts.Flusher.FlushDisks() : error;
        }

        parts.Space.Lane.Buffers.Return(buffers);
        if (error == IoError.None)
        {
            NoteSettled(row, block);
        }

        return error;
    }

    /// <summary>
    /// Reads a block from every copy whose disk is there, stale ones included. Returns those that answered, those that are good, and whether one does not
    /// answer at all; a bad sector is an answer.
    /// </summary>
    internal async LaneTask<(int Answered, int Good, bool IsSilent)> ReadAllThere(SpaceRow row, StripPiece block, IoBuffer buffers)
    {
        int answered = 0;
        int good = 0;
        bool isSilent = false;
        for (int copy = 0; copy < _shape.Copies; copy++)
        {
            SlabPlace place = PlaceOf(row, block.Column, copy);
            _traffic.NoteRead(block.Length);
            good |= IsReadable(row, block, copy) ? 1 << copy : 0;
            if (_members.IsLive(place.Disk))
            {
                IoError error = await _members.Read(
                    place.Disk, place.DataOffset + block.SlabOffset, buffers.Slice(copy * block.Length, block.Length));
                answered |= error == IoError.None ? 1 << copy : 0;
                isSilent |= error != IoError.None && (error != IoError.Io || !await _members.Answers(place.Disk));
            }
        }

        return (answered, good, isSilent);
    }

    /// <summary>Whether a disk with a copy of a column is away.</summary>
    internal bool IsAway(SpaceRow row, int column)
    {
        bool isAway = false;
        for (int copy = 0; copy < _shape.Copies && !isAway; copy++)
        {
            isAway = _members.IsAway(PlaceOf(row, column, copy).Disk);
        }

        return isAway;
    }

    /// <summary>Returns the recorded writes of a block that are not settled, oldest first; null: none.</summary>
    private List<WriteRecord>? RecordsOf(in StripPiece block)
    {
        List<WriteRecord>? found = parts.Found.Of(block);
        List<WriteRecord>? since = failed.RecordsOf(block);
        return found is null ? since : since is null ? found : [.. found, .. since];
    }

    /// <summary>Makes the good copies of a block equal to a proven image, durably, and enters it where the entry says something else.</summary>
    private async LaneTask<IoError> TakeProven(
        SpaceRow row, StripPiece block, ChecksumPage page, IoBuffer buffers, int image, int answered, int good)
    {
        int index = parts.Integrity.FirstBlock(block);
        IoBuffer proven = buffers.Slice(image * BlockSize, BlockSize);
        int wrong = good & (Differing(buffers, BlockSize, 0, answered, image) | ~answered);
        IoError error = wrong == 0 ? IoError.None : await Overwrite(row, block, wrong, proven);
        error = error == IoError.None ? await parts.Flusher.FlushDisks() : error;
        uint checksum = Crc32c.Compute(proven.Span);
        if (error == IoError.None && (page.Generations[index] == ChecksumSector.Marked || page.Checksums[index] != checksum))
        {
            page.Pin();   // until logged
            error = await parts.Flusher.LogTaken([new CapturedEntry(page, (ushort)index, 0, checksum)]);
        }

        if (error == IoError.None)
        {
            _damage.NoteHealed(BitOperations.PopCount((uint)wrong));
            parts.Found.Remove(block);
            NoteSettled(row, block);
            _lost.Remove(block);
        }

        return error;
    }

    private async LaneTask<IoError> TakeZeroed(SpaceRow row, StripPiece block, ChecksumPage page)
    {
        page.Pin();
        IoError error = await parts.Log.Room(1);
        if (error == IoError.None)
        {
            int index = parts.Integrity.FirstBlock(block);
            page.Reset(index);
            parts.Log.AppendZeroed(page, index, 1, _shape.PageSpan / BlockSize);
            error = await parts.Log.CommitAll();
        }

        if (error == IoError.None)
        {
            parts.Found.Remove(block);
            NoteSettled(row, block);
            _lost.Remove(block);
        }

        page.Unpin();
        return error;
    }

    /// <summary>
    /// Marks a block that nothing proves. The mark is durable before the error is answered: a process that does not know it, and a stop of the machine after
    /// that, could lead to another verdict.
    /// </summary>
    private async LaneTask<IoError> TakeMark(SpaceRow row, StripPiece block, ChecksumPage page, uint checksum, int good, bool isAnswer)
    {
        int index = parts.Integrity.FirstBlock(block);
        NoteLost(row, block, good);
        if (page.Generations[index] != ChecksumSector.Marked || page.Checksums[index] != checksum)
        {
            page.Mark(index, checksum);
            parts.Changes.NoteMark(page);
        }

        if (isAnswer && parts.Changes.HasMarks)
        {
            await parts.Flusher.Flush();
        }

        return IoError.Io;
    }

    /// <summary>The copies that are there agree about a block: one of which a write failed is not listed any more, and the other copies lack it.</summary>
    private void NoteSettled(SpaceRow row, in StripPiece block)
    {
        if (failed.Contains(block))
        {
            failed.Settle(block);
            parts.Stale.Lacks.NoteSettled(row, block);
        }
    }

    /// <summary>Whether a write of a block failed on every good copy, and it is not settled.</summary>
    internal bool IsFailed(in StripPiece block) => failed.Contains(block);

    /// <summary>Counts and reports a copy of a block that is not what its entry says.</summary>
    internal void NoteWrong(SpaceRow row, in StripPiece block, int copy, IoError error)
    {
        if (error == IoError.None && !_lost.Contains(block) && !failed.Contains(block))
        {
            SlabPlace place = PlaceOf(row, block.Column, copy);
            _damage.NoteMismatch();
            _host.Report(place.Disk, DiskFinding.ChecksumMismatch, 1, place.DataOffset + block.SlabOffset);
        }
    }

    /// <summary>Counts, lists and reports a block that no copy could give.</summary>
    internal IoError NoteLost(SpaceRow row, in StripPiece block, int copies)
    {
        if (_lost.Contains(block))
        {
            return IoError.Io;
        }

        _damage.NoteLost();
        _lost.Add(block);
        for (int copy = 0; copy < _shape.Copies; copy++)
        {
            if ((copies >> copy & 1) != 0)
            {
                SlabPlace place = PlaceOf(row, block.Column, copy);
                _host.Report(place.Disk, DiskFinding.Lost, 1, place.DataOffset + block.SlabOffset);
            }
        }

        return IoError.Io;
    }

    /// <summary>Writes a block that matches its entry over copies that do not.</summary>
    internal async LaneTask<IoError> Heal(SpaceRow row, StripPiece block, int copies, IoBuffer good)
    {
        _lost.Remove(block);
        for (int copy = 0; copy < _shape.Copies; copy++)
        {
            SlabPlace place = PlaceOf(row, block.Column, copy);
            if ((copies >> copy & 1) != 0
                && await _members.WriteOrEvict(place.Disk, place.DataOffset + block.SlabOffset, good, hasOtherCopy: true) == IoError.None)
            {
                _damage.NoteHealed();
                _host.Report(place.Disk, DiskFinding.Healed, 1, place.DataOffset + block.SlabOffset);
            }
        }

        return IoError.None;
    }

    /// <summary>Writes a block over copies; one that does not take it is durably stale before this completes.</summary>
    internal async LaneTask<IoError> Overwrite(SpaceRow row, StripPiece block, int copies, IoBuffer good)
    {
        for (int copy = 0; copy < _shape.Copies; copy++)
        {
            SlabPlace place = PlaceOf(row, block.Column, copy);
            if ((copies >> copy & 1) == 0)
            {
                continue;
            }

            IoError error = await _members.WriteOrEvict(place.Disk, place.DataOffset + block.SlabOffset, good, hasOtherCopy: true);
            parts.Stale.Lacks.NoteWritten(row, block.Column, block.SlabOffset, block.Length);
            if (error != IoError.None)
            {
                error = await parts.Stale.MarkStale(
                    row, PositionOf(block.Column, copy), RegionBit(row, block), new Lack(block.SlabOffset, block.Length));
            }

            if (error != IoError.None)
            {
                return error;
            }
        }

        return IoError.None;
    }
}
