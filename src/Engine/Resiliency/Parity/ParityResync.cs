using System.Numerics;
using TierSpaces.Engine.Formats;
using TierSpaces.Engine.Primitives;
using TierSpaces.Engine.Resiliency.Layouts;

namespace TierSpaces.Engine.Resiliency;

// Makes the parity of a region that of its data after an unclean stop, and rebuilds positions.
//
// Resync, per line:
//  1. A value that the process which died had acknowledged becomes the entry: nothing older counts.
//  2. Data that matches its entries stays. So does data that is another legal value by the records (Judgement), and becomes the entry.
//  3. If no more blocks of data than there are parities are something else or are out, and the parity found there gives all of them as their entries say, they
//     are rebuilt. Else what is present is taken as an unflushed write after a stop of the machine; after a death of the process it is marked.
//  4. Parity is computed from all data of the line, never from what is proven alone. Blocks that are not proven: where nothing of the line changes, it stays
//     as it is, because its parity may give them when a disk is back. Else, if another parity remains beside them, they are poisoned, so that the line has
//     redundancy again; if none does, their entries stay, and the parity is poisoned. A poisoned block keeps its checksum: a disk that was away, and has
//     the value in the block's own place, gives it back when its position is rebuilt.
//  5. While more disks of the line do not answer than there are parities nothing is decided: the region stays unresolved, a rebuild begins again later.
// Order: write, flush, log all entries, flush, serve.

/// <summary>Resyncs and rebuilds a space with parity.</summary>
internal sealed class ParityResync(EngineParts parts, ParityStrips strips, ParityJournal journal, ParityCommits commits)
{
    private const int BlockSize = SpaceShape.BlockSize;
    private const int ChunkMax = 64 << 10;
    private const int RebuildMax = 256 << 10;   // one request to each disk

    private readonly SpaceShape _shape = parts.Space.Shape;
    private readonly IntegrityStore _integrity = parts.Integrity;
    private readonly SpaceFlusher _flusher = parts.Flusher;
    private readonly SpaceMembers _members = parts.Space.Members;
    private readonly FoundWrites _found = parts.Found;
    private long _mended;   // entries that rebuilds have changed
    private bool _entered;  // entries of acknowledged writes that no flush since covers

    internal async LaneTask<IoError> ResyncRegion(SpaceRow row, int region)
    {
        int start = region * _shape.RegionSize;
        int end = Math.Min(start + _shape.RegionSize, _shape.UsableSize);
        int chunk = Math.Min(ChunkMax, _shape.Interleave);
        List<CapturedEntry> taken = [];
        bool anyWritten = false;
        IoError error = await EnterAcknowledged(row, start, end);
        for (int at = start; at < end && error == IoError.None; at += chunk)
        {
            (error, bool written) = await ResyncLines(row, at, chunk, taken);
            anyWritten |= written;
        }

        error = error == IoError.None ? await EndRecords(row, start, end, taken) : error;
        error = error == IoError.None && anyWritten ? await _flusher.FlushDisks() : error;
        error = error == IoError.None ? await _flusher.LogTaken(taken) : error;
        error = error == IoError.None && _entered ? await _flusher.Flush() : error;
        if (error == IoError.None && !_found.IsEmpty)
        {
            _entered = false;
            for (int column = 0; column < _shape.Columns; column++)
            {
                _found.RemoveJudged(new StripPiece(row.Index, column, start, _shape.RegionSize));
            }

            _found.Release();
        }

        return error;
    }

    /// <summary>See <see cref="ILayoutEngine.Rebuild"/>.</summary>
    internal async LaneTask<IoError> Rebuild(SpaceRow row, int position, StripPiece stretch, SlabPlace target)
    {
        int end = Math.Min(stretch.SlabOffset + stretch.Length, _shape.UsableSize);
        IoError error = IoError.None;
        long mended = _mended;
        for (int at = stretch.SlabOffset, length; at < end && error == IoError.None; at += length)
        {
            length = Math.Min(Math.Min(RebuildMax, end - at), _shape.Interleave - (at % _shape.Interleave));   // lines of one stripe
            error = await RebuildLines(row, position, at, length, target);
        }

        return error == IoError.None && _mended != mended ? await _flusher.Flush() : error;   // before the position counts as whole
    }

    /// <summary>
    /// Enters what the process that died had acknowledged. The disks have it durably if they have it at all: they were flushed at open. A block that does not
    /// hold it is an error until it is proven, and no older value.
    /// </summary>
    private async LaneTask<IoError> EnterAcknowledged(SpaceRow row, int start, int end)
    {
        for (int column = 0; column < _shape.Columns && !_found.IsEmpty; column++)
        {
            for (int at = start; at < end; at += BlockSize)
            {
                StripPiece block = new(row.Index, column, at, BlockSize);
                if (_found.Of(block) is not { } records)
                {
                    continue;
                }

                if ((_integrity.Find(row, block) ?? await _integrity.Load(row, block)) is not { } page)
                {
                    return IoError.Io;
                }

                int index = _integrity.FirstBlock(block);
                BlockEvidence evidence = new(page.Generations[index], page.Checksums[index], records, IsAway: false, MayAdopt: false);
                IoError error = Judgement.Final(evidence) is not { } final ? IoError.None
                    : final.IsZeroed ? await EnterZeroed(row, page, index) : EnterWritten(row, page, index, final);
                if (error != IoError.None)
                {
                    return error;
                }
            }
        }

        return IoError.None;
    }

    private IoError EnterWritten(SpaceRow row, ChecksumPage page, int index, in WriteRecord final)
    {
        ushort generation = page.Generations[index];
        if (final.IsLost)
        {
            page.Poison(index);
            parts.Changes.Note(page, 1);
            _entered = true;
        }
        else if (page.Checksums[index] != final.Checksum || generation is ChecksumSector.NeverWritten or ChecksumSector.Unknown)
        {
            row.NoteWritten(row.WrittenBlocks >= 0 && generation == ChecksumSector.NeverWritten ? 1 : 0);
            page.Set(index, final.Checksum);
            parts.Changes.Note(page, 1);
            parts.Space.Counters.Repair.NoteRecovered(1);
            _entered = true;
        }

        return IoError.None;
    }

    private async LaneTask<IoError> EnterZeroed(SpaceRow row, ChecksumPage page, int index)
    {
        if (page.Generations[index] == ChecksumSector.NeverWritten)
        {
            return IoError.None;
        }

        page.Pin();
        IoError error = await parts.Log.Room(1);
        if (error == IoError.None)
        {
            row.NoteWritten(row.WrittenBlocks > 0 ? -1 : 0);
            page.Reset(index);
            parts.Log.AppendZeroed(page, index, 1, _shape.PageSpan / BlockSize);
            _entered = true;
        }

        page.Unpin();
        return error;
    }

    /// <summary>Enters once more what the blocks with records were found to hold, so that the records which the log has of them end.</summary>
    private async LaneTask<IoError> EndRecords(SpaceRow row, int start, int end, List<CapturedEntry> taken)
    {
        HashSet<(ChecksumPage, ushort)> entered = [.. taken.Select(static entry => (entry.Page, entry.Block))];
        for (int column = 0; column < _shape.Columns && !_found.IsEmpty; column++)
        {
            for (int at = start; at < end; at += BlockSize)
            {
                StripPiece block = new(row.Index, column, at, BlockSize);
                if (!_found.HasAny(block))
                {
                    continue;
                }

                if (await _integrity.Load(row, block) is not { } page)
                {
                    return IoError.Io;
                }

                page.Pin();
                ushort index = (ushort)_integrity.FirstBlock(block);
                IoError error = IoError.None;
                if (page.Generations[index] == ChecksumSector.NeverWritten && !entered.Contains((page, index)))
                {
                    error = await parts.Log.Room(1);
                    if (error == IoError.None)
                    {
                        parts.Log.AppendZeroed(page, index, 1, _shape.PageSpan / BlockSize);
                        _entered = true;
                    }
                }
                else if (!ChecksumSector.IsMark(page.Generations[index]) && entered.Add((page, index)))
                {
                    page.Pin();   // until logged
                    taken.Add(new CapturedEntry(page, index, 0, page.Checksums[index]));
                }

                page.Unpin();
                if (error != IoError.None)
                {
                    return error;
                }
            }
        }

        return IoError.None;
    }

    private async LaneTask<(IoError Error, bool Written)> ResyncLines(SpaceRow row, int slabOffset, int length, List<CapturedEntry> taken)
    {
        ParityStretch lines = strips.Rent();
        IoError error = await lines.Begin(row, slabOffset, length, _integrity);
        if (error != IoError.None)
        {
            return (error, false);
        }

        bool written = false;
        if (!await IsWhole(lines))
        {
            if (length > BlockSize)
            {
                strips.Return(lines);
                for (int at = 0; at < length && error == IoError.None; at += BlockSize)
                {
                    (error, bool one) = await ResyncLines(row, slabOffset + at, BlockSize, taken);
                    written |= one;
                }

                return (error, written);
            }

            (error, written) = await ResyncLine(lines, taken);
        }

        strips.Return(lines);
        return (error, written);
    }

    /// <summary>Whether all strips are in and as their entries say, and the parity is that of the data.</summary>
    private async LaneTask<bool> IsWhole(ParityStretch lines)
    {
        bool isEmpty = true;
        for (int strip = 0; strip < lines.Strips; strip++)
        {
            isEmpty &= lines.IsEmpty(strip);
            if (_found.HasUndecided(lines.PieceOf(strip)))
            {
                return false;
            }
        }

        if (isEmpty)
        {
            return true;
        }

        for (int strip = 0; strip < lines.Strips; strip++)
        {
            if (!strips.IsIn(lines, strip) || !await strips.ReadOwn(lines, strip))
            {
                return false;
            }
        }

        return strips.IsParityOfData(lines);
    }

    private async LaneTask<(IoError Error, bool Written)> ResyncLine(ParityStretch line, List<CapturedEntry> taken)
    {
        ulong wrong = 0;   // data that is not proven in its place, or is out
        ulong changed = 0;   // data that is proven as something else than its entry
        for (int strip = 0; strip < line.DataStrips; strip++)
        {
            if (await FindRecorded(line, strip))
            {
                changed |= 1UL << strip;
                Take(line, strip, taken);
            }
            else if (!await strips.ReadOwn(line, strip))
            {
                wrong |= 1UL << strip;
            }
        }

        ulong present = wrong & line.Found;   // what was read and is not proven
        ulong rebuilt = 0;
        ulong unknown = wrong;
        if (wrong != 0 && BitOperations.PopCount(wrong) <= _shape.Parities && await strips.Rebuild(line, BitOperations.TrailingZeroCount(wrong)))
        {
            unknown &= ~line.Held;
            rebuilt = present & line.Held;
        }

        if ((unknown & ~present) != 0 && !await strips.IsFinal(line))
        {
            return (IoError.Io, false);
        }

        IoError error = IoError.None;
        ulong adopted = await Adopt(line, unknown & present, taken);
        unknown &= ~adopted;
        changed |= adopted;
        for (int strip = 0; strip < line.DataStrips && error == IoError.None; strip++)
        {
            error = (rebuilt >> strip & 1) != 0 ? await Overwrite(line, strip) : error;
        }

        if (error != IoError.None || (unknown != 0 && changed == 0 && !await IsParityUseless(line, unknown)))
        {
            MarkStrips(line, (unknown & present) | line.ParityStrips, taken);
            return (error, rebuilt != 0);   // the parity may give what is not proven when a disk is back
        }

        if (BitOperations.PopCount(unknown) < _shape.Parities)
        {
            PoisonData(line, unknown);
            (error, bool isRenewed) = await RenewParity(line, taken, changed != 0);
            return (error, isRenewed || rebuilt != 0);
        }

        MarkStrips(line, unknown & present, taken);
        strips.PoisonParity(line);
        return (error, true);
    }

    /// <summary>
    /// Whether the parity says nothing of the one block that nothing gives: the position of that block is out, and of all others what they hold is known. Then
    /// only its own disk may have it, and the parity of the rest is of more use.
    /// </summary>
    private async LaneTask<bool> IsParityUseless(ParityStretch line, ulong unknown)
    {
        if (_shape.Parities < 2 || BitOperations.PopCount(unknown) != 1 || strips.IsIn(line, BitOperations.TrailingZeroCount(unknown)))
        {
            return false;
        }

        for (int parity = line.DataStrips; parity < line.Strips; parity++)
        {
            bool isKnown = line.HasPoison(parity)
                || (strips.IsIn(line, parity) && (await strips.ReadOwn(line, parity) || line.IsFound(parity)));
            if (!isKnown)
            {
                return false;
            }
        }

        return true;
    }

    /// <summary>Whether the place of a strip holds what a write recorded that is newer than the entry and was in flight: it is in memory then.</summary>
    private async LaneTask<bool> FindRecorded(ParityStretch line, int strip)
    {
        StripPiece block = line.PieceOf(strip);
        if (_found.IsEmpty || _found.Of(block) is not { } records || !strips.IsIn(line, strip))
        {
            return false;
        }

        SlabPlace place = line.Row.Places[block.Column];
        IoBuffer there = parts.Space.Lane.Buffers.Rent(BlockSize);
        bool isNew = false;
        if (await _members.Read(place.Disk, place.DataOffset + block.SlabOffset, there) == IoError.None)
        {
            ChecksumPage page = line.PageOf(strip);
            BlockEvidence evidence = new(page.Generations[line.FirstBlock], page.Checksums[line.FirstBlock], records, IsAway: false, MayAdopt: false);
            isNew = Judgement.Of(evidence, new BlockImages(there, BlockSize, 0, 1)).Verdict == Verdict.Proven
                && !(evidence.HasEntry && Crc32c.Compute(there.Span) == evidence.Checksum);
        }

        if (isNew)
        {
            there.Span.CopyTo(line[strip].Span);
            line.SetHeld(strip);
        }

        parts.Space.Lane.Buffers.Return(there);
        return isNew;
    }

    /// <summary>After a stop of the machine: takes what is present for unflushed writes. Returns what was taken.</summary>
    private async LaneTask<ulong> Adopt(ParityStretch line, ulong which, List<CapturedEntry> taken)
    {
        ulong adopted = 0;
        for (int strip = 0; strip < line.DataStrips && _found.Knowledge == WriteKnowledge.None; strip++)
        {
            ushort generation = line.Entry(strip, 0);
            if ((which >> strip & 1) == 0 || generation == ChecksumSector.NeverWritten || ChecksumSector.IsMark(generation)
                || _found.HasAny(line.PieceOf(strip)))
            {
                continue;
            }

            // The rebuilt strip may have overwritten the old content in memory: it is read again.
            SlabPlace place = line.Row.Places[line.ColumnOf(strip)];
            if (await _members.Read(place.Disk, place.DataOffset + line.SlabOffset, line[strip]) == IoError.None)
            {
                Take(line, strip, taken);
                parts.Space.Counters.Repair.NoteAdopted(1);
                adopted |= 1UL << strip;
            }
        }

        return adopted;
    }

    /// <summary>
    /// Marks blocks of data that nothing proves, which count in the parity as what their entries say; and parity that is not that of the data, or need not be:
    /// it is computed again as soon as all data of the line is given, and until then only what it gives and an entry confirms counts.
    /// </summary>
    private void MarkStrips(ParityStretch line, ulong which, List<CapturedEntry> taken)
    {
        for (int strip = 0; strip < line.Strips; strip++)
        {
            ChecksumPage page = line.PageOf(strip);
            ushort generation = page.Generations[line.FirstBlock];
            if ((which >> strip & 1) == 0 || generation == ChecksumSector.NeverWritten || ChecksumSector.IsMark(generation))
            {
                continue;
            }

            if (strip < line.DataStrips)
            {
                strips.NoteLost(line, strip);
            }

            page.Pin();   // until it is logged
            taken.Add(new CapturedEntry(page, (ushort)line.FirstBlock, ChecksumSector.Marked, page.Checksums[line.FirstBlock]));
        }
    }

    private void PoisonData(ParityStretch line, ulong which)
    {
        for (int strip = 0; strip < line.DataStrips; strip++)
        {
            if ((which >> strip & 1) != 0)
            {
                strips.NoteLost(line, strip);
                ChecksumPage page = line.PageOf(strip);
                page.Poison(line.FirstBlock, page.Checksums[line.FirstBlock]);
                parts.Changes.Note(line.PageOf(strip), 1);
                line.Judge(strip);   // its zeros are what the parity counts now
            }
        }
    }

    /// <summary>Computes the parity of a line from its data, and writes it where it is not that.</summary>
    private async LaneTask<(IoError Error, bool Written)> RenewParity(ParityStretch line, List<CapturedEntry> taken, bool hasNewData)
    {
        ulong good = 0;
        for (int strip = line.DataStrips; strip < line.Strips; strip++)
        {
            good |= strips.IsIn(line, strip) && await strips.ReadOwn(line, strip) && !line.HasMark(strip) ? 1UL << strip : 0;
        }

        bool hasData = hasNewData;
        for (int strip = 0; strip < line.DataStrips; strip++)
        {
            hasData |= line.Entry(strip, 0) != ChecksumSector.NeverWritten;
        }

        if (!hasData || (BitOperations.PopCount(good) == _shape.Parities && strips.IsParityOfData(line)))
        {
            return (IoError.None, false);
        }

        ParityMath.Fastest.Compute(line.Data, line.P, line.Q);
        IoError error = IoError.None;
        for (int strip = line.DataStrips; strip < line.Strips && error == IoError.None; strip++)
        {
            Take(line, strip, taken);
            error = await Overwrite(line, strip);
        }

        return (error, true);
    }

    private void Take(ParityStretch line, int strip, List<CapturedEntry> taken)
    {
        ChecksumPage page = line.PageOf(strip);
        page.Pin();   // until it is logged
        taken.Add(new CapturedEntry(page, (ushort)line.FirstBlock, 0, Crc32c.Compute(line[strip].Span)));
    }

    /// <summary>Writes a strip; a position that does not take it is durably stale before this completes. One that is out is so already.</summary>
    private async LaneTask<IoError> Overwrite(ParityStretch line, int strip)
    {
        int column = line.ColumnOf(strip);
        int version = _members.Version;
        IoError error = await strips.StartWrite(line.Row, column, line.SlabOffset, line[strip]);
        return await strips.EndWrite(line, column, error, version);
    }

    private async LaneTask<IoError> RebuildLines(SpaceRow row, int position, int slabOffset, int length, SlabPlace target)
    {
        ParityStretch lines = strips.Rent();
        IoError error = await lines.Begin(row, slabOffset, length, _integrity);
        if (error != IoError.None)
        {
            return error;
        }

        error = await commits.Settle(lines);   // else its blocks match neither their old nor their new entries, and would be taken for lost
        if (error != IoError.None)
        {
            strips.Return(lines);
            return error;
        }

        int strip = lines.StripOf(position);
        bool isData = strip < lines.DataStrips;
        if (!lines.IsEmpty(strip) && !strips.IsIn(lines, strip))
        {
            await strips.ReadOthers(lines, strip);
        }

        bool isGiven = lines.IsEmpty(strip) || (isData ? await strips.Give(lines, strip) : await GiveParity(lines, strip));
        bool isSound = isGiven && !(isData && (lines.HasMarkedParity || lines.HasPoison(strip)));
        if (!isSound && length > BlockSize)
        {
            strips.Return(lines);
            for (int at = 0; at < length && error == IoError.None; at += BlockSize)
            {
                error = await RebuildLines(row, position, slabOffset + at, BlockSize, target);
            }

            return error;
        }

        if (!isGiven && !await strips.IsFinal(lines))
        {
            strips.Return(lines);
            return IoError.Io;
        }

        error = isData && lines.HasPoison(strip) ? await Revive(lines, strip) : error;
        if (isData && error == IoError.None && (!isGiven || lines.HasMarkedParity))
        {
            isGiven = isGiven || await strips.ReadStale(lines, strip);
            bool mayBeGivenUp = isGiven || Array.TrueForAll(row.Places, place => !_members.IsAway(place.Disk));   // none is away that may give it
            error = mayBeGivenUp ? await Mend(lines, strip, isGiven) : error;
        }

        if (!isGiven && error == IoError.None && target != row.Places[position])
        {
            // The bytes at the other place are another owner's. A slab whose disk is away may hold the block: it is not given up.
            lines[strip].Span.Clear();
            isGiven = !_members.IsAway(row.Places[position].Disk);
            error = isGiven ? IoError.None : IoError.Io;
        }

        if (isData && error == IoError.None && !lines.IsHeld(strip) && !lines.IsEmpty(strip))
        {
            strips.MarkLost(lines, strip);   // the target never counts as an unflushed write of it
            _mended++;
        }

        if (isGiven && !lines.IsEmpty(strip) && error == IoError.None)
        {
            parts.Space.Counters.Repair.NoteWrite(length);
            error = await _members.WriteOrEvict(target.Disk, target.DataOffset + slabOffset, lines[strip], hasOtherCopy: true);
        }

        strips.Return(lines);
        return error;   // what nothing gives keeps in its place what the target has, which its entry rejects
    }

    /// <summary>
    /// Gives a line its redundancy back whose parity is poisoned, or one block of which nothing gives: that block is poisoned, and parity is that of the rest.
    /// Where more blocks are missing nothing changes: their disks may come back. It is not recorded, because until it is durable the line has no
    /// redundancy anyway.
    /// </summary>
    private async LaneTask<IoError> Mend(ParityStretch line, int strip, bool isGiven)
    {
        for (int other = 0; other < line.DataStrips; other++)
        {
            if (other != strip && !await strips.Give(line, other))
            {
                return IoError.None;
            }
        }

        IoError error = await journal.Retire(line.Row.Index, line.SlabOffset);
        if (error != IoError.None)
        {
            return error;
        }

        _mended++;
        PoisonData(line, isGiven ? 0 : 1UL << strip);

        ParityMath.Fastest.Compute(line.Data, line.P, line.Q);
        for (int parity = line.DataStrips; parity < line.Strips && error == IoError.None; parity++)
        {
            ChecksumPage page = line.PageOf(parity);
            page.Set(line.FirstBlock, line.ComputeChecksums(parity)[0]);
            parts.Changes.Note(page, 1);
            error = await Overwrite(line, parity);
        }

        return error;
    }

    /// <summary>
    /// Takes a lost block back whose own disk was away, and has the value that the block had when it was given up; the parity counts it again.
    /// </summary>
    private async LaneTask<IoError> Revive(ParityStretch line, int strip)
    {
        ChecksumPage page = line.PageOf(strip);
        uint checksum = page.Checksums[line.FirstBlock];
        SlabPlace place = line.Row.Places[line.ColumnOf(strip)];
        if (checksum == 0 || !_members.IsLive(place.Disk))
        {
            return IoError.None;
        }

        IoBuffer there = parts.Space.Lane.Buffers.Rent(BlockSize);
        bool isRevived = await _members.Read(place.Disk, place.DataOffset + line.SlabOffset, there) == IoError.None
            && Crc32c.Compute(there.Span) == checksum;
        for (int other = 0; other < line.DataStrips && isRevived; other++)
        {
            isRevived = other == strip || await strips.Give(line, other);   // the parity counts the block as zeros until here
        }

        if (isRevived)
        {
            there.Span.CopyTo(line[strip].Span);
            line.SetHeld(strip);
            page.Set(line.FirstBlock, checksum);
            parts.Changes.Note(page, 1);
            parts.Space.Lost.Remove(line.PieceOf(strip));
        }

        parts.Space.Lane.Buffers.Return(there);
        return isRevived ? await Mend(line, strip, isGiven: true) : IoError.None;
    }

    /// <summary>Gives parity from its position, else from all data; poisoned parity becomes good with that.</summary>
    private async LaneTask<bool> GiveParity(ParityStretch lines, int strip)
    {
        if (!lines.HasMark(strip) && await strips.ReadOwn(lines, strip))
        {
            return true;
        }

        for (int data = 0; data < lines.DataStrips; data++)
        {
            if (!await strips.Give(lines, data))
            {
                return false;
            }
        }

        ParityMath.Fastest.Reconstruct(lines.Data, lines.P, lines.Q, strip);
        if (await journal.Retire(lines.Row.Index, lines.SlabOffset) != IoError.None)
        {
            return false;   // a replay would poison it again
        }

        ChecksumPage page = lines.PageOf(strip);
        uint[] checksums = lines.ComputeChecksums(strip);
        for (int i = 0; i < lines.Blocks; i++)
        {
            bool isSame = page.Checksums[lines.FirstBlock + i] == checksums[i] && !ChecksumSector.IsMark(lines.Entry(strip, i));
            if (!isSame && lines.Entry(strip, i) != ChecksumSector.NeverWritten)
            {
                page.Set(lines.FirstBlock + i, checksums[i]);
                parts.Changes.Note(page, 1);
                _mended++;
            }
        }

        return true;
    }
}
