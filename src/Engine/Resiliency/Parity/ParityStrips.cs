using System.Buffers;
using TierSpaces.Engine.Formats;
using TierSpaces.Engine.Primitives;
using TierSpaces.Engine.Resiliency.Layouts;

namespace TierSpaces.Engine.Resiliency;

// Reading, rebuilding and writing the strips of parity lines.
//
// Invariants
//  1. A rebuilt strip counts only if it matches its own entries; P and Q need not match theirs for that.
//  2. Every write goes to every position whose disk is in the view, stale ones and targets of moves included.
//  3. A position that missed a write is durably stale before the write counts, and no more positions are out than there are parities.
//  4. Nothing is given up, as lost or poisoned, while more disks of its line do not answer than there are parities: what they hold may give it later.

/// <summary>The strips of parity lines on the disks.</summary>
internal sealed class ParityStrips(EngineParts parts)
{
    private const int BlockSize = SpaceShape.BlockSize;

    private readonly SpaceShape _shape = parts.Space.Shape;
    private readonly ParityLayout _layout = (ParityLayout)parts.Space.Layout;
    private readonly SpaceMembers _members = parts.Space.Members;
    private readonly SpaceCounters _counters = parts.Space.Counters;
    private readonly Stack<ParityStretch> _free = new();

    internal ParityStretch Rent() => _free.Count > 0 ? _free.Pop() : new ParityStretch(_layout, _shape, parts.Space.Lane.Buffers);

    internal void Return(ParityStretch lines)
    {
        lines.End();
        _free.Push(lines);
    }

    /// <summary>Whether the position of a column holds a region, and its disk is in the view.</summary>
    internal bool IsIn(SpaceRow row, int column, int slabOffset) => parts.Space.Redundancy.IsGood(row, column, row.RegionOf(column, slabOffset));

    /// <summary>Whether all positions hold a region, and their disks are in the view.</summary>
    internal bool AreAllIn(SpaceRow row, int slabOffset)
    {
        bool areIn = true;
        for (int column = 0; column < _layout.Columns && areIn; column++)
        {
            areIn = IsIn(row, column, slabOffset);
        }

        return areIn;
    }

    /// <summary>The first strip of data whose position is out; −1: none.</summary>
    internal int FirstOut(ParityStretch lines)
    {
        int strip = 0;
        while (strip < lines.DataStrips && (lines.IsEmpty(strip) || IsIn(lines, strip)))
        {
            strip++;
        }

        return strip < lines.DataStrips ? strip : -1;
    }

    internal bool IsIn(ParityStretch lines, int strip) => IsIn(lines.Row, lines.ColumnOf(strip), lines.SlabOffset);

    /// <summary>Reads a strip from its position and judges it. Returns whether it matches its entries.</summary>
    internal async LaneTask<bool> ReadOwn(ParityStretch lines, int strip)
    {
        if (lines.IsHeld(strip))
        {
            return true;
        }

        if (lines.IsEmpty(strip))
        {
            return lines.Judge(strip);
        }

        return IsIn(lines, strip) && await ReadPlace(lines, strip);
    }

    /// <summary>Reads a strip from a position that misses writes, if its disk is there. Returns whether it matches its entries all the same.</summary>
    internal async LaneTask<bool> ReadStale(ParityStretch lines, int strip)
    {
        bool matches = _members.IsLive(lines.Row.Places[lines.ColumnOf(strip)].Disk) && await ReadPlace(lines, strip);
        if (!matches)
        {
            lines.Forget(strip);   // what it holds is older than its entries, and counts for nothing
        }

        return matches;
    }

    private async LaneTask<bool> ReadPlace(ParityStretch lines, int strip)
    {
        IoBuffer target = lines[strip];
        SlabPlace place = lines.Row.Places[lines.ColumnOf(strip)];
        _counters.Io.NoteRead(target.Length);
        IoError error = await _members.Read(place.Disk, place.DataOffset + lines.SlabOffset, target);
        if (error == IoError.None)
        {
            return lines.Judge(strip);
        }

        // A device that was taken away may answer as if it had a bad sector.
        if (error != IoError.Io || (await _members.Evict(place.Disk, error, hasOtherCopy: false, "a read") && !_members.IsLive(place.Disk)))
        {
            lines.SetSilent(strip);
        }

        return false;
    }

    /// <summary>Fills a strip of data, from its position or from the others; false if neither gives what its entries say.</summary>
    internal async LaneTask<bool> Give(ParityStretch lines, int strip) => await ReadOwn(lines, strip) || await Rebuild(lines, strip);

    /// <summary>Reads side by side what a strip is rebuilt from: the other strips of data, and P. Without a strip (−1), the data alone.</summary>
    internal async LaneTask<Nothing> ReadOthers(ParityStretch lines, int strip)
    {
        LaneTask<bool>[] reads = ArrayPool<LaneTask<bool>>.Shared.Rent(lines.Strips);
        int count = strip < 0 ? lines.DataStrips : lines.DataStrips + 1;
        for (int other = 0; other < count; other++)
        {
            reads[other] = other == strip || lines.HasPoison(other) ? LaneTask.FromResult(false) : ReadOwn(lines, other);
        }

        for (int other = 0; other < count; other++)
        {
            await reads[other];
        }

        ArrayPool<LaneTask<bool>>.Shared.Return(reads, clearArray: true);
        return default;
    }

    /// <summary>
    /// Rebuilds a strip of data from the others, whatever its position holds. Where that fails, positions that miss writes count as well, the strip's own
    /// included, as far as they match their entries.
    /// </summary>
    internal async LaneTask<bool> Rebuild(ParityStretch lines, int strip) =>
        await RebuildFromGood(lines, strip) || (await AddStale(lines) && (lines.IsHeld(strip) || await RebuildFromGood(lines, strip)));

    /// <summary>Reads the strips of positions that miss writes and whose disks are there. Returns whether one of them matches its entries.</summary>
    private async LaneTask<bool> AddStale(ParityStretch lines)
    {
        bool hasAny = false;
        for (int strip = 0; strip < lines.Strips; strip++)
        {
            if (!lines.IsHeld(strip) && !lines.HasMark(strip) && !IsIn(lines, strip))
            {
                hasAny |= await ReadStale(lines, strip);
            }
        }

        return hasAny;
    }

    private async LaneTask<bool> RebuildFromGood(ParityStretch lines, int strip)
    {
        await ReadOthers(lines, strip);
        int other = -1;   // one more strip of data that its position does not give
        for (int data = 0; data < lines.DataStrips; data++)
        {
            if (data == strip || await ReadOwn(lines, data))
            {
                continue;
            }

            if (other >= 0 || _shape.Parities < 2)
            {
                return false;
            }

            other = data;
        }

        bool hasP = await ReadParity(lines, 0);
        if (other < 0 && hasP)
        {
            ParityMath.Fastest.Reconstruct(lines.Data, lines.P, default, strip);
            if (lines.Judge(strip))
            {
                _counters.Parity.NoteRebuilt(lines.Blocks);
                return true;
            }
        }

        if (_shape.Parities < 2 || !await ReadParity(lines, 1) || (other >= 0 && !hasP))
        {
            return false;
        }

        if (other >= 0)
        {
            ParityMath.Fastest.Reconstruct(lines.Data, lines.P, lines.Q, strip, other);
        }
        else
        {
            ParityMath.Fastest.Reconstruct(lines.Data, default, lines.Q, strip, lines.DataStrips);
        }

        bool isGiven = lines.Judge(strip) & (other < 0 || lines.Judge(other));
        _counters.Parity.NoteRebuilt(isGiven ? lines.Blocks : 0);
        return isGiven;
    }

    /// <summary>
    /// Writes a block that matches its entry over a position that gave something else. Whether it was written: its disk may have left meanwhile.
    /// </summary>
    internal async LaneTask<bool> Heal(ParityStretch lines, int strip)
    {
        if (!IsIn(lines, strip) || !lines.IsHeld(strip))
        {
            return false;
        }

        SlabPlace place = lines.Row.Places[lines.ColumnOf(strip)];
        IoError error = await _members.WriteOrEvict(place.Disk, place.DataOffset + lines.SlabOffset, lines[strip], hasOtherCopy: true);
        if (error == IoError.None)
        {
            _counters.Damage.NoteHealed(lines.Blocks);
            parts.Space.Host.Report(place.Disk, DiskFinding.Healed, lines.Blocks, place.DataOffset + lines.SlabOffset);
            return true;
        }

        return false;
    }

    /// <summary>Whether the parity in memory is that of the data in memory. The strips are not changed.</summary>
    internal bool IsParityOfData(ParityStretch lines)
    {
        bool matches = IsParityOfData(lines, lines.DataStrips);
        return matches && (_shape.Parities < 2 || IsParityOfData(lines, lines.DataStrips + 1));
    }

    /// <summary>Whether one parity in memory is that of the data in memory. The strips are not changed.</summary>
    internal bool IsParityOfData(ParityStretch lines, int strip)
    {
        IoBuffer computed = parts.Space.Lane.Buffers.Rent(lines.Length);
        bool isP = strip == lines.DataStrips;
        ParityMath.Fastest.Compute(lines.Data, isP ? computed : default, isP ? default : computed);
        bool matches = computed.Span.SequenceEqual(lines[strip].Span);
        parts.Space.Lane.Buffers.Return(computed);
        return matches;
    }

    /// <summary>Counts and reports a block of a position that is not what its entry says.</summary>
    internal void NoteWrong(ParityStretch line, int strip)
    {
        if (line.IsFound(strip))
        {
            SlabPlace place = line.Row.Places[line.ColumnOf(strip)];
            _counters.Damage.NoteMismatch();
            parts.Space.Host.Report(place.Disk, DiskFinding.ChecksumMismatch, 1, place.DataOffset + line.SlabOffset);
        }
    }

    /// <summary>Counts, lists and reports a block that nothing gives.</summary>
    internal void NoteLost(ParityStretch lines, int strip)
    {
        StripPiece block = lines.PieceOf(strip);
        if (strip < lines.DataStrips && !parts.Space.Lost.Contains(block))
        {
            _counters.Damage.NoteLost();
            parts.Space.Lost.Add(block);
            SlabPlace place = lines.Row.Places[lines.ColumnOf(strip)];
            parts.Space.Host.Report(place.Disk, DiskFinding.Lost, 1, place.DataOffset + lines.SlabOffset);
        }
    }

    /// <summary>
    /// Marks a block of data that nothing gives: it is an error until it is written, or something proves it. The mark is durable with the next flush, and
    /// before the next region is marked dirty: a stop of the machine would lead to another verdict.
    /// </summary>
    internal void MarkLost(ParityStretch line, int strip)
    {
        Invariant.That(line.Blocks == 1, "Blocks are lost one by one.");
        NoteLost(line, strip);
        ChecksumPage page = line.PageOf(strip);
        ushort generation = page.Generations[line.FirstBlock];
        if (generation != ChecksumSector.NeverWritten && !ChecksumSector.IsMark(generation))
        {
            page.Mark(line.FirstBlock, page.Checksums[line.FirstBlock]);
            parts.Changes.NoteMark(page);
        }
    }

    /// <summary>A marked block that was given is as its entry says again.</summary>
    internal void Prove(ParityStretch line, int strip)
    {
        if (line is { Blocks: 1 } && line.IsHeld(strip) && line.Entry(strip, 0) == ChecksumSector.Marked)
        {
            ChecksumPage page = line.PageOf(strip);
            page.Set(line.FirstBlock, page.Checksums[line.FirstBlock]);
            parts.Changes.Note(page, 1);
            parts.Space.Lost.Remove(line.PieceOf(strip));
        }
    }

    /// <summary>Begins a write of a column, and of the target of its move.</summary>
    internal LaneTask<IoError> StartWrite(SpaceRow row, int column, int slabOffset, IoBuffer source)
    {
        _counters.Io.NoteWrite(source.Length);
        return _members.Write(row, column, slabOffset, source);
    }

    /// <summary>
    /// Deals with a write of a column that failed: its disk leaves the view, and its position is durably stale. Where that would be one position too many, as
    /// another one is stale or away, it is not marked, and the error is returned: what the disk holds is needed when it is back.
    /// </summary>
    internal async LaneTask<IoError> EndWrite(ParityStretch lines, int column, IoError error, int version)
    {
        (SpaceRow row, int slabOffset, int length) = (lines.Row, lines.SlabOffset, lines.Length);
        parts.Stale.Lacks.NoteWritten(row, 0, slabOffset, length);
        if (error is IoError.None or IoError.NoSpace)
        {
            return error;
        }

        await _members.EvictSince(version, row.Places[column].Disk, error, parts.Space.Redundancy.HasOther(row, column), "a write");
        ushort region = (ushort)(1 << (slabOffset / _shape.RegionSize));
        if ((region & ~row.Stale[column] & ~parts.Space.Redundancy.GoodElsewhere(row, column)) != 0)
        {
            return error;
        }

        IoError marked = await parts.Stale.MarkStale(row, column, region, new Lack(slabOffset, length));
        return marked == IoError.None ? IoError.None : parts.Space.Status.Fail(marked, "a missing position could not be recorded as stale");
    }

    /// <summary>Poisons the parity of lines: nothing is rebuilt from it until it is computed from all data.</summary>
    internal void PoisonParity(ParityStretch lines)
    {
        for (int strip = lines.DataStrips; strip < lines.Strips; strip++)
        {
            ChecksumPage page = lines.PageOf(strip);
            for (int i = 0; i < lines.Blocks; i++)
            {
                bool isFirst = page.Generations[lines.FirstBlock + i] == ChecksumSector.NeverWritten;
                lines.Row.NoteWritten(lines.Row.WrittenBlocks >= 0 && isFirst ? 1 : 0);
                page.Poison(lines.FirstBlock + i);
            }

            parts.Changes.Note(page, lines.Blocks);
        }
    }

    /// <summary>
    /// Whether a block of a line that nothing gives will never be given: no more positions are out, or do not answer, than there are parities. Strips that
    /// were not read yet are read. A bad sector is an answer, and so is a block that does not match.
    /// </summary>
    internal async LaneTask<bool> IsFinal(ParityStretch line)
    {
        int silent = 0;
        for (int strip = 0; strip < line.Strips; strip++)
        {
            if (line.IsEmpty(strip) || line.HasPoison(strip))
            {
                continue;
            }

            if (!line.IsFound(strip))
            {
                await ReadOwn(line, strip);
            }

            silent += line.IsSilent(strip) || !IsIn(line, strip) ? 1 : 0;
        }

        return silent <= _shape.Parities && IsReadable(line.Row, line.SlabOffset);
    }

    /// <summary>Whether no more positions are out in a region than there are parities.</summary>
    internal bool IsReadable(SpaceRow row, int slabOffset) => parts.Space.Redundancy.IsReadable(row, 0, slabOffset / _shape.RegionSize);

    /// <summary>Reads a parity as it is found; false where its position is out or it is poisoned.</summary>
    private async LaneTask<bool> ReadParity(ParityStretch lines, int parity)
    {
        int strip = lines.DataStrips + parity;
        if (lines.HasPoison(strip))
        {
            return false;
        }

        await ReadOwn(lines, strip);
        return lines.IsFound(strip);
    }
}
