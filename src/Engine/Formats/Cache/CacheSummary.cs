using System.Buffers.Binary;
using TierSpaces.Engine.Primitives;

namespace TierSpaces.Engine.Formats;

/// <summary>
/// Payload of a summary, a record in the ring of a write cache that repeats the headers of the records before it: an opening reads summaries in place of the
/// records. The payload begins with the number of records (4), the checksum of the record before the first (4) and the position of the first (8). For each
/// record follow its distance from the first in blocks (4), its extents (2), its blocks of payload (2), its checksum (4), then the extents as in its
/// header and the checksums of its payload. In place of extents the header of a summary names earlier summaries, the newest first.
/// </summary>
public static class CacheSummary
{
    /// <summary>Most blocks of payload.</summary>
    public const int MaxPayloadBlocks = 24;

    /// <summary>Most earlier summaries that one names.</summary>
    public const int MaxEarlier = 165;

    /// <summary>Bytes of an earlier summary in a header.</summary>
    internal const int EarlierSize = 12;

    /// <summary>Bytes before the first record.</summary>
    internal const int HeadSize = 32;

    private const int EntrySize = 12;

    /// <summary>Layout of the beginning of the payload, for the documentation.</summary>
    public static readonly IReadOnlyList<(int Offset, int Length, string Name)> Layout =
    [
        (0, 4, "records"), (4, 4, "checksum of the record before the first"), (8, 8, "position of the first"), (16, 16, "reserved, zero"),
        (32, 4064, "records: distance from the first in blocks (4), extents (2), payload blocks (2), checksum (4), extents, checksums of payload"),
    ];

    /// <summary>Returns the bytes that a record takes.</summary>
    internal static int SizeOf(CacheRecord record) => EntrySize + (record.Extents * CacheRecord.ExtentSize) + (record.PayloadBlocks * sizeof(uint));

    /// <summary>Writes a record; <paramref name="first"/> is the position of the first one.</summary>
    internal static void Write(Span<byte> at, long first, CacheRecord record, ReadOnlySpan<byte> header, uint checksum)
    {
        BinaryPrimitives.WriteUInt32LittleEndian(at, (uint)(record.Position - first));
        BinaryPrimitives.WriteUInt16LittleEndian(at[4..], (ushort)record.Extents);
        BinaryPrimitives.WriteUInt16LittleEndian(at[6..], (ushort)record.PayloadBlocks);
        BinaryPrimitives.WriteUInt32LittleEndian(at[8..], checksum);
        int extents = record.Extents * CacheRecord.ExtentSize;
        header.Slice(CacheRecord.ExtentsOffset, extents).CopyTo(at[EntrySize..]);
        header.Slice(CacheRecord.ChecksumsOffset, record.PayloadBlocks * sizeof(uint)).CopyTo(at[(EntrySize + extents)..]);
    }

    /// <summary>Writes the beginning of the payload.</summary>
    internal static void WriteHead(Span<byte> payload, int records, uint before, long first)
    {
        payload[..HeadSize].Clear();
        BinaryPrimitives.WriteInt32LittleEndian(payload, records);
        BinaryPrimitives.WriteUInt32LittleEndian(payload[4..], before);
        BinaryPrimitives.WriteInt64LittleEndian(payload[8..], first);
    }

    /// <summary>Writes an earlier summary into the header of one.</summary>
    internal static void WriteEarlier(Span<byte> header, int index, long position, uint checksum)
    {
        Span<byte> at = header.Slice(CacheRecord.ExtentsOffset + (index * EarlierSize), EarlierSize);
        BinaryPrimitives.WriteInt64LittleEndian(at, position);
        BinaryPrimitives.WriteUInt32LittleEndian(at[8..], checksum);
    }

    /// <summary>An earlier summary that a header names.</summary>
    internal static (long Position, uint Checksum) EarlierAt(ReadOnlySpan<byte> header, int index)
    {
        ReadOnlySpan<byte> at = header.Slice(CacheRecord.ExtentsOffset + (index * EarlierSize), EarlierSize);
        return (BinaryPrimitives.ReadInt64LittleEndian(at), BinaryPrimitives.ReadUInt32LittleEndian(at[8..]));
    }

    /// <summary>Goes through the records of a summary.</summary>
    /// <param name="payload">Payload of the summary.</param>
    internal ref struct Reader(ReadOnlySpan<byte> payload)
    {
        private readonly ReadOnlySpan<byte> _payload = payload;
        private readonly int _records = BinaryPrimitives.ReadInt32LittleEndian(payload);
        private int _next = HeadSize;
        private int _count;
        private int _at;

        /// <summary>Checksum of the record before the first.</summary>
        internal readonly uint Before => BinaryPrimitives.ReadUInt32LittleEndian(_payload[4..]);

        /// <summary>Position of the first record.</summary>
        internal readonly long First => BinaryPrimitives.ReadInt64LittleEndian(_payload[8..]);

        /// <summary>Whether all records were read.</summary>
        internal readonly bool IsAtEnd => _count == _records;

        /// <summary>Position of the record.</summary>
        internal readonly long Position => First + BinaryPrimitives.ReadUInt32LittleEndian(_payload[_at..]);

        /// <summary>Extents of the record.</summary>
        internal readonly int Extents => BinaryPrimitives.ReadUInt16LittleEndian(_payload[(_at + 4)..]);

        /// <summary>Blocks of payload of the record.</summary>
        internal readonly int PayloadBlocks => BinaryPrimitives.ReadUInt16LittleEndian(_payload[(_at + 6)..]);

        /// <summary>Checksum of the header of the record.</summary>
        internal readonly uint Checksum => BinaryPrimitives.ReadUInt32LittleEndian(_payload[(_at + 8)..]);

        /// <summary>Goes on to the next record; false: there is none, or it is not whole.</summary>
        internal bool Read()
        {
            if (_count == _records || _next + EntrySize > _payload.Length)
            {
                return false;
            }

            _at = _next;
            _count++;
            _next += EntrySize + (Extents * CacheRecord.ExtentSize) + (PayloadBlocks * sizeof(uint));
            bool isWhole = Extents is >= 1 and <= CacheRecord.MaxExtents && PayloadBlocks <= CacheRecord.MaxPayloadBlocks && _next <= _payload.Length;
            _count = isWhole ? _count : -1;
            return isWhole;
        }

        /// <summary>Writes the extents and checksums of the record to where a header has them.</summary>
        internal readonly void CopyTo(Span<byte> header)
        {
            int extents = Extents * CacheRecord.ExtentSize;
            _payload.Slice(_at + EntrySize, extents).CopyTo(header[CacheRecord.ExtentsOffset..]);
            _payload.Slice(_at + EntrySize + extents, PayloadBlocks * sizeof(uint)).CopyTo(header[CacheRecord.ChecksumsOffset..]);
        }
    }
}
