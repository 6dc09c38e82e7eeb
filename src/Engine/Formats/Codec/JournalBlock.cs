using System.Buffers.Binary;
using TierSpaces.Engine.Primitives;

namespace TierSpaces.Engine.Formats;

/// <summary>
/// One 4 KiB block of a journal ring. The block of sequence s is at slot s mod ring length. The session differs between
/// two openings and the previous checksum links a block to the one before, so a block left over from an abandoned tail never
/// joins a later chain.
/// </summary>
/// <param name="Owner">Journal the block belongs to.</param>
/// <param name="Session">Random number of the opening that wrote it.</param>
/// <param name="Sequence">Ever-rising number, from 1.</param>
/// <param name="Durable">Highest sequence known durable when the block was written.</param>
/// <param name="Tail">Oldest sequence still needed when the block was written.</param>
/// <param name="PreviousChecksum">Checksum of the block before it, 0 for the first.</param>
/// <param name="PayloadLength">Bytes of payload, 0 to <see cref="PayloadCapacity"/>.</param>
public readonly record struct JournalBlock(
    Guid Owner, ulong Session, ulong Sequence, ulong Durable, ulong Tail, uint PreviousChecksum, int PayloadLength)
{
    /// <summary>Size of a block in bytes.</summary>
    public const int Size = 4096;

    /// <summary>Offset of the payload.</summary>
    public const int PayloadOffset = 80;

    /// <summary>Largest payload in bytes.</summary>
    public const int PayloadCapacity = Size - PayloadOffset;

    private const uint Magic = 0x4A425354;   // "TSBJ"
    private const ushort Version = 1;
    private const int ChecksumOffset = 72;

    /// <summary>Layout of the block, for the documentation.</summary>
    public static readonly IReadOnlyList<(int Offset, int Length, string Name)> Layout =
    [
        (0, 4, "magic \"TSBJ\""), (4, 2, "version"), (6, 2, "payload length"), (8, 16, "owner"), (24, 8, "session"),
        (32, 8, "sequence"), (40, 8, "durable sequence"), (48, 8, "tail sequence"), (56, 4, "previous checksum"),
        (60, 12, "reserved, zero"), (72, 4, "CRC32C of the block with this field zero"), (76, 4, "reserved, zero"),
        (80, 4016, "payload"),
    ];

    /// <summary>Fills in header and checksum around a payload that is already in place; returns the checksum.</summary>
    public uint Seal(Span<byte> block)
    {
        block[..PayloadOffset].Clear();
        BinaryPrimitives.WriteUInt32LittleEndian(block, Magic);
        BinaryPrimitives.WriteUInt16LittleEndian(block[4..], Version);
        BinaryPrimitives.WriteUInt16LittleEndian(block[6..], (ushort)PayloadLength);
        Owner.TryWriteBytes(block[8..]);
        BinaryPrimitives.WriteUInt64LittleEndian(block[24..], Session);
        BinaryPrimitives.WriteUInt64LittleEndian(block[32..], Sequence);
        BinaryPrimitives.WriteUInt64LittleEndian(block[40..], Durable);
        BinaryPrimitives.WriteUInt64LittleEndian(block[48..], Tail);
        BinaryPrimitives.WriteUInt32LittleEndian(block[56..], PreviousChecksum);
        block.Slice(PayloadOffset + PayloadLength, PayloadCapacity - PayloadLength).Clear();
        uint checksum = Crc32c.Compute(block[..Size]);
        BinaryPrimitives.WriteUInt32LittleEndian(block[ChecksumOffset..], checksum);
        return checksum;
    }

    /// <summary>Reads a block; false when it is not a whole, unharmed block of <paramref name="owner"/>.</summary>
    public static bool TryRead(ReadOnlySpan<byte> block, Guid owner, out JournalBlock header, out uint checksum)
    {
        header = default;
        checksum = BinaryPrimitives.ReadUInt32LittleEndian(block[ChecksumOffset..]);
        int length = BinaryPrimitives.ReadUInt16LittleEndian(block[6..]);
        if (BinaryPrimitives.ReadUInt32LittleEndian(block) != Magic
            || BinaryPrimitives.ReadUInt16LittleEndian(block[4..]) != Version
            || length > PayloadCapacity
            || new Guid(block.Slice(8, 16)) != owner
            || ChecksumOf(block) != checksum)
        {
            return false;
        }

        header = new JournalBlock(
            owner,
            BinaryPrimitives.ReadUInt64LittleEndian(block[24..]),
            BinaryPrimitives.ReadUInt64LittleEndian(block[32..]),
            BinaryPrimitives.ReadUInt64LittleEndian(block[40..]),
            BinaryPrimitives.ReadUInt64LittleEndian(block[48..]),
            BinaryPrimitives.ReadUInt32LittleEndian(block[56..]),
            length);
        return header.Sequence > 0 && header.Tail <= header.Sequence && header.Durable < header.Sequence;
    }

    private static uint ChecksumOf(ReadOnlySpan<byte> block)
    {
        uint checksum = Crc32c.Compute(block[..ChecksumOffset]);
        checksum = Crc32c.Compute([0, 0, 0, 0], checksum);
        return Crc32c.Compute(block[(ChecksumOffset + 4)..Size], checksum);
    }
}
