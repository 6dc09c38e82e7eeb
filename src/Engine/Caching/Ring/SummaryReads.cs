using TierSpaces.Engine.Formats;
using TierSpaces.Engine.Primitives;
using TierSpaces.Engine.Resiliency;

namespace TierSpaces.Engine.Caching;

// Finds the summaries of a ring from the newest one, which the anchor names: each names those before it. They are then read from the oldest on, several at
// a time, each from the copies in turn until one gives it whole.

/// <summary>Reads the summaries of a ring at an opening. One that no copy gives is left out.</summary>
internal sealed class SummaryReads(BufferPool buffers, RingMedium medium, Guid owner, long length)
{
    private const int Ahead = 8;   // reads on their way

    private readonly Queue<(long Position, uint Checksum)> _left = new();
    private readonly Queue<Reading> _ahead = new(Ahead);
    private readonly int _bytes = (1 + Math.Min(CacheRing.PayloadMaxOf(length), CacheSummary.MaxPayloadBlocks)) * CacheRecord.BlockSize;
    private int _begun;   // reads: the copies take turns
    private IoBuffer? _current;

    /// <summary>Header of the summary that was read.</summary>
    internal CacheRecord Header { get; private set; }

    /// <summary>Checksum of that header.</summary>
    internal uint Checksum { get; private set; }

    /// <summary>The summary that was read: header and payload.</summary>
    internal ReadOnlySpan<byte> Record => _current!.Value.Span[..(Header.Blocks * CacheRecord.BlockSize)];

    /// <summary>Finds the summaries between two positions.</summary>
    internal async LaneTask<Nothing> Find(long newest, uint checksum, long tail, long durable)
    {
        Stack<(long Position, uint Checksum)> found = new();
        IoBuffer header = buffers.Rent(CacheRecord.BlockSize);
        (long Position, uint Checksum) next = (newest, checksum);
        while (IsBetween(next.Position, found.TryPeek(out (long Position, uint Checksum) later) ? later.Position : durable)
            && await TryReadHeader(next, header) is { } record)
        {
            found.Push(next);
            next = default;
            for (int i = 0; i < record.Earlier; i++)
            {
                (long Position, uint Checksum) earlier = CacheSummary.EarlierAt(header.Span, i);
                if (!IsBetween(earlier.Position, found.Peek().Position))
                {
                    break;
                }

                bool isLast = i == record.Earlier - 1;
                next = isLast ? earlier : next;   // names those before it
                if (!isLast)
                {
                    found.Push(earlier);
                }
            }
        }

        buffers.Return(header);
        while (found.TryPop(out (long Position, uint Checksum) oldest))
        {
            _left.Enqueue(oldest);
        }

        return default;

        bool IsBetween(long position, long end) => position > tail && position < end;
    }

    /// <summary>Moves to the oldest summary behind a position; false: there is none.</summary>
    internal async LaneTask<bool> MoveTo(long position)
    {
        while (_current is null || Header.Position < position)
        {
            Drop();
            while (_left.TryPeek(out (long Position, uint Checksum) passed) && passed.Position < position)
            {
                _left.Dequeue();
            }

            Begin();
            if (!_ahead.TryDequeue(out Reading? first))
            {
                return false;
            }

            await Take(first);
        }

        return true;
    }

    /// <summary>Gives the memory of the summary that was read back: it is used, or of no use.</summary>
    internal void Drop()
    {
        if (_current is { } buffer)
        {
            buffers.Return(buffer);
            _current = null;
        }
    }

    /// <summary>Gives all memory back, once no read is under way.</summary>
    internal async LaneTask<Nothing> Release()
    {
        Drop();
        _left.Clear();
        while (_ahead.TryDequeue(out Reading? next))
        {
            await next.Read;
            buffers.Return(next.Buffer);
        }

        return default;
    }

    private void Begin()
    {
        while (_ahead.Count < Ahead && _left.TryDequeue(out (long Position, uint Checksum) next))
        {
            long room = (length - (next.Position % length)) * CacheRecord.BlockSize;
            IoBuffer buffer = buffers.Rent((int)Math.Min(_bytes, room));
            int copy = _begun++ % medium.Copies;
            _ahead.Enqueue(new Reading(next, copy, buffer, medium.Read(copy, CacheRing.OffsetOf(next.Position, length), buffer)));
        }
    }

    private async LaneTask<Nothing> Take(Reading reading)
    {
        IoError error = await reading.Read;
        bool isWhole = error == IoError.None && IsWhole(reading.Place, reading.Buffer);
        for (int i = 1; i < medium.Copies && !isWhole; i++)
        {
            error = await medium.Read((reading.Copy + i) % medium.Copies, CacheRing.OffsetOf(reading.Place.Position, length), reading.Buffer);
            isWhole = error == IoError.None && IsWhole(reading.Place, reading.Buffer);
        }

        _current = reading.Buffer;
        if (!isWhole)
        {
            Drop();
        }

        return default;
    }

    private bool IsWhole((long Position, uint Checksum) place, IoBuffer record)
    {
        if (!CacheRecord.TryRead(record.Span, owner, place.Position, out CacheRecord header, out uint checksum) || checksum != place.Checksum
            || !header.IsSummary || header.PayloadBlocks < 1 || header.Blocks * CacheRecord.BlockSize > record.Length)
        {
            return false;
        }

        Span<uint> checksums = CacheRecord.Checksums(record.Span[..CacheRecord.BlockSize]);
        for (int i = 0; i < header.PayloadBlocks; i++)
        {
            if (Crc32c.Compute(record.Span.Slice((1 + i) * CacheRecord.BlockSize, CacheRecord.BlockSize)) != checksums[i])
            {
                return false;
            }
        }

        Header = header;
        Checksum = checksum;
        return true;
    }

    private async LaneTask<CacheRecord?> TryReadHeader((long Position, uint Checksum) place, IoBuffer header)
    {
        for (int copy = 0; copy < medium.Copies; copy++)
        {
            if (await medium.Read(copy, CacheRing.OffsetOf(place.Position, length), header) == IoError.None
                && CacheRecord.TryRead(header.Span, owner, place.Position, out CacheRecord found, out uint checksum)
                && checksum == place.Checksum && found.IsSummary)
            {
                return found;
            }
        }

        return null;
    }

    private sealed class Reading((long Position, uint Checksum) place, int copy, IoBuffer buffer, LaneTask<IoError> read)
    {
        internal (long Position, uint Checksum) Place { get; } = place;

        internal int Copy { get; } = copy;

        internal IoBuffer Buffer { get; } = buffer;

        internal LaneTask<IoError> Read { get; } = read;
    }
}
