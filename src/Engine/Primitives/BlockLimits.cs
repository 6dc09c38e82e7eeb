using System.Diagnostics.CodeAnalysis;
using System.Numerics;

namespace TierSpaces.Engine.Primitives;

// The limits of a store, kept away from its callers: its block size and its largest transfer.
//
// A request that the store takes as it is passes through without a copy and without a frame of its own. A request that covers a block in
// part is widened: a short one goes through one bounce buffer as a whole; of a long one only the two end blocks do, and the body is
// transferred in place. A transfer above MaxTransfer of the store is cut into parts.
//
// Invariants
//  1. The store sees whole blocks, and no transfer above its MaxTransfer.
//  2. A bounce buffer holds at most BounceMax bytes, however long the request is.
//  3. While changes may cover blocks in part (HasPartChanges), every change of a block holds the block in the range lock: a block that is read
//     and written back never undoes another change. While they may not, nothing is locked.
//  4. A request that is done in several parts is durable after a flush that begins when all parts have completed. The parts themselves
//     carry no ForceUnitAccess. A request that stays one transfer carries it to the store.
//  5. A bounce buffer that cannot be had ends the request alone: no transfer is under way then.
//  6. A request outside the store or its unit is refused as a whole before anything is done.

/// <summary>A store with a smaller unit and a larger transfer than the store below has.</summary>
public sealed class BlockLimits : IBlockStore
{
    /// <summary>Longest stretch, in bytes, that is transferred through a bounce buffer as a whole.</summary>
    public const int BounceMax = 64 << 10;

    private readonly BufferPool _buffers;
    private readonly RangeLock _blocks = new();
    private readonly int _unit;
    private readonly int _block;
    private IBlockStore _below;
    private int _partMax;              // whole blocks of the largest transfer
    private int _bounceMax;
    private bool _hasPartChanges;

    /// <summary>Limits of <paramref name="unit"/> bytes over a store.</summary>
    /// <param name="buffers">Buffers of the lane of the store.</param>
    /// <param name="below">The store.</param>
    /// <param name="unit">Smallest unit of the callers, in bytes: a power of two, at most the block size of the store.</param>
    /// <exception cref="ArgumentOutOfRangeException">The unit is no power of two or larger than a block.</exception>
    public BlockLimits(BufferPool buffers, IBlockStore below, int unit)
    {
        _buffers = buffers;
        _unit = unit;
        _block = below.Geometry.SmallestRequest;
        if (!BitOperations.IsPow2(unit) || unit > _block)
        {
            throw new ArgumentOutOfRangeException(nameof(unit), unit, $"The unit is a power of two, at most the block size of the store ({_block} bytes).");
        }

        _hasPartChanges = unit < _block;
        TakeStore(below);
    }

    /// <summary>
    /// Whether writes, zeroings and unmaps may cover blocks in part: at first if the unit is smaller than a block. If not, those that do are refused, and the
    /// others take no lock.
    /// </summary>
    public bool HasPartChanges
    {
        get => _hasPartChanges;
        init => _hasPartChanges = value;
    }

    /// <summary>Writes and zeroings so far that had to read a block first.</summary>
    public long ReadModifyWrites { get; private set; }

    /// <inheritdoc/>
    public StoreGeometry Geometry => _below.Geometry with { BlockSize = _unit, SmallestRequest = _unit, MaxTransfer = BufferPool.LargestBuffer };

    /// <summary>Changes may cover blocks in part from now on. Called only while no request is under way.</summary>
    public void AllowPartChanges() => _hasPartChanges = true;

    /// <summary>Replaces the store by one of the same block size. Called only while no request is under way.</summary>
    [MemberNotNull(nameof(_below))]
    public void TakeStore(IBlockStore below)
    {
        _below = below;
        _partMax = Math.Max(below.Geometry.MaxTransfer & -_block, _block);
        _bounceMax = Math.Min(BounceMax, _partMax);
    }

    /// <inheritdoc/>
    public void Prefetch(long offset) => _below.Prefetch(offset);

    /// <inheritdoc/>
    public LaneTask<IoError> Read(long offset, IoBuffer target) =>
        IsWhole(offset, target.Length) ? ReadWhole(offset, target)
        : IsOutside(offset, target.Length) ? LaneTask.FromResult(IoError.InvalidArgument)
        : RoundUp(offset + target.Length) - RoundDown(offset) <= _bounceMax ? ReadBounced(offset, target) : ReadEndsBounced(offset, target);

    /// <inheritdoc/>
    public LaneTask<IoError> Write(long offset, IoBuffer source, WriteFlags flags) =>
        HasPartChanges ? WriteLocked(offset, source, flags)
        : IsWhole(offset, source.Length) ? WriteWhole(offset, source, flags) : LaneTask.FromResult(IoError.InvalidArgument);

    /// <inheritdoc/>
    public LaneTask<IoError> Flush() => _below.Flush();

    /// <summary>Gives back the whole blocks of a range. A block that is covered in part keeps its bytes.</summary>
    public LaneTask<IoError> Unmap(long offset, long length) => Unmap(offset, length, WriteFlags.None);

    /// <inheritdoc cref="Unmap(long, long)"/>
    public LaneTask<IoError> Unmap(long offset, long length, WriteFlags flags) =>
        HasPartChanges ? UnmapLocked(offset, length, flags) : _below.Unmap(offset, length, flags);

    /// <inheritdoc/>
    public LaneTask<IoError> WriteZeroes(long offset, long length, WriteFlags flags) =>
        HasPartChanges ? ZeroLocked(offset, length, flags) : _below.WriteZeroes(offset, length, flags);

    /// <inheritdoc/>
    public LaneTask<IoError> Status(long offset, long length, List<StoreExtent> extents) =>
        IsWhole(offset, length) ? _below.Status(offset, length, extents) : StatusOfParts(offset, length, extents);

    private LaneTask<IoError> ReadWhole(long offset, IoBuffer target) =>
        target.Length <= _partMax ? _below.Read(offset, target) : ReadInParts(offset, target);

    private LaneTask<IoError> WriteWhole(long offset, IoBuffer source, WriteFlags flags) =>
        source.Length <= _partMax ? _below.Write(offset, source, flags) : WriteInParts(offset, source, flags);

    private async LaneTask<IoError> ReadInParts(long offset, IoBuffer target)
    {
        IoError error = IsOutside(offset, target.Length) ? IoError.InvalidArgument : IoError.None;
        for (int at = 0; at < target.Length && error == IoError.None; at += _partMax)
        {
            error = await _below.Read(offset + at, target.Slice(at, Math.Min(_partMax, target.Length - at)));
        }

        return error;
    }

    private async LaneTask<IoError> WriteInParts(long offset, IoBuffer source, WriteFlags flags)
    {
        IoError error = IsOutside(offset, source.Length) ? IoError.InvalidArgument : IoError.None;
        for (int at = 0; at < source.Length && error == IoError.None; at += _partMax)
        {
            error = await _below.Write(offset + at, source.Slice(at, Math.Min(_partMax, source.Length - at)), WithoutAccess(flags));
        }

        return error == IoError.None && IsDurable(flags) ? await _below.Flush() : error;
    }

    private async LaneTask<IoError> ReadBounced(long offset, IoBuffer target)
    {
        long first = RoundDown(offset);
        IoBuffer whole = Rent((int)(RoundUp(offset + target.Length) - first)).AllowKeeping();
        IoError error = await _below.Read(first, whole);
        whole = _buffers.Settle(whole);
        whole.Span.Slice((int)(offset - first), target.Length).CopyTo(target.Span);
        _buffers.Return(whole);
        return error;
    }

    private async LaneTask<IoError> ReadEndsBounced(long offset, IoBuffer target)
    {
        Ends ends = new(offset, target.Length, _block);
        IoBuffer blocks = Rent(2 * _block).AllowKeeping();
        WaitGroup group = WaitGroup.Rent();
        AddReads(group, ends, blocks);
        if (ends.Body > 0)
        {
            group.Add(ReadWhole(offset + ends.Head, target.Slice(ends.Head, ends.Body)));
        }

        IoError error = await group.Wait();
        blocks = _buffers.Settle(blocks);
        blocks.Span.Slice(_block - ends.Head, ends.Head).CopyTo(target.Span);
        blocks.Span.Slice(_block, ends.Tail).CopyTo(target.Span[(target.Length - ends.Tail)..]);
        _buffers.Return(blocks);
        return error;
    }

    private async LaneTask<IoError> WriteLocked(long offset, IoBuffer source, WriteFlags flags)
    {
        if (IsOutside(offset, source.Length))
        {
            return IoError.InvalidArgument;
        }

        (long first, long end) = (RoundDown(offset), RoundUp(offset + source.Length));
        LaneTask<Nothing> turn = _blocks.Acquire(first, end);
        bool hasWaited = !turn.IsCompleted;
        await turn;
        try
        {
            return StoreClients.AfterWait(hasWaited, flags) is not IoError.None and var ended ? ended
                : IsWhole(offset, source.Length) ? await WriteWhole(offset, source, flags)
                : end - first <= _bounceMax ? await WriteBounced(offset, source, flags) : await WriteEndsBounced(offset, source, flags);
        }
        finally
        {
            _blocks.Release(first, end);
        }
    }

    /// <summary>The caller holds the blocks.</summary>
    private async LaneTask<IoError> WriteBounced(long offset, IoBuffer source, WriteFlags flags)
    {
        ReadModifyWrites++;
        long first = RoundDown(offset);
        IoBuffer whole = Rent((int)(RoundUp(offset + source.Length) - first));
        Ends ends = new(offset, source.Length, _block);
        WaitGroup group = WaitGroup.Rent();
        if (ends.Head > 0 || whole.Length == _block)
        {
            group.Add(_below.Read(first, whole.Slice(0, _block)));
        }

        if (ends.Tail > 0 && whole.Length > _block)
        {
            group.Add(_below.Read(first + whole.Length - _block, whole.Slice(whole.Length - _block, _block)));
        }

        IoError error = await group.Wait();
        if (error == IoError.None)
        {
            source.Span.CopyTo(whole.Span[(int)(offset - first)..]);
            error = await _below.Write(first, whole, flags);
        }

        _buffers.Return(whole);
        return error;
    }

    /// <summary>The caller holds the blocks.</summary>
    private async LaneTask<IoError> WriteEndsBounced(long offset, IoBuffer source, WriteFlags flags)
    {
        ReadModifyWrites++;
        Ends ends = new(offset, source.Length, _block);
        IoBuffer blocks = Rent(2 * _block);
        WaitGroup group = WaitGroup.Rent();
        AddReads(group, ends, blocks);
        IoError error = await group.Wait();
        if (error == IoError.None)
        {
            source.Span[..ends.Head].CopyTo(blocks.Span[(_block - ends.Head)..]);
            source.Span[(source.Length - ends.Tail)..].CopyTo(blocks.Span[_block..]);
            group = WaitGroup.Rent();
            AddWrites(group, ends, blocks, WithoutAccess(flags));
            if (ends.Body > 0)
            {
                group.Add(WriteWhole(offset + ends.Head, source.Slice(ends.Head, ends.Body), WithoutAccess(flags)));
            }

            error = await group.Wait();
        }

        _buffers.Return(blocks);
        return error == IoError.None && IsDurable(flags) ? await _below.Flush() : error;
    }

    private void AddReads(WaitGroup group, in Ends ends, IoBuffer blocks)
    {
        if (ends.Head > 0)
        {
            group.Add(_below.Read(ends.First, blocks.Slice(0, _block)));
        }

        if (ends.Tail > 0)
        {
            group.Add(_below.Read(ends.Last, blocks.Slice(_block, _block)));
        }
    }

    private void AddWrites(WaitGroup group, in Ends ends, IoBuffer blocks, WriteFlags flags)
    {
        if (ends.Head > 0)
        {
            group.Add(_below.Write(ends.First, blocks.Slice(0, _block), flags));
        }

        if (ends.Tail > 0)
        {
            group.Add(_below.Write(ends.Last, blocks.Slice(_block, _block), flags));
        }
    }

    private async LaneTask<IoError> UnmapLocked(long offset, long length, WriteFlags flags)
    {
        if (IsOutside(offset, length))
        {
            return IoError.InvalidArgument;
        }

        (long first, long end) = (RoundUp(offset), RoundDown(offset + length));
        if (end <= first)
        {
            return IoError.None;
        }

        LaneTask<Nothing> turn = _blocks.Acquire(first, end);
        bool hasWaited = !turn.IsCompleted;
        await turn;
        try
        {
            return StoreClients.AfterWait(hasWaited, flags) is not IoError.None and var ended ? ended : await _below.Unmap(first, end - first, flags);
        }
        finally
        {
            _blocks.Release(first, end);
        }
    }

    private async LaneTask<IoError> ZeroLocked(long offset, long length, WriteFlags flags)
    {
        if (IsOutside(offset, length) || length == 0)
        {
            return length == 0 ? IoError.None : IoError.InvalidArgument;
        }

        (long first, long end) = (RoundDown(offset), RoundUp(offset + length));
        LaneTask<Nothing> turn = _blocks.Acquire(first, end);
        bool hasWaited = !turn.IsCompleted;
        await turn;
        try
        {
            return StoreClients.AfterWait(hasWaited, flags) is not IoError.None and var ended ? ended
                : IsWhole(offset, length) ? await _below.WriteZeroes(offset, length, flags) : await ZeroParts(offset, length, flags);
        }
        finally
        {
            _blocks.Release(first, end);
        }
    }

    /// <summary>Parts of blocks are written as zeros, whole blocks are zeroed. The caller holds the blocks.</summary>
    private async LaneTask<IoError> ZeroParts(long offset, long length, WriteFlags flags)
    {
        long bodyStart = Math.Min(RoundUp(offset), offset + length);
        long bodyEnd = Math.Max(RoundDown(offset + length), bodyStart);
        IoError error = bodyStart > offset ? await ZeroPart(offset, (int)(bodyStart - offset)) : IoError.None;
        if (error == IoError.None && offset + length > bodyEnd)
        {
            error = await ZeroPart(bodyEnd, (int)(offset + length - bodyEnd));
        }

        if (error == IoError.None && bodyEnd > bodyStart)
        {
            error = await _below.WriteZeroes(bodyStart, bodyEnd - bodyStart, WithoutAccess(flags));
        }

        return error == IoError.None && IsDurable(flags) ? await _below.Flush() : error;
    }

    private async LaneTask<IoError> ZeroPart(long offset, int length)
    {
        IoBuffer zeros = Rent(length);
        zeros.Span.Clear();
        IoError error = await WriteBounced(offset, zeros, WriteFlags.None);
        _buffers.Return(zeros);
        return error;
    }

    private async LaneTask<IoError> StatusOfParts(long offset, long length, List<StoreExtent> extents)
    {
        if (IsOutside(offset, length))
        {
            return IoError.InvalidArgument;
        }

        long first = RoundDown(offset);
        List<StoreExtent> whole = [];
        IoError error = await _below.Status(first, RoundUp(offset + length) - first, whole);
        long skip = offset - first;
        foreach (StoreExtent extent in whole)
        {
            long part = Math.Min(extent.Length - Math.Min(skip, extent.Length), length);
            skip -= Math.Min(skip, extent.Length);
            length -= part;
            if (part > 0)
            {
                StoreExtent.Append(extents, part, extent.State);
            }
        }

        return error;
    }

    private IoBuffer Rent(int length)
    {
        try
        {
            return _buffers.Rent(length);
        }
        catch (Exception failure) when (RequestException.MayContain(failure))
        {
            throw new RequestException(failure);
        }
    }

    private bool IsOutside(long offset, long length) =>
        offset < 0 || length < 0 || offset > _below.Geometry.Length - length || ((offset | length) & (_unit - 1)) != 0;

    private bool IsWhole(long offset, long length) => ((offset | length) & (_block - 1)) == 0;

    private long RoundDown(long offset) => offset & -_block;

    private long RoundUp(long offset) => (offset + _block - 1) & -_block;

    private static bool IsDurable(WriteFlags flags) => (flags & WriteFlags.ForceUnitAccess) != 0;

    private static WriteFlags WithoutAccess(WriteFlags flags) => flags & ~WriteFlags.ForceUnitAccess;

    /// <summary>A range cut at the block borders nearest to its ends.</summary>
    private readonly struct Ends
    {
        internal Ends(long offset, int length, int block)
        {
            First = offset & -block;
            Last = (offset + length) & -block;
            Head = (int)Math.Min((block - (offset - First)) & (block - 1), length);
            Tail = Last >= offset + Head ? (int)(offset + length - Last) : 0;
            Body = length - Head - Tail;
        }

        /// <summary>First block.</summary>
        internal long First { get; }

        /// <summary>Last block that is covered in part, if <see cref="Tail"/> is not 0.</summary>
        internal long Last { get; }

        /// <summary>Bytes in a first block that is covered in part; 0: there is none.</summary>
        internal int Head { get; }

        /// <summary>Bytes in a last block that is covered in part; 0: there is none.</summary>
        internal int Tail { get; }

        /// <summary>Bytes in whole blocks between them.</summary>
        internal int Body { get; }
    }
}
