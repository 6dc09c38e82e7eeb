using System.Buffers.Binary;
using TierSpaces.Engine.Formats;
using TierSpaces.Engine.Primitives;

namespace TierSpaces.Fuzz;

/// <summary>Computes the checksums of changed blocks again, as an attacker would.</summary>
internal static class Sealing
{
    private const int PoolBlockChecksum = 48;
    private const int PoolBlockLength = 52;
    private const int ChainPrevious = 80;
    private const int Chain = 84;
    private const int ChainIndex = 88;
    private const int JournalPayload = 92;
    private const int JournalBlockChecksum = 72;
    private const int HeatSnapshotChecksum = 72;

    /// <summary>A block with the common header of pool metadata.</summary>
    internal static void PoolBlock(Span<byte> block) => Reseal(block[..Engine.Formats.PoolBlock.Size], PoolBlockChecksum);

    /// <summary>A block of the metadata journal, chain included.</summary>
    internal static void MetadataBlock(Span<byte> block)
    {
        int end = Engine.Formats.PoolBlock.BodyOffset + BinaryPrimitives.ReadInt32LittleEndian(block[PoolBlockLength..]);
        if (end >= JournalPayload && end <= Engine.Formats.PoolBlock.Size)
        {
            Span<byte> fields = stackalloc byte[20];
            block.Slice(Engine.Formats.PoolBlock.BodyOffset, 16).CopyTo(fields);
            block.Slice(ChainIndex, 4).CopyTo(fields[16..]);
            uint chain = Crc32c.Compute(block[JournalPayload..end], Crc32c.Compute(fields, BinaryPrimitives.ReadUInt32LittleEndian(block[ChainPrevious..])));
            BinaryPrimitives.WriteUInt32LittleEndian(block[Chain..], chain);
        }

        PoolBlock(block);
    }

    /// <summary>A block of a space's journal.</summary>
    internal static void JournalBlock(Span<byte> block) => Reseal(block[..Engine.Formats.JournalBlock.Size], JournalBlockChecksum);

    /// <summary>The blocks of a snapshot of heat.</summary>
    internal static void HeatSnapshot(Span<byte> blocks)
    {
        for (; blocks.Length >= Engine.Formats.HeatSnapshot.BlockSize; blocks = blocks[Engine.Formats.HeatSnapshot.BlockSize..])
        {
            Reseal(blocks[..Engine.Formats.HeatSnapshot.BlockSize], HeatSnapshotChecksum);
        }
    }

    /// <summary>A sector of a checksum page.</summary>
    internal static void ChecksumSector(Span<byte> sector) =>
        BinaryPrimitives.WriteUInt32LittleEndian(sector, Crc32c.Compute(sector[4..Engine.Formats.ChecksumSector.Size]));

    private static void Reseal(Span<byte> block, int checksumAt)
    {
        block.Slice(checksumAt, 4).Clear();
        BinaryPrimitives.WriteUInt32LittleEndian(block[checksumAt..], Crc32c.Compute(block));
    }
}
