using TierSpaces.Engine.Formats;
using TierSpaces.Engine.Primitives;
using TierSpaces.Engine.Resiliency;

namespace TierSpaces.Engine.Caching;

/// <summary>Outcome of the search for a chain.</summary>
internal enum CacheChainState
{
    /// <summary>Found, its end made whole on every live copy and flushed.</summary>
    Recovered,

    /// <summary>No copy could be read: nothing is known.</summary>
    Unreadable,

    /// <summary>A record known durable, or written before the process died, is damaged on every copy.</summary>
    Damaged,

    /// <summary>The same of every copy that is there, and one that may have the record is on a disk that is away.</summary>
    Incomplete,
}

// Finds the records of a ring that are still needed.
//
//  1. The copies are flushed; the newest anchor of any of them names the tail.
//  2. From there header after header, each linked to the one before by its checksum, good on any copy. Each says up to where the records before
//     it are durable: for those the header is enough.
//  3. The payload of those after them is verified too, and the chain ends at the first record that is bad on every copy. They are written again to
//     every live copy, the place behind them is cleared, and both are flushed. Where the end is known from elsewhere nothing is cleared before it.
//  4. Where a summary says what the next records are, their headers are not read. The anchor names the newest summary that was durable; a summary that no
//     copy gives, or that does not continue the chain, is left out.

/// <summary>The chain of records between tail and head, as an opening finds it.</summary>
internal sealed class CacheChain
{
    private const int HeadersMax = 16384;   // kept while nothing says that they are durable: 64 MiB; then the oldest is verified
    private const int FarBlocks = 64;       // from records of this length on reading headers one by one is faster than all that lies between them,
    private const int NearBlocks = 32;      // and down to this length not slower: what is read ahead is not thrown away at every change
    private const int Smoothing = 8;        // records that the typical length is made of

    private readonly BufferPool _buffers;
    private readonly RingMedium _medium;
    private readonly Guid _owner;
    private readonly long _length;
    private readonly RingWindow _window;
    private readonly SummaryReads _summaries;
    private readonly Queue<FoundHeader> _headers = new();   // linked, and not yet known to be durable
    private readonly Stack<byte[]> _spare = new();
    private long _durable;
    private ulong _session;           // that wrote the newest anchor
    private long _linked;             // where the last of them ends
    private uint _linkedChecksum;     // of the last of them
    private bool _isProbe;            // nothing is written
    private int _typicalBlocks = FarBlocks * Smoothing;   // length of records lately, times the smoothing
    private bool _isFar = true;       // headers are read one by one

    private CacheChain(BufferPool buffers, RingMedium medium, WriteCacheOptions options)
    {
        _buffers = buffers;
        _medium = medium;
        _owner = options.Owner;
        _length = CacheRing.LengthOf(medium);
        _window = new RingWindow(buffers, medium);
        _summaries = new SummaryReads(buffers, medium, options.Owner, _length);
        Summary = new RingSummary(buffers, options.SummaryEveryBlocks, CacheRing.PayloadMaxOf(_length));
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

    /// <summary>Summaries whose records were taken without reading their headers.</summary>
    internal int SummariesUsed { get; private set; }

    /// <summary>Checksums of the blocks of the ring, by position modulo length.</summary>
    internal uint[] Checksums { get; }

    /// <summary>The next summary, which the ring of a chain that was found goes on with and releases.</summary>
    internal RingSummary Summary { get; }

    /// <summary>The chain of a new ring: nothing.</summary>
    internal static CacheChain Empty(BufferPool buffers, RingMedium medium, WriteCacheOptions options) => new(buffers, medium, options);

    /// <summary>
    /// Looks for the chain; <paramref name="take"/> gets each record: its header, position and checksum. A chain that ends before the end which the process
    /// that died has stated lacks a record.
    /// </summary>
    internal static async LaneTask<CacheChain> Recover(
        BufferPool buffers, RingMedium medium, WriteCacheOptions options, long diskBlocks, EndStatement? end, TakeRecord take)
    {
        medium.NoteUnflushed();
        bool isStable = await medium.FlushThere() == IoError.None;   // what is read from here on does not change by itself
        if (isStable && medium.IsCopyAway && await IsIncomplete(new CacheChain(buffers, medium, options) { _isProbe = true }, diskBlocks, end))
        {
            return new CacheChain(buffers, medium, options) { State = CacheChainState.Incomplete };
        }

        CacheChain chain = new(buffers, medium, options);
        chain.State = isStable && await chain.FindAnchor(end) ? await chain.Walk(diskBlocks, end, take) : CacheChainState.Unreadable;
        await chain._window.Release();
        await chain._summaries.Release();
        if (chain.State != CacheChainState.Recovered)
        {
            chain.Summary.Release();
        }

        return chain;
    }

    /// <summary>
    /// Whether a record is missing that a copy which is away may have. Nothing is written to find that out: a copy that misses a write is stale from then on.
    /// </summary>
    private static async LaneTask<bool> IsIncomplete(CacheChain probe, long diskBlocks, EndStatement? end)
    {
        bool isIncomplete = await probe.FindAnchor(end) && end?.Required(probe._session) > 0
            && await probe.Walk(diskBlocks, end, static (_, _, _) => { }) == CacheChainState.Incomplete;
        await probe._window.Release();
        await probe._summaries.Release();
        probe.Summary.Release();
        return isIncomplete;
    }

    /// <summary>Takes a record of the chain.</summary>
    internal delegate void TakeRecord(ReadOnlySpan<byte> header, CacheRecord record, uint checksum);

    private async LaneTask<bool> FindAnchor(EndStatement? end)
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
        await _summaries.Find(best.Summary, best.SummaryChecksum, best.Tail, best.Durable);
        Tail = Head = _linked = best.Tail;
        TailChecksum = HeadChecksum = _linkedChecksum = best.PreviousChecksum;
        AnchorNumber = best.Number;
        _session = best.Session;
        _durable = _medium.IsCopyAway ? best.Durable : Math.Max(best.Durable, (long)(end?.Durable(best.Session) ?? 0));   // else payload is verified
        return best.Number > 0;
    }

    private async LaneTask<CacheChainState> Walk(long diskBlocks, EndStatement? end, TakeRecord take)
    {
        IoBuffer record = _buffers.Rent((1 + CacheRing.PayloadMaxOf(_length)) * CacheRecord.BlockSize);
        CacheChainState state = CacheChainState.Recovered;
        while (state == CacheChainState.Recovered)
        {
            if (_headers.Count == 0 && await _summaries.MoveTo(_linked) && TakeSummarized(record, diskBlocks, take))
            {
                continue;
            }

            if (await FindRecord(_linked, record, diskBlocks) is not { } found || found.Header.End > Tail + _length)
            {
                break;   // none, or it would lie over records that are still needed: no record of this lap
            }

            Link(found, record);
            while (_headers.TryPeek(out FoundHeader next) && next.End <= _durable)
            {
                Take(_headers.Dequeue(), take);
            }

            state = _headers.Count > HeadersMax ? await TakeVerified(record, take) ?? CacheChainState.Damaged : state;
        }

        while (state == CacheChainState.Recovered && _headers.Count > 0 && await TakeVerified(record, take) is { } taken)
        {
            state = taken;
        }

        bool isShort = Head < Math.Max(_durable, (long)(end?.Required(_session) ?? 0));
        state = state == CacheChainState.Recovered && isShort ? _isProbe || _medium.IsCopyAway ? CacheChainState.Incomplete : CacheChainState.Damaged : state;
        state = state == CacheChainState.Recovered && Head - Tail < _length && !_isProbe ? await ClearBehind(record) : state;
        _buffers.Return(record);
        return state != CacheChainState.Recovered || _isProbe || await _medium.Flush() == IoError.None ? state : CacheChainState.Unreadable;
    }

    /// <summary>A header that continues the chain: what it says of durability holds for those before it.</summary>
    private void Link((CacheRecord Header, uint Checksum) found, IoBuffer record)
    {
        byte[] copy = _spare.TryPop(out byte[]? spare) ? spare : new byte[CacheRecord.BlockSize];
        record.Span[..CacheRecord.BlockSize].CopyTo(copy);
        _headers.Enqueue(new FoundHeader(found.Header, found.Checksum, copy));
        _durable = Math.Max(_durable, found.Header.Durable);
        _linked = found.Header.End;
        _linkedChecksum = found.Checksum;
        _typicalBlocks += found.Header.Blocks - (_typicalBlocks / Smoothing);
        _isFar = _typicalBlocks >= (_isFar ? NearBlocks : FarBlocks) * Smoothing;
    }

    /// <summary>
    /// The oldest record that no header says to be durable: taken when it is whole on a copy, and written to every copy. Null: the chain ends
    /// before it, or no copy takes it.
    /// </summary>
    private async LaneTask<CacheChainState?> TakeVerified(IoBuffer record, TakeRecord take)
    {
        FoundHeader oldest = _headers.Dequeue();
        oldest.Bytes.CopyTo(record.Span);
        bool isWhole = false;
        for (int copy = 0; copy < _medium.Copies && !isWhole; copy++)
        {
            isWhole = await IsWhole(copy, oldest.Header, record);
        }

        if (!isWhole)
        {
            _headers.Clear();
            return null;
        }

        if (!await MakeWhole(oldest.Header, record))
        {
            return CacheChainState.Unreadable;
        }

        Take(oldest, take);
        return CacheChainState.Recovered;
    }

    private void Take(FoundHeader found, TakeRecord take)
    {
        Accept(found.Bytes, found.Header, found.Checksum, take);
        if (found.Header.IsSummary)
        {
            Summary.Note(found.Header.Position, found.Checksum);
        }
        else
        {
            Summary.Add(found.Bytes, found.Header, found.Checksum);
        }

        _spare.Push(found.Bytes);
    }

    private void Accept(ReadOnlySpan<byte> header, CacheRecord record, uint checksum, TakeRecord take)
    {
        CacheRecord.ReadChecksums(header)[..record.PayloadBlocks].CopyTo(Checksums.AsSpan((int)((record.Position + 1) % _length)));
        take(header, record, checksum);
        Head = record.End;
        HeadChecksum = checksum;
    }

    /// <summary>
    /// Takes the records that the next summary repeats from here on, and the summary. False: it begins further on, or does not continue the chain, and is
    /// not used then.
    /// </summary>
    private bool TakeSummarized(IoBuffer scratch, long diskBlocks, TakeRecord take)
    {
        CacheSummary.Reader records = new(_summaries.Record[CacheRecord.BlockSize..]);
        if (records.First > _linked)
        {
            return false;
        }

        Span<byte> header = scratch.Span[..CacheRecord.BlockSize];
        bool isSound = Continues(ref records, header, diskBlocks);
        records = new(_summaries.Record[CacheRecord.BlockSize..]);
        while (isSound && records.Read())
        {
            if (records.Position >= _linked)
            {
                records.CopyTo(header);
                Accept(header, RecordOf(records, HeadChecksum), records.Checksum, take);
            }
        }

        if (isSound)
        {
            Accept(_summaries.Record[..CacheRecord.BlockSize], _summaries.Header, _summaries.Checksum, take);
            Summary.Note(_summaries.Header.Position, _summaries.Checksum);
            SummariesUsed++;
            (_linked, _linkedChecksum) = (Head, HeadChecksum);
        }

        _summaries.Drop();
        return isSound;
    }

    /// <summary>Whether the records of a summary follow each other, from the end of the chain so far up to the summary, and all of them are durable.</summary>
    private bool Continues(ref CacheSummary.Reader records, Span<byte> header, long diskBlocks)
    {
        long end = records.First;
        uint checksum = records.Before;
        bool isLinked = false;
        while (records.Read())
        {
            CacheRecord record = RecordOf(records, checksum);
            if (!Follows(record.Position, record.Blocks, end) || record.PayloadBlocks > CacheRing.PayloadMaxOf(_length))
            {
                return false;
            }

            records.CopyTo(header);
            isLinked |= end == _linked && checksum == _linkedChecksum;
            if (record.Position >= _linked && (!isLinked || !record.IsSound(header, diskBlocks, _length)))
            {
                return false;
            }

            (end, checksum) = (record.End, records.Checksum);
        }

        isLinked |= end == _linked && checksum == _linkedChecksum;
        CacheRecord summary = _summaries.Header;
        return isLinked && records.IsAtEnd && summary.PreviousChecksum == checksum && Follows(summary.Position, summary.Blocks, end)
            && summary.End <= _durable && summary.End <= Tail + _length;
    }

    /// <summary>Whether a record may be at a position behind records that end at another one.</summary>
    private bool Follows(long position, int blocks, long end)
    {
        long left = _length - (end % _length);
        return position == (left < blocks ? end + left : end);
    }

    private CacheRecord RecordOf(CacheSummary.Reader records, uint previous) =>
        new(_owner, _summaries.Header.Session, records.Position, records.Position, previous, records.Extents, records.PayloadBlocks);

    /// <summary>Clears the block behind the end: an abandoned record there would rejoin the chain if the next, larger one begins at the ring's start.</summary>
    private async LaneTask<CacheChainState> ClearBehind(IoBuffer record)
    {
        record.Span[..CacheRecord.BlockSize].Clear();
        IoError error = await _medium.Write(CacheRing.OffsetOf(Head, _length), record.Slice(0, CacheRecord.BlockSize));
        return error == IoError.None ? CacheChainState.Recovered : CacheChainState.Unreadable;
    }

    /// <summary>The record that follows a position: right there, or at the start of the ring when it did not fit before its end.</summary>
    private async LaneTask<(CacheRecord Header, uint Checksum)?> FindRecord(long position, IoBuffer record, long diskBlocks)
    {
        long wrapped = position + ((_length - (position % _length)) % _length);
        return await FindAt(position, record, diskBlocks, _isFar)
            ?? (wrapped != position ? await FindAt(wrapped, record, diskBlocks, isAlone: true) : null);   // at the end of the chain nothing is there either
    }

    private async LaneTask<(CacheRecord Header, uint Checksum)?> FindAt(long position, IoBuffer record, long diskBlocks, bool isAlone)
    {
        IoBuffer header = record.Slice(0, CacheRecord.BlockSize);
        long offset = CacheRing.OffsetOf(position, _length);
        int first = await _window.CopyAt(offset, isAlone);
        for (int i = 0; i < _medium.Copies; i++)
        {
            int copy = (first + i) % _medium.Copies;
            if (await _window.Read(copy, offset, header)
                && CacheRecord.TryRead(header.Span, _owner, position, out CacheRecord found, out uint checksum)
                && found.PreviousChecksum == _linkedChecksum && found.IsSound(header.Span, diskBlocks, _length)
                && found.PayloadBlocks <= CacheRing.PayloadMaxOf(_length) && (position % _length) + found.Blocks <= _length)
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
    private async LaneTask<bool> MakeWhole(CacheRecord header, IoBuffer record) => _isProbe
        || await _medium.Write(CacheRing.OffsetOf(header.Position, _length), record.Slice(0, header.Blocks * CacheRecord.BlockSize)) == IoError.None;

    private readonly record struct FoundHeader(CacheRecord Header, uint Checksum, byte[] Bytes)
    {
        internal long End => Header.End;
    }
}
