using TierSpaces.Engine.Formats;
using TierSpaces.Engine.Primitives;

namespace TierSpaces.Engine.Caching;

// Collects what a summary will say: the records since the last one. Records of blocks of zeros may be too many for one: then it begins again with the next
// record, and an opening reads the headers of those before.
//
// Invariants
//  1. The records it collects follow each other in the chain.
//  2. Earlier summaries are named from the newest on, none of them from before the tail.

/// <summary>The next summary of a ring, and the places of earlier ones. Allocates nothing once a ring is full.</summary>
internal sealed class RingSummary
{
    private readonly BufferPool _buffers;
    private readonly int _everyBlocks;
    private readonly int _payloadMax;   // blocks
    private readonly Queue<(long Position, uint Checksum)> _earlier = new();   // oldest first
    private IoBuffer _buffer;
    private int _records;
    private int _bytes = CacheSummary.HeadSize;
    private long _first;
    private long _end;
    private uint _before;

    /// <summary>Makes one for a ring whose records have at most <paramref name="payloadMax"/> blocks of payload.</summary>
    /// <param name="buffers">Memory.</param>
    /// <param name="everyBlocks">Blocks of the ring that a summary repeats, about; 0: none are written.</param>
    /// <param name="payloadMax">Most blocks of payload of a record.</param>
    internal RingSummary(BufferPool buffers, int everyBlocks, int payloadMax)
    {
        _buffers = buffers;
        _everyBlocks = everyBlocks;
        _payloadMax = Math.Min(payloadMax, CacheSummary.MaxPayloadBlocks);
        _buffer = Rent();
    }

    /// <summary>Whether the next record should be a summary.</summary>
    internal bool IsDue => _everyBlocks > 0 && _records > 0 && _end - _first >= _everyBlocks;

    /// <summary>Blocks of the summary, header and payload.</summary>
    internal int Blocks => 1 + PayloadBlocks;

    internal int PayloadBlocks => (_bytes + CacheRecord.BlockSize - 1) / CacheRecord.BlockSize;

    /// <summary>The summary, once sealed.</summary>
    internal IoBuffer Record => _buffer.Slice(0, Blocks * CacheRecord.BlockSize);

    /// <summary>Takes a record of writes that has joined the chain.</summary>
    internal void Add(ReadOnlySpan<byte> header, CacheRecord record, uint checksum)
    {
        if (_everyBlocks == 0)
        {
            return;
        }

        int size = CacheSummary.SizeOf(record);
        if (_bytes + size > _payloadMax * CacheRecord.BlockSize)
        {
            Clear();
            if (_bytes + size > _payloadMax * CacheRecord.BlockSize)
            {
                return;   // a small ring: its record alone is too large for one
            }
        }

        if (_records == 0)
        {
            _first = record.Position;
            _before = record.PreviousChecksum;
        }

        CacheSummary.Write(Payload[_bytes..], _first, record, header, checksum);
        _bytes += size;
        _records++;
        _end = record.End;
    }

    /// <summary>A summary has joined the chain: the next one begins behind it.</summary>
    internal void Note(long position, uint checksum)
    {
        _earlier.Enqueue((position, checksum));
        Clear();
    }

    /// <summary>Returns the newest summary below a position, below which everything is durable; (0, 0): there is none.</summary>
    internal (long Position, uint Checksum) NewestBefore(long durable)
    {
        (long Position, uint Checksum) newest = default;
        foreach ((long Position, uint Checksum) summary in _earlier)
        {
            newest = summary.Position < durable ? summary : newest;
        }

        return newest;
    }

    /// <summary>Forgets the summaries before the tail.</summary>
    internal void Trim(long tail)
    {
        while (_earlier.TryPeek(out (long Position, uint Checksum) oldest) && oldest.Position < tail)
        {
            _earlier.Dequeue();
        }
    }

    /// <summary>Completes the summary as the record of a position; returns its checksum.</summary>
    internal uint Seal(CacheRecord record)
    {
        Span<byte> payload = Payload;
        payload[_bytes..(PayloadBlocks * CacheRecord.BlockSize)].Clear();
        CacheSummary.WriteHead(payload, _records, _before, _first);
        Span<byte> header = _buffer.Span[..CacheRecord.BlockSize];
        int named = 0;
        int skipped = Math.Max(0, _earlier.Count - CacheSummary.MaxEarlier);
        int last = _earlier.Count - skipped - 1;
        foreach ((long position, uint checksum) in _earlier)
        {
            if (skipped-- > 0)
            {
                continue;
            }

            CacheSummary.WriteEarlier(header, last - named++, position, checksum);
        }

        for (int i = 0; i < PayloadBlocks; i++)
        {
            CacheRecord.Checksums(header)[i] = Crc32c.Compute(payload.Slice(i * CacheRecord.BlockSize, CacheRecord.BlockSize));
        }

        return (record with { Earlier = named }).Seal(header);
    }

    internal void Release() => _buffers.Return(_buffer);

    private Span<byte> Payload => _buffer.Span[CacheRecord.BlockSize..];

    /// <summary>Begins again. Memory that a device may still access goes back to the pool, which quarantines it.</summary>
    private void Clear()
    {
        if (_buffers.IsKept(_buffer))
        {
            _buffers.Return(_buffer);
            _buffer = Rent();
        }

        _records = 0;
        _bytes = CacheSummary.HeadSize;
    }

    private IoBuffer Rent() => _buffers.Rent((1 + _payloadMax) * CacheRecord.BlockSize).AllowKeeping();
}
