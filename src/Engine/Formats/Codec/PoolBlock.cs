using System.Buffers.Binary;
using TierSpaces.Engine.Primitives;

namespace TierSpaces.Engine.Formats;

/// <summary>Result of reading a block.</summary>
public enum BlockStatus
{
    /// <summary>Whole, in its place, of a known version.</summary>
    Intact,

    /// <summary>Does not begin with the magic number asked for.</summary>
    NotOurs,

    /// <summary>Begins so, but the checksum or the contents are wrong.</summary>
    Damaged,

    /// <summary>Whole, but of another pool, another disk or another place: misdirected, cloned or left over.</summary>
    Misplaced,

    /// <summary>Whole, but written by a newer release.</summary>
    Newer,
}

/// <summary>
/// The header in front of every 4 KiB block of pool metadata: label, superblock, journal block, checkpoint page. It names
/// its kind, pool, disk and own place, so that a block that is stale, cloned or in the wrong place is not believed.
/// </summary>
/// <param name="Pool">Pool the block belongs to.</param>
/// <param name="Disk">Disk the block was written to.</param>
/// <param name="Number">Own place: byte offset on the disk / 4096.</param>
public readonly record struct PoolBlock(PoolId Pool, DiskId Disk, long Number)
{
    /// <summary>Bytes of a block.</summary>
    public const int Size = 4096;

    /// <summary>Offset of the body.</summary>
    public const int BodyOffset = 56;

    /// <summary>Most bytes of body.</summary>
    public const int BodyCapacity = Size - BodyOffset;

    private const int ChecksumOffset = 48;
    private const ushort Version = 1;

    /// <summary>Layout of the header, for the documentation.</summary>
    public static readonly IReadOnlyList<(int Offset, int Length, string Name)> Layout =
    [
        (0, 4, "magic, by kind of block"), (4, 2, "version, 1"), (6, 2, "reserved, zero"), (8, 16, "pool id"), (24, 16, "disk id"),
        (40, 8, "own block number: byte offset on the disk / 4096"), (48, 4, "CRC32C of the block with this field zero"),
        (52, 4, "bytes of body"), (56, 4040, "body, then zeros"),
    ];

    /// <summary>Writes header and body over all of <paramref name="block"/>.</summary>
    public void Seal(Span<byte> block, uint magic, ReadOnlySpan<byte> body)
    {
        block = block[..Size];
        block.Clear();
        BinaryPrimitives.WriteUInt32LittleEndian(block, magic);
        BinaryPrimitives.WriteUInt16LittleEndian(block[4..], Version);
        Pool.Value.TryWriteBytes(block[8..]);
        Disk.Value.TryWriteBytes(block[24..]);
        BinaryPrimitives.WriteInt64LittleEndian(block[40..], Number);
        BinaryPrimitives.WriteInt32LittleEndian(block[52..], body.Length);
        body.CopyTo(block[BodyOffset..]);
        BinaryPrimitives.WriteUInt32LittleEndian(block[ChecksumOffset..], Crc32c.Compute(block));
    }

    /// <summary>Reads a block of a kind at a place, of whatever pool and disk.</summary>
    public static BlockStatus Open(
        ReadOnlySpan<byte> block, uint magic, long number, out PoolBlock header, out ReadOnlySpan<byte> body)
    {
        block = block[..Size];
        header = default;
        body = default;
        if (BinaryPrimitives.ReadUInt32LittleEndian(block) != magic)
        {
            return BlockStatus.NotOurs;
        }

        int length = BinaryPrimitives.ReadInt32LittleEndian(block[52..]);
        if (ChecksumOf(block) != BinaryPrimitives.ReadUInt32LittleEndian(block[ChecksumOffset..]) || (uint)length > BodyCapacity)
        {
            return BlockStatus.Damaged;
        }

        header = new PoolBlock(
            new PoolId(new Guid(block.Slice(8, 16))),
            new DiskId(new Guid(block.Slice(24, 16))),
            BinaryPrimitives.ReadInt64LittleEndian(block[40..]));
        if (BinaryPrimitives.ReadUInt16LittleEndian(block[4..]) != Version)
        {
            return BlockStatus.Newer;
        }

        body = block.Slice(BodyOffset, length);
        return header.Number == number ? BlockStatus.Intact : BlockStatus.Misplaced;
    }

    /// <summary>Reads the body of this very block: the kind, pool, disk and place must all be right.</summary>
    public BlockStatus Open(ReadOnlySpan<byte> block, uint magic, out ReadOnlySpan<byte> body)
    {
        BlockStatus status = Open(block, magic, Number, out PoolBlock header, out body);
        return status == BlockStatus.Intact && header != this ? BlockStatus.Misplaced : status;
    }

    private static uint ChecksumOf(ReadOnlySpan<byte> block)
    {
        uint crc = Crc32c.Compute(block[..ChecksumOffset]);
        crc = Crc32c.Compute(stackalloc byte[4], crc);
        return Crc32c.Compute(block[(ChecksumOffset + 4)..], crc);
    }
}
