using TierSpaces.Engine.Formats;
using TierSpaces.Engine.Primitives;
using TierSpaces.Engine.Resiliency;

namespace TierSpaces.Engine.Caching;

/// <summary>What became of the search for a chain.</summary>
internal enum CacheChainState
{
    /// <summary>Found, its end made whole on every live copy and flushed.</summary>
    Recovered,

    /// <summary>No copy could be read: nothing is known.</summary>
    Unreadable,

    /// <summary>A record known durable is damaged on every copy.</summary>
    Damaged,
}

// Finds the records of a ring that are still needed.
//
//  1. The copies are flushed; the newest anchor of any of them names the tail.
//  2. From there record after record, each linked to the one before by its checksum, a header good on any copy is enough below the durable
//     position; above it the payload is verified too, and the chain ends at the first record that is bad on every copy.
//  3. The records above the durable position are written again to every live copy, the place behind them is cleared, and both are flushed.

/// <summary>The chain of records between tail and head, as an opening finds it.</summary>
internal sealed class CacheChain
{
    private readonly BufferPool _buffers;
    private readonly RingMedium _medium;
    private readonly Guid _owner;
    private readonly long _length;
    private readonly RingWindow _window;
    private long _durable;

    private CacheChain(BufferPool buffers, RingMedium medium, Guid owner)
    {
        _buffers = buffers;
        _medium = medium;
        _owner = owner;
        _length = CacheRing.LengthOf(medium);
        _window = new RingWindow(buffers, medium);
        Checksums = new uint[_length];
    }

    internal CacheChainState State { get; private set; }

    internal long Tail { get; private set; }

    internal long Head { get; private set; }

    /// <summary>Checksum of the record before the head.</summary>
    internal uint HeadChecksum { get; private set; }

    /// <summary>Checksum of the record before the tail.</summary>
    internal uint TailChecksum { get; private set; }

    internal ulong AnchorNumber { get; private set; }

    /// <summary>Checksums of the blocks of the ring, by position modulo length.</summary>
    internal uint[] Checksums { get; }

    /// <summary>The chain of a new ring: nothing.</summary>
    internal static CacheChain Empty(BufferPool buffers, RingMedium medium, Guid owner) => new(buffers, medium, owner);

    /// <summary>Looks for the chain; <paramref name="take"/> gets each record: its header, position and checksum.</summary>
    internal static async LaneTask<CacheChain> Recover(
        BufferPool buffers, RingMedium medium, Guid owner, long diskBlocks, TakeRecord take)
    {
        CacheChain chain = new(buffers, medium, owner);
        medium.NoteUnflushed();
        bool isStable = await medium.Flush() == IoError.None;   // what is read from here on does not change by itself
        chain.State = isStable && await chain.FindAnchor() ? await chain.Walk(diskBlocks, take) : CacheChainState.Unreadable;
        await chain._window.Release();
        return chain;
    }

    /// <summary>Takes a record of the chain.</summary>
    internal delegate void TakeRecord(ReadOnlySpan<byte> header, CacheRecord record, uint checksum);

    private async LaneTask<bool> FindAnchor()
    {
        CacheAnchor best = default;
        IoBuffer slots = _buffers.Rent(CacheAnchor.Slots * CacheAnchor.Size);
        for (int copy = 0; copy < _medium.Copies; copy++)
        {
            IoError error = await _medium.Read(copy, 0, slots);
            for (int i = 0; i < CacheAnchor.Slots && error == IoError.None; i++)
            {
                bool isNewer = CacheAnchor.TryRead(slots.Span.Slice(i * CacheAnchor.Size, CacheAnchor.Size), _owner, out CacheAnchor anchor)
                    && anchor.Number > best.Number;
                best = isNewer ? anchor : best;
            }
        }

        _buffers.Return(slots);
        Tail = Head = best.Tail;
        TailChecksum = HeadChecksum = best.PreviousChecksum;
        AnchorNumber = best.Number;
        _durable = best.Durable;
        return best.Number > 0;
    }

    private async LaneTask<CacheChainState> Walk(long diskBlocks, TakeRecord take)
    {
        IoBuffer record = _buffers.Rent((1 + CacheRing.PayloadMaxOf(_length)) * CacheRecord.BlockSize);
        CacheChainState state = CacheChainState.Recovered;
        while (await FindRecord(Head, record, diskBlocks) is { } found)
        {
            (CacheRecord header, uint checksum) = found;
            if (header.Position + header.Blocks > Tail + _length)
            {
                break;   // it would lie over records that are still needed: no record of this lap
            }

            _durable = Math.Max(_durable, header.Durable);
            if (header.Position + header.Blocks > _durable && !await MakeWhole(header, record))
            {
                state = CacheChainState.Unreadable;
                break;
            }

            CacheRecord.Checksums(record.Span[..CacheRecord.BlockSize])[..header.PayloadBlocks]
                .CopyTo(Checksums.AsSpan((int)((header.Position + 1) % _length)));
            take(record.Span[..CacheRecord.BlockSize], header, checksum);
            Head = header.Position + header.Blocks;
            HeadChecksum = checksum;
        }

        if (state == CacheChainState.Recovered && Head - Tail < _length)
        {
            // What an abandoned record left here would join the chain again if the next one, larger, begins at the ring's start.
            record.Span[..CacheRecord.BlockSize].Clear();
            IoError error = await _medium.Write(CacheRing.OffsetOf(Head, _length), record.Slice(0, CacheRecord.BlockSize));
            state = error == IoError.None ? state : CacheChainState.Unreadable;
        }

        _buffers.Return(record);
        state = state == CacheChainState.Recovered && Head < _durable ? CacheChainState.Damaged : state;
        return state != CacheChainState.Recovered || await _medium.Flush() == IoError.None ? state : CacheChainState.Unreadable;
    }

    /// <summary>The record that follows a position: right there, or at the start of the ring when it did not fit before its end.</summary>
    private async LaneTask<(CacheRecord Header, uint Checksum)?> FindRecord(long position, IoBuffer record, long diskBlocks)
    {
        long wrapped = position + ((_length - (position % _length)) % _length);
        return await FindAt(position, record, diskBlocks) ?? (wrapped != position ? await FindAt(wrapped, record, diskBlocks) : null);
    }

    private async LaneTask<(CacheRecord Header, uint Checksum)?> FindAt(long position, IoBuffer record, long diskBlocks)
    {
        IoBuffer header = record.Slice(0, CacheRecord.BlockSize);
        long offset = CacheRing.OffsetOf(position, _length);
        int first = await _window.CopyAt(offset);
        for (int i = 0; i < _medium.Copies; i++)
        {
            int copy = (first + i) % _medium.Copies;
            if (await _window.Read(copy, offset, header)
                && CacheRecord.TryRead(header.Span, _owner, position, out CacheRecord found, out uint checksum)
                && found.PreviousChecksum == HeadChecksum && found.IsSound(header.Span, diskBlocks, _length)
                && found.PayloadBlocks <= CacheRing.PayloadMaxOf(_length) && (position % _length) + found.Blocks <= _length
                && (position + found.Blocks <= Math.Max(_durable, found.Durable) || await IsWhole(copy, found, record)))
            {
                return (found, checksum);
            }
        }

        return null;
    }

    private async LaneTask<bool> IsWhole(int copy, CacheRecord found, IoBuffer record)
    {
        IoBuffer payload = record.Slice(CacheRecord.BlockSize, found.PayloadBlocks * CacheRecord.BlockSize);
        if (payload.Length == 0)
        {
            return true;
        }

        IoError error = await _medium.Read(copy, CacheRing.OffsetOf(found.Position, _length) + CacheRecord.BlockSize, payload);
        for (int i = 0; i < found.PayloadBlocks && error == IoError.None; i++)
        {
            uint expected = CacheRecord.Checksums(record.Span[..CacheRecord.BlockSize])[i];
            error = Crc32c.Compute(payload.Span.Slice(i * CacheRecord.BlockSize, CacheRecord.BlockSize)) == expected ? error : IoError.Io;
        }

        return error == IoError.None;
    }

    /// <summary>The record in memory goes to every live copy again: which of them has it already is not asked.</summary>
    private async LaneTask<bool> MakeWhole(CacheRecord header, IoBuffer record) =>
        await _medium.Write(CacheRing.OffsetOf(header.Position, _length), record.Slice(0, header.Blocks * CacheRecord.BlockSize)) == IoError.None;
}
