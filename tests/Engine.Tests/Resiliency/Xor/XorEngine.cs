using TierSpaces.Engine.Formats;
using TierSpaces.Engine.Primitives;
using TierSpaces.Engine.Resiliency;
using TierSpaces.Engine.Resiliency.Layouts;

namespace TierSpaces.Engine.Tests.Resiliency.Xor;

/// <summary>Executes <see cref="XorLayout"/>. Only whole stripes are written; it keeps no first-write journal and unmaps nothing.</summary>
internal sealed class XorEngine(EngineParts parts) : ILayoutEngine
{
    private const int Block = SpaceShape.BlockSize;
    private const int Parity = 2;

    internal static readonly LayoutDescriptor Descriptor = new("Xor", static shape => new XorLayout(shape), static parts => new XorEngine(parts));

    private readonly int _interleave = parts.Space.Shape.Interleave;
    private readonly SpaceMembers _members = parts.Space.Members;
    private readonly BufferPool _buffers = parts.Space.Lane.Buffers;

    public int ResyncSize => parts.Space.Shape.RegionSize;

    public long HedgesAsked => 0;

    public long HedgesWon => 0;

    public async LaneTask<IoError> Read(SpaceRow row, StripPiece piece, IoBuffer target) =>
        await ForEachBlock(row, piece, target, heals: false) == IoError.None ? IoError.None : ILayoutEngine.Doubtful;

    public LaneTask<IoError> ReadLocked(SpaceRow row, StripPiece piece, IoBuffer target) => ForEachBlock(row, piece, target, heals: true);

    public async LaneTask<IoError> Write(SpaceRow row, StripPiece piece, IoBuffer source)
    {
        if (piece.Length != 2 * _interleave)
        {
            return IoError.InvalidArgument;
        }

        IoBuffer parity = _buffers.Rent(_interleave);
        Xor(source.Span[.._interleave], source.Span[_interleave..], parity.Span);
        int version = _members.Version;
        LaneTask<IoError>[] writes = [.. Enumerable.Range(0, 3).Select(position => WritePosition(row, position, piece.SlabOffset, Part(position)))];
        int outs = 0;
        for (int position = 0; position < 3; position++)
        {
            IoError error = await writes[position];
            if (error == IoError.None)
            {
                continue;
            }

            if (version == _members.Version)
            {
                await _members.Evict(row.Places[position].Disk, error, parts.Space.Redundancy.HasOther(row, position), "a write");
            }

            ushort region = (ushort)(1 << (piece.SlabOffset / parts.Space.Shape.RegionSize));
            outs += await parts.Stale.MarkStale(row, position, region, new Lack(piece.SlabOffset, _interleave)) == IoError.None ? 1 : 3;
        }

        for (int column = 0; column < 3 && outs <= 1; column++)
        {
            ChecksumPage page = (await parts.Integrity.Load(row, At(piece, column)))!;
            for (int i = 0; i < _interleave / Block; i++)
            {
                page.Set(parts.Integrity.FirstBlock(piece) + i, Crc32c.Compute(Part(column).Span.Slice(i * Block, Block)));
            }

            parts.Changes.Note(page, _interleave / Block);
        }

        _buffers.Return(parity);
        return outs <= 1 ? IoError.None : IoError.Io;

        IoBuffer Part(int position) => position == Parity ? parity : source.Slice(position * _interleave, _interleave);
    }

    public LaneTask<IoError> Zero(SpaceRow row, StripPiece piece) => LaneTask.FromResult(IoError.NotSupported);

    public LaneTask<IoError> Poison(SpaceRow row, StripPiece piece) => LaneTask.FromResult(IoError.NotSupported);

    public LaneTask<IoError> Status(SpaceRow row, StripPiece piece, List<StoreExtent> extents)
    {
        StoreExtent.Append(extents, piece.Length, ExtentState.Data);
        return LaneTask.FromResult(IoError.None);
    }

    public LaneTask<Nothing> Punch(SpaceRow row, int column, int slabOffset, int length) => LaneTask.FromResult(default(Nothing));

    /// <summary>
    /// Data that is there is taken as it is, matching or as an unflushed write; what is out is rebuilt where the rest matches; then the XOR is made again.
    /// </summary>
    public async LaneTask<IoError> Resync(SpaceRow row, int region, int slabOffset, int length)
    {
        int size = parts.Space.Shape.RegionSize;
        IoBuffer buffer = _buffers.Rent(3 * Block);
        List<CapturedEntry> taken = [];
        IoError error = IoError.None;
        for (int at = 0; at < size && error == IoError.None; at += Block)
        {
            error = await ResyncLine(row, (region * size) + at, buffer, taken);
        }

        _buffers.Return(buffer);
        error = error == IoError.None ? await parts.Flusher.FlushDisks() : error;
        parts.Changes.Take(taken);
        error = error == IoError.None && taken.Count > 0 ? await parts.Flusher.Flush() : error;
        for (int column = 0; column < 3 && error == IoError.None; column++)
        {
            parts.Found.RemoveJudged(new StripPiece(row.Index, column, region * size, size));
        }

        return error;
    }

    public async LaneTask<IoError> Rebuild(SpaceRow row, int position, StripPiece stretch, SlabPlace target)
    {
        IoBuffer buffer = _buffers.Rent(Block);
        IoError error = IoError.None;
        for (int at = 0; at < stretch.Length && error == IoError.None; at += Block)
        {
            StripPiece block = stretch with { Column = position, SlabOffset = stretch.SlabOffset + at, Length = Block };
            ChecksumPage? page = await parts.Integrity.Load(row, block);
            if (page is null || page.Generations[parts.Integrity.FirstBlock(block)] != ChecksumSector.NeverWritten)
            {
                error = page is null ? IoError.Io : await Give(row, block, buffer, heals: false);
                error = error == IoError.None ? await _members.WriteOrEvict(target.Disk, target.DataOffset + block.SlabOffset, buffer, true) : error;
            }
        }

        _buffers.Return(buffer);
        return error;
    }

    public async LaneTask<bool> Verify(SpaceRow row, StripPiece stretch, ScrubFindings findings)
    {
        IoBuffer buffer = _buffers.Rent(Block);
        bool matches = true;
        for (int at = 0; at < 3 * stretch.Length && matches; at += Block)
        {
            StripPiece block = stretch with { Column = at / stretch.Length, SlabOffset = stretch.SlabOffset + (at % stretch.Length), Length = Block };
            matches = !IsIn(row, block) || await Own(row, block, buffer);
            findings.NoteVerified();
        }

        _buffers.Return(buffer);
        return matches;
    }

    public async LaneTask<IoError> VerifyLocked(SpaceRow row, StripPiece stretch, ScrubFindings findings)
    {
        IoBuffer buffer = _buffers.Rent(Block);
        for (int at = 0; at < 3 * stretch.Length; at += Block)
        {
            StripPiece block = stretch with { Column = at / stretch.Length, SlabOffset = stretch.SlabOffset + (at % stretch.Length), Length = Block };
            if (IsIn(row, block) && !await Own(row, block, buffer))
            {
                bool isHealed = await Give(row, block, buffer, heals: true) == IoError.None;
                if (isHealed)
                {
                    findings.NoteHealed();
                }
                else
                {
                    findings.NoteLost();
                }
            }
        }

        _buffers.Return(buffer);
        return IoError.None;
    }

    private static StripPiece At(StripPiece piece, int column) => piece with { Column = column };

    private static void Xor(ReadOnlySpan<byte> a, ReadOnlySpan<byte> b, Span<byte> target)
    {
        for (int i = 0; i < target.Length; i++)
        {
            target[i] = (byte)(a[i] ^ b[i]);
        }
    }

    private async LaneTask<IoError> WritePosition(SpaceRow row, int position, int slabOffset, IoBuffer source)
    {
        SlabPlace place = row.Places[position];
        LaneTask<IoError> joining = row.JoiningPosition != position ? LaneTask.FromResult(IoError.None)
            : _members.Write(row.Joining.Disk, row.Joining.DataOffset + slabOffset, source);
        IoError error = await _members.Write(place.Disk, place.DataOffset + slabOffset, source);
        if (await joining != IoError.None)
        {
            row.FailJoining();
        }

        return error;
    }

    private async LaneTask<IoError> ForEachBlock(SpaceRow row, StripPiece piece, IoBuffer target, bool heals)
    {
        IoError error = IoError.None;
        for (int at = 0; at < piece.Length && error == IoError.None; at += Block)
        {
            bool isSecond = piece.Length > _interleave && at >= _interleave;
            StripPiece block = new(piece.Row, isSecond ? 1 : piece.Column, piece.SlabOffset + (at % _interleave), Block);
            error = await Give(row, block, target.Slice(at, Block), heals);
        }

        return error;
    }

    /// <summary>Gives a block from its position, or from the two others.</summary>
    private async LaneTask<IoError> Give(SpaceRow row, StripPiece block, IoBuffer target, bool heals)
    {
        if (IsIn(row, block) && await Own(row, block, target))
        {
            return IoError.None;
        }

        if (await parts.Integrity.Load(row, block) is not { } page || page.Generations[parts.Integrity.FirstBlock(block)] == ChecksumSector.Poisoned)
        {
            return IoError.Io;
        }

        IoBuffer others = _buffers.Rent(2 * Block);
        bool isGiven = await Other(row, At(block, (block.Column + 1) % 3), others.Slice(0, Block))
            && await Other(row, At(block, (block.Column + 2) % 3), others.Slice(Block, Block));
        Xor(others.Span[..Block], others.Span[Block..], target.Span);
        _buffers.Return(others);
        uint entry = page.Checksums[parts.Integrity.FirstBlock(block)];
        bool isEmpty = page.Generations[parts.Integrity.FirstBlock(block)] == ChecksumSector.NeverWritten;
        if (isEmpty)
        {
            target.Span.Clear();
            return IoError.None;
        }

        if (!isGiven || Crc32c.Compute(target.Span) != entry)
        {
            return IoError.Io;
        }

        SlabPlace place = row.Places[block.Column];
        return heals && IsIn(row, block) ? await _members.WriteOrEvict(place.Disk, place.DataOffset + block.SlabOffset, target, true) : IoError.None;
    }

    private async LaneTask<bool> Other(SpaceRow row, StripPiece block, IoBuffer target) => IsIn(row, block) && await Own(row, block, target);

    private bool IsIn(SpaceRow row, StripPiece block) =>
        parts.Space.Redundancy.IsGood(row, block.Column, row.RegionOf(block.Column, block.SlabOffset));

    /// <summary>Reads a block from its position; false if it does not match its entry.</summary>
    private async LaneTask<bool> Own(SpaceRow row, StripPiece block, IoBuffer target)
    {
        ChecksumPage? page = await parts.Integrity.Load(row, block);
        int index = parts.Integrity.FirstBlock(block);
        if (page is null || page.Generations[index] is ChecksumSector.NeverWritten or ChecksumSector.Poisoned)
        {
            target.Span.Clear();
            return page?.Generations[index] == ChecksumSector.NeverWritten;
        }

        SlabPlace place = row.Places[block.Column];
        return await _members.Read(place.Disk, place.DataOffset + block.SlabOffset, target) == IoError.None
            && Crc32c.Compute(target.Span) == page.Checksums[index];
    }

    private async LaneTask<IoError> ResyncLine(SpaceRow row, int slabOffset, IoBuffer buffer, List<CapturedEntry> taken)
    {
        int wrong = 0;
        for (int column = 0; column < 3; column++)
        {
            StripPiece block = new(row.Index, column, slabOffset, Block);
            wrong |= IsIn(row, block) && await Own(row, block, buffer.Slice(column * Block, Block)) ? 0 : 1 << column;
        }

        for (int column = 0; column < 2; column++)
        {
            StripPiece block = new(row.Index, column, slabOffset, Block);
            if ((wrong >> column & 1) != 0 && await Give(row, block, buffer.Slice(column * Block, Block), heals: true) != IoError.None)
            {
                SlabPlace place = row.Places[column];
                if (!IsIn(row, block) || await _members.Read(place.Disk, place.DataOffset + slabOffset, buffer.Slice(column * Block, Block)) != IoError.None)
                {
                    return IoError.Io;
                }

                await Take(row, block, buffer.Slice(column * Block, Block), taken);
            }
        }

        IoBuffer parity = buffer.Slice(Parity * Block, Block);
        StripPiece last = new(row.Index, Parity, slabOffset, Block);
        if (wrong == 0 || !IsIn(row, last))
        {
            return IoError.None;
        }

        Xor(buffer.Span[..Block], buffer.Span.Slice(Block, Block), parity.Span);
        await Take(row, last, parity, taken);
        return await _members.WriteOrEvict(row.Places[Parity].Disk, row.Places[Parity].DataOffset + slabOffset, parity, true);
    }

    private async LaneTask<Nothing> Take(SpaceRow row, StripPiece block, IoBuffer data, List<CapturedEntry> taken)
    {
        ChecksumPage page = (await parts.Integrity.Load(row, block))!;
        page.Pin();
        taken.Add(new CapturedEntry(page, (ushort)parts.Integrity.FirstBlock(block), 0, Crc32c.Compute(data.Span)));
        return default;
    }
}
