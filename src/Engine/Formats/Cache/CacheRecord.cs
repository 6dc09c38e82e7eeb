using System.Buffers.Binary;
using System.Runtime.InteropServices;
using TierSpaces.Engine.Primitives;

namespace TierSpaces.Engine.Formats;

/// <summary>Meaning of a stretch of blocks in a record of a write cache.</summary>
public enum CacheExtentKind : byte
{
    /// <summary>Its data is in the payload.</summary>
    Data = 1,

    /// <summary>Given back: it reads as zeros and needs no room.</summary>
    Unmapped = 2,
}

/// <summary>Blocks of a virtual disk in a record of its write cache.</summary>
/// <param name="Block">First block of 4 KiB.</param>
/// <param name="Count">Blocks, at least 1.</param>
/// <param name="Kind">Meaning of the blocks.</param>
public readonly record struct CacheExtent(long Block, int Count, CacheExtentKind Kind);

/// <summary>
/// Header of one record in the ring of a write cache: a block of 4 KiB, followed by its payload. A record of position p is at p modulo
/// the ring's length behind the anchors and never wraps. Positions count blocks ever upwards. The checksum of the record before links
/// it to the chain, so that records of an abandoned tail never join a later chain. A summary (<see cref="CacheSummary"/>) is a record too.
/// </summary>
/// <param name="Owner">Cache the record belongs to.</param>
/// <param name="Session">Random number of the opening that wrote it.</param>
/// <param name="Position">Position of the record.</param>
/// <param name="Durable">Position below which every record was known durable when it was written.</param>
/// <param name="PreviousChecksum">Checksum of the record before it.</param>
/// <param name="Extents">Number of extents, 1 to <see cref="MaxExtents"/>; of a summary 0.</param>
/// <param name="PayloadBlocks">Blocks of payload, 0 to <see cref="MaxPayloadBlocks"/>.</param>
public readonly record struct CacheRecord(Guid Owner, ulong Session, long Position, long Durable, uint PreviousChecksum, int Extents, int PayloadBlocks)
{
    /// <summary>Size of the header, and of a block of payload, in bytes.</summary>
    public const int BlockSize = 4096;

    /// <summary>Most extents.</summary>
    public const int MaxExtents = 124;

    /// <summary>Most blocks of payload: 1 MiB.</summary>
    public const int MaxPayloadBlocks = 256;

    /// <summary>Offset of the first extent in a header.</summary>
    internal const int ExtentsOffset = 128;

    /// <summary>Bytes of an extent.</summary>
    internal const int ExtentSize = 16;

    /// <summary>Offset of the checksums of the payload in a header.</summary>
    internal const int ChecksumsOffset = ExtentsOffset + (MaxExtents * ExtentSize);

    private const uint Magic = 0x57435354;   // "TSCW"
    private const ushort Version = 1;
    private const ushort SummaryVersion = 2;
    private const int ChecksumOffset = 64;

    /// <summary>Layout of the header, for the documentation.</summary>
    public static readonly IReadOnlyList<(int Offset, int Length, string Name)> Layout =
    [
        (0, 4, "magic \"TSCW\""), (4, 2, "version: 1 a record of writes, 2 a summary"), (6, 2, "extents"), (8, 16, "owner"),
        (24, 8, "session"), (32, 8, "position"), (40, 8, "durable position"), (48, 4, "previous checksum"), (52, 4, "payload blocks"),
        (56, 2, "earlier summaries that a summary names"), (58, 6, "reserved, zero"),
        (64, 4, "CRC32C of the block with this field zero"), (68, 60, "reserved, zero"),
        (128, 1984, "extents of 16: first block (8), blocks (4), kind (1), reserved (3); in a summary earlier summaries of 12: position (8), checksum (4)"),
        (2112, 1024, "CRC32C of each block of payload"), (3136, 960, "reserved, zero"),
    ];

    /// <summary>Blocks of header and payload.</summary>
    public int Blocks => 1 + PayloadBlocks;

    /// <summary>Position behind the record.</summary>
    public long End => Position + Blocks;

    /// <summary>Whether it names the records before it, and holds no blocks.</summary>
    public bool IsSummary => Extents == 0;

    /// <summary>Earlier summaries that a summary names, 0 to <see cref="CacheSummary.MaxEarlier"/>.</summary>
    public int Earlier { get; init; }

    /// <summary>Writes one extent of a header under construction.</summary>
    public static void WriteExtent(Span<byte> header, int index, CacheExtent extent)
    {
        Span<byte> at = header.Slice(ExtentsOffset + (index * ExtentSize), ExtentSize);
        BinaryPrimitives.WriteInt64LittleEndian(at, extent.Block);
        BinaryPrimitives.WriteInt32LittleEndian(at[8..], extent.Count);
        BinaryPrimitives.WriteUInt32LittleEndian(at[12..], (byte)extent.Kind);
    }

    /// <summary>An extent of a header.</summary>
    public static CacheExtent ExtentAt(ReadOnlySpan<byte> header, int index)
    {
        ReadOnlySpan<byte> at = header.Slice(ExtentsOffset + (index * ExtentSize), ExtentSize);
        return new CacheExtent(BinaryPrimitives.ReadInt64LittleEndian(at), BinaryPrimitives.ReadInt32LittleEndian(at[8..]), (CacheExtentKind)at[12]);
    }

    /// <summary>The checksums of the payload's blocks in a header (little-endian, as every machine this runs on).</summary>
    public static Span<uint> Checksums(Span<byte> header) =>
        MemoryMarshal.Cast<byte, uint>(header.Slice(ChecksumsOffset, MaxPayloadBlocks * sizeof(uint)));

    /// <summary>The checksums of the payload's blocks in a header that is only read.</summary>
    internal static ReadOnlySpan<uint> ReadChecksums(ReadOnlySpan<byte> header) =>
        MemoryMarshal.Cast<byte, uint>(header.Slice(ChecksumsOffset, MaxPayloadBlocks * sizeof(uint)));

    /// <summary>Completes a header whose extents and checksums are in place; returns its checksum.</summary>
    public uint Seal(Span<byte> header)
    {
        header[..ExtentsOffset].Clear();
        BinaryPrimitives.WriteUInt32LittleEndian(header, Magic);
        BinaryPrimitives.WriteUInt16LittleEndian(header[4..], IsSummary ? SummaryVersion : Version);
        BinaryPrimitives.WriteUInt16LittleEndian(header[6..], (ushort)Extents);
        Owner.TryWriteBytes(header[8..]);
        BinaryPrimitives.WriteUInt64LittleEndian(header[24..], Session);
        BinaryPrimitives.WriteInt64LittleEndian(header[32..], Position);
        BinaryPrimitives.WriteInt64LittleEndian(header[40..], Durable);
        BinaryPrimitives.WriteUInt32LittleEndian(header[48..], PreviousChecksum);
        BinaryPrimitives.WriteInt32LittleEndian(header[52..], PayloadBlocks);
        BinaryPrimitives.WriteUInt16LittleEndian(header[56..], (ushort)Earlier);
        int extentsEnd = ExtentsOffset + (Extents * ExtentSize) + (Earlier * CacheSummary.EarlierSize);
        header[extentsEnd..ChecksumsOffset].Clear();
        header[(ChecksumsOffset + (PayloadBlocks * sizeof(uint)))..BlockSize].Clear();
        uint checksum = Crc32c.Compute(header[..BlockSize]);
        BinaryPrimitives.WriteUInt32LittleEndian(header[ChecksumOffset..], checksum);
        return checksum;
    }

    /// <summary>The position that a header claims, which may be anything where it is none.</summary>
    public static long PositionIn(ReadOnlySpan<byte> header) => BinaryPrimitives.ReadInt64LittleEndian(header[32..]);

    /// <summary>Reads a header; false when it is not a whole, unharmed record of <paramref name="owner"/> at this position.</summary>
    public static bool TryRead(ReadOnlySpan<byte> header, Guid owner, long position, out CacheRecord record, out uint checksum)
    {
        record = default;
        checksum = BinaryPrimitives.ReadUInt32LittleEndian(header[ChecksumOffset..]);
        int version = BinaryPrimitives.ReadUInt16LittleEndian(header[4..]);
        int extents = BinaryPrimitives.ReadUInt16LittleEndian(header[6..]);
        int earlier = BinaryPrimitives.ReadUInt16LittleEndian(header[56..]);
        int payload = BinaryPrimitives.ReadInt32LittleEndian(header[52..]);
        bool isPossible = version == Version ? extents is >= 1 and <= MaxExtents && earlier == 0
            : version == SummaryVersion && extents == 0 && earlier <= CacheSummary.MaxEarlier;
        if (BinaryPrimitives.ReadUInt32LittleEndian(header) != Magic || !isPossible || payload is < 0 or > MaxPayloadBlocks
            || PositionIn(header) != position || new Guid(header.Slice(8, 16)) != owner
            || ChecksumOf(header) != checksum)
        {
            return false;
        }

        record = new CacheRecord(
            owner, BinaryPrimitives.ReadUInt64LittleEndian(header[24..]), position, BinaryPrimitives.ReadInt64LittleEndian(header[40..]),
            BinaryPrimitives.ReadUInt32LittleEndian(header[48..]), extents, payload) { Earlier = earlier };
        return true;
    }

    /// <summary>Whether the extents of a record make sense together with its payload, on a disk and in a ring of so many blocks.</summary>
    public bool IsSound(ReadOnlySpan<byte> header, long diskBlocks, long ringBlocks)
    {
        if (IsSummary)
        {
            return Durable <= Position && PayloadBlocks is >= 1 and <= CacheSummary.MaxPayloadBlocks;
        }

        int payload = Durable <= Position ? 0 : -1;
        for (int i = 0; i < Extents; i++)
        {
            CacheExtent extent = ExtentAt(header, i);
            if (extent.Kind is < CacheExtentKind.Data or > CacheExtentKind.Unmapped || extent.Block < 0 || extent.Count < 1
                || extent.Count > diskBlocks - extent.Block || extent.Count > ringBlocks
                || (extent.Kind == CacheExtentKind.Data && extent.Count > MaxPayloadBlocks))
            {
                return false;
            }

            payload += extent.Kind == CacheExtentKind.Data ? extent.Count : 0;
        }

        return payload == PayloadBlocks;
    }

    private static uint ChecksumOf(ReadOnlySpan<byte> header)
    {
        uint checksum = Crc32c.Compute(header[..ChecksumOffset]);
        checksum = Crc32c.Compute([0, 0, 0, 0], checksum);
        return Crc32c.Compute(header[(ChecksumOffset + 4)..BlockSize], checksum);
    }
}
