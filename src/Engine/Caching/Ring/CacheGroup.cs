using TierSpaces.Engine.Formats;
using TierSpaces.Engine.Primitives;

namespace TierSpaces.Engine.Caching;

/// <summary>A record under construction: writes join it until it is written, all of them in one go.</summary>
internal sealed class CacheGroup
{
    private readonly BufferPool _buffers;
    private readonly int _payloadMax;
    private IoBuffer _buffer;

    internal CacheGroup(BufferPool buffers, int payloadMax)
    {
        _buffers = buffers;
        _payloadMax = payloadMax;
        _buffer = Rent();
    }

    internal int Extents { get; private set; }

    internal int PayloadBlocks { get; private set; }

    /// <summary>Header and payload so far, in blocks.</summary>
    internal int Blocks => 1 + PayloadBlocks;

    internal Span<byte> Header => _buffer.Span[..CacheRecord.BlockSize];

    internal IoBuffer Record => _buffer.Slice(0, Blocks * CacheRecord.BlockSize);

    /// <summary>Raised when the record is on every live copy, or could not be brought there.</summary>
    internal LaneSignal Written { get; } = new();

    internal bool HasRoom(int payloadBlocks, int extents) =>
        PayloadBlocks + payloadBlocks <= _payloadMax && Extents + extents <= CacheRecord.MaxExtents;

    /// <summary>Takes a write in: its data is copied, each block with its checksum.</summary>
    internal void Add(long block, IoBuffer source)
    {
        int count = source.Length / CacheRecord.BlockSize;
        Span<uint> checksums = CacheRecord.Checksums(Header).Slice(PayloadBlocks, count);
        Span<byte> payload = _buffer.Span.Slice(Blocks * CacheRecord.BlockSize, source.Length);
        for (int i = 0; i < count; i++)
        {
            Span<byte> from = source.Span.Slice(i * CacheRecord.BlockSize, CacheRecord.BlockSize);
            from.CopyTo(payload[(i * CacheRecord.BlockSize)..]);
            checksums[i] = Crc32c.Compute(from);
        }

        AddExtent(new CacheExtent(block, count, CacheExtentKind.Data));
        PayloadBlocks += count;
    }

    internal void AddZeros(long block, int count) => AddExtent(new CacheExtent(block, count, CacheExtentKind.Unmapped));

    /// <summary>Empties the group for the next record. Memory that a device may still access goes back to the pool, which quarantines it.</summary>
    internal void Reset()
    {
        if (_buffers.IsKept(_buffer))
        {
            _buffers.Return(_buffer);
            _buffer = Rent();
        }

        Extents = 0;
        PayloadBlocks = 0;
    }

    internal void Release() => _buffers.Return(_buffer);

    private void AddExtent(CacheExtent extent) => CacheRecord.WriteExtent(Header, Extents++, extent);

    private IoBuffer Rent() => _buffers.Rent((1 + _payloadMax) * CacheRecord.BlockSize).AllowKeeping();
}
