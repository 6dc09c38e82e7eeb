using System.Buffers;
using TierSpaces.Engine.Formats;
using TierSpaces.Engine.Primitives;

namespace TierSpaces.Engine.Pools;

/// <summary>Finds the whole blocks in a disk's journal ring.</summary>
internal static class JournalReader
{
    private const int PieceBlocks = 64;

    /// <summary>Reads every whole block of the ring that is in its place. Unreadable blocks are left out, block by block.</summary>
    internal static async LaneTask<List<FoundBlock>> ReadAll(MemberDisk disk)
    {
        List<FoundBlock> found = [];
        byte[] piece = ArrayPool<byte>.Shared.Rent(PieceBlocks * PoolBlock.Size);
        for (int first = 0; first < disk.Layout.JournalBlocks; first += PieceBlocks)
        {
            int blocks = Math.Min(PieceBlocks, disk.Layout.JournalBlocks - first);
            Memory<byte> bytes = piece.AsMemory(0, blocks * PoolBlock.Size);
            bool isWhole = await disk.Read(disk.Layout.JournalBlock((ulong)first), bytes) == IoError.None;
            for (int i = 0; i < blocks; i++)
            {
                Memory<byte> block = bytes.Slice(i * PoolBlock.Size, PoolBlock.Size);
                long offset = disk.Layout.JournalBlock((ulong)(first + i));
                if ((isWhole || await disk.Read(offset, block) == IoError.None) && Decode(disk, offset, block.Span) is { } read)
                {
                    found.Add(read);
                }
            }
        }

        ArrayPool<byte>.Shared.Return(piece);
        return found;
    }

    private static FoundBlock? Decode(MemberDisk disk, long offset, ReadOnlySpan<byte> block) =>
        MetadataBlock.TryDecode(block, disk.Place(offset), out MetadataBlock header, out uint chain, out ReadOnlySpan<byte> payload)
        && disk.Layout.JournalBlock(header.Sequence) == offset
            ? new FoundBlock(disk.Number, header, chain, payload.ToArray())
            : null;
}
