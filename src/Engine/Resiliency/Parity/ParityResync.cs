using System.Numerics;
using TierSpaces.Engine.Formats;
using TierSpaces.Engine.Primitives;
using TierSpaces.Engine.Resiliency.Layouts;

namespace TierSpaces.Engine.Resiliency;

// Makes the parity of a region that of its data after an unclean stop, and rebuilds positions.
//
// Resync, per line:
//  1. Data that matches its entries stays.
//  2. If no more blocks of data than there are parities do not match or are out, and the parity found there gives all of them as their entries say, they are
//     rebuilt. Else what is present is taken as an unflushed write.
//  3. Parity is computed from all data of the line, never from what is present alone. Blocks that are out and could not be rebuilt: if another parity
//     remains beside them, they are poisoned, so that the line has redundancy again; else their entries stay, and the parity is poisoned.
//  4. While more disks of the line do not answer than there are parities nothing is decided: the region stays unresolved, a rebuild begins again later.
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
    private long _mended;   // entries that rebuilds have changed

    internal async LaneTask<IoError> ResyncRegion(SpaceRow row, int region)
    {
        int end = Math.Min((region + 1) * _shape.RegionSize, _shape.UsableSize);
        int chunk = Math.Min(ChunkMax, _shape.Interleave);
        List<CapturedEntry> taken = [];
        bool anyWritten = false;
        IoError error = IoError.None;
        for (int at = region * _shape.RegionSize; at < end && error == IoError.None; at += chunk)
        {
            (error, bool written) = await ResyncLines(row, at, chunk, taken);
            anyWritten |= written;
        }

        error = error == IoError.None && anyWritten ? await _flusher.FlushDisks() : error;
        return error == IoError.None ? await _flusher.LogTaken(taken) : error;
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

    /// <summary>See <see cref="ILayoutEngine.Recover"/>.</summary>
    internal async LaneTask<IoError> Recover(SpaceRow row, StripPiece block, ChecksumPage page, List<FirstWriteRecord> records, List<CapturedEntry> kept)
    {
        if (!strips.IsIn(row, block.Column, block.SlabOffset))
        {
            return IoError.None;
        }

        IoBuffer buffer = parts.Space.Lane.Buffers.Rent(BlockSize);
        SlabPlace place = row.Places[block.Column];
        bool isRead = await _members.Read(place.Disk, place.DataOffset + block.SlabOffset, buffer) == IoError.None;
        uint checksum = Crc32c.Compute(buffer.Span);
        if (isRead && (records.Exists(record => record.Checksum == checksum) || FirstWriteRecord.Explain(records, buffer.Span)))
        {
            page.Pin();   // until logged
            kept.Add(new CapturedEntry(page, (ushort)_integrity.FirstBlock(block), 0, checksum));
        }

        parts.Space.Lane.Buffers.Return(buffer);
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
        for (int strip = 0; strip < lines.Strips && isEmpty; strip++)
        {
            isEmpty = lines.IsEmpty(strip);
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
        ulong wrong = 0;   // data that does not match, or is out
        for (int strip = 0; strip < line.DataStrips; strip++)
        {
            wrong |= await strips.ReadOwn(line, strip) ? 0 : 1UL << strip;
        }

        ulong present = wrong & line.Found;   // what was read and does not match
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
        for (int strip = 0; strip < line.DataStrips && error == IoError.None; strip++)
        {
            if ((unknown >> strip & 1) == 0)
            {
                continue;
            }

            // The rebuilt strip may have overwritten the old content in memory: it is read again.
            SlabPlace place = line.Row.Places[line.ColumnOf(strip)];
            if ((present >> strip & 1) != 0 && await _members.Read(place.Disk, place.DataOffset + line.SlabOffset, line[strip]) == IoError.None)
            {
                Take(line, strip, taken);
                unknown &= ~(1UL << strip);
            }
        }

        bool written = rebuilt != 0;
        for (int strip = 0; strip < line.DataStrips && error == IoError.None; strip++)
        {
            error = (rebuilt >> strip & 1) != 0 ? await Overwrite(line, strip) : error;
        }

        if (error == IoError.None)
        {
            if (BitOperations.PopCount(unknown) < _shape.Parities)
            {
                PoisonData(line, unknown);
                (error, bool isRenewed) = await RenewParity(line, taken);
                written |= isRenewed;
            }
            else
            {
                strips.PoisonParity(line);
                written = true;
            }
        }

        return (error, written);
    }

    private void PoisonData(ParityStretch line, ulong which)
    {
        for (int strip = 0; strip < line.DataStrips; strip++)
        {
            if ((which >> strip & 1) != 0)
            {
                strips.NoteLost(line, strip);
                line.PageOf(strip).Poison(line.FirstBlock);
                parts.Changes.Note(line.PageOf(strip), 1);
                line.Judge(strip);   // its zeros are what the parity counts now
            }
        }
    }

    /// <summary>Computes the parity of a line from its data, and writes it where it is not that.</summary>
    private async LaneTask<(IoError Error, bool Written)> RenewParity(ParityStretch line, List<CapturedEntry> taken)
    {
        ulong good = 0;
        for (int strip = line.DataStrips; strip < line.Strips; strip++)
        {
            good |= strips.IsIn(line, strip) && await strips.ReadOwn(line, strip) && !line.HasPoison(strip) ? 1UL << strip : 0;
        }

        bool hasData = false;
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
        bool isSound = isGiven && !(isData && lines.HasPoisonedParity);
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

        if (!isSound && isData)
        {
            isGiven = isGiven || await strips.ReadStale(lines, strip);
            error = await Mend(lines, strip, isGiven);
        }

        if (isGiven && !lines.IsEmpty(strip) && error == IoError.None)
        {
            parts.Space.Counters.Repair.NoteWrite(length);
            error = await _members.WriteOrEvict(target.Disk, target.DataOffset + slabOffset, lines[strip], hasOtherCopy: true);
        }

        strips.Return(lines);
        return error;   // parity that nothing gives keeps what the target has, which its entry rejects
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

    /// <summary>Gives parity from its position, else from all data; poisoned parity becomes good with that.</summary>
    private async LaneTask<bool> GiveParity(ParityStretch lines, int strip)
    {
        if (!lines.HasPoison(strip) && await strips.ReadOwn(lines, strip))
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
            bool isSame = page.Checksums[lines.FirstBlock + i] == checksums[i] && lines.Entry(strip, i) != ChecksumSector.Poisoned;
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
