using System.Buffers.Binary;
using TierSpaces.Engine.Primitives;

namespace TierSpaces.Engine.Formats;

/// <summary>
/// Position of the first record of a write cache that is still needed: a block of 4 KiB in one of the slots before the ring's records, slot = number modulo
/// <see cref="Slots"/>. The newest whole one on any copy counts.
/// </summary>
/// <param name="Owner">Cache it belongs to.</param>
/// <param name="Session">Random number of the opening that wrote it.</param>
/// <param name="Number">Ever-rising, from 1.</param>
/// <param name="Tail">Position of the oldest record still needed; everything before it is durable on the backing store.</param>
/// <param name="Durable">Position below which every record was durable when it was written.</param>
/// <param name="PreviousChecksum">Checksum of the record before the tail.</param>
public readonly record struct CacheAnchor(Guid Owner, ulong Session, ulong Number, long Tail, long Durable, uint PreviousChecksum)
{
    /// <summary>
    /// Position of the newest summary that was durable when it was written, see <see cref="CacheSummary"/>; 0: none, as at 0 there is never a summary.
    /// </summary>
    public long Summary { get; init; }

    /// <summary>Checksum of the header of that summary.</summary>
    public uint SummaryChecksum { get; init; }

    /// <summary>Blocks before the records of a ring.</summary>
    public const int Slots = 8;

    /// <summary>Size in bytes.</summary>
    public const int Size = 4096;

    private const uint Magic = 0x41435354;   // "TSCA"
    private const ushort Version = 1;
    private const int ChecksumOffset = 64;

    /// <summary>Layout, for the documentation.</summary>
    public static readonly IReadOnlyList<(int Offset, int Length, string Name)> Layout =
    [
        (0, 4, "magic \"TSCA\""), (4, 2, "version"), (6, 2, "reserved, zero"), (8, 16, "owner"), (24, 8, "session"), (32, 8, "number"),
        (40, 8, "tail position"), (48, 8, "durable position"), (56, 4, "checksum of the record before the tail"), (60, 4, "reserved, zero"),
        (64, 4, "CRC32C of the block with this field zero"), (68, 4, "checksum of the newest summary"),
        (72, 8, "position of the newest summary, or 0"), (80, 4016, "reserved, zero"),
    ];

    /// <summary>Writes the whole block.</summary>
    public void Encode(Span<byte> block)
    {
        block[..Size].Clear();
        BinaryPrimitives.WriteUInt32LittleEndian(block, Magic);
        BinaryPrimitives.WriteUInt16LittleEndian(block[4..], Version);
        Owner.TryWriteBytes(block[8..]);
        BinaryPrimitives.WriteUInt64LittleEndian(block[24..], Session);
        BinaryPrimitives.WriteUInt64LittleEndian(block[32..], Number);
        BinaryPrimitives.WriteInt64LittleEndian(block[40..], Tail);
        BinaryPrimitives.WriteInt64LittleEndian(block[48..], Durable);
        BinaryPrimitives.WriteUInt32LittleEndian(block[56..], PreviousChecksum);
        BinaryPrimitives.WriteUInt32LittleEndian(block[68..], SummaryChecksum);
        BinaryPrimitives.WriteInt64LittleEndian(block[72..], Summary);
        BinaryPrimitives.WriteUInt32LittleEndian(block[ChecksumOffset..], Crc32c.Compute(block[..Size]));
    }

    /// <summary>Reads a block; false when it is not a whole anchor of <paramref name="owner"/>.</summary>
    public static bool TryRead(ReadOnlySpan<byte> block, Guid owner, out CacheAnchor anchor)
    {
        anchor = default;
        uint checksum = BinaryPrimitives.ReadUInt32LittleEndian(block[ChecksumOffset..]);
        uint own = Crc32c.Compute(block[..ChecksumOffset]);
        own = Crc32c.Compute([0, 0, 0, 0], own);
        own = Crc32c.Compute(block[(ChecksumOffset + 4)..Size], own);
        if (BinaryPrimitives.ReadUInt32LittleEndian(block) != Magic || BinaryPrimitives.ReadUInt16LittleEndian(block[4..]) != Version
            || own != checksum || new Guid(block.Slice(8, 16)) != owner)
        {
            return false;
        }

        anchor = new CacheAnchor(
            owner, BinaryPrimitives.ReadUInt64LittleEndian(block[24..]), BinaryPrimitives.ReadUInt64LittleEndian(block[32..]),
            BinaryPrimitives.ReadInt64LittleEndian(block[40..]), BinaryPrimitives.ReadInt64LittleEndian(block[48..]),
            BinaryPrimitives.ReadUInt32LittleEndian(block[56..]))
        {
            Summary = BinaryPrimitives.ReadInt64LittleEndian(block[72..]),
            SummaryChecksum = BinaryPrimitives.ReadUInt32LittleEndian(block[68..]),
        };
        return anchor.Number > 0 && anchor.Tail >= 0 && anchor.Durable >= anchor.Tail && anchor.Durable < 1L << 60;
    }
}
