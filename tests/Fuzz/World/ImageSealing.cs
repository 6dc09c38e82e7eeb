using System.Buffers.Binary;
using TierSpaces.Engine.Formats;
using TierSpaces.Engine.Primitives;

namespace TierSpaces.Fuzz;

/// <summary>
/// Makes a changed disk whole again, as far as checksums go: every block's own, the chains of both journals from block to block, and
/// the checksums by which roots and tables of the checkpoint heap name pages. An image that is then refused is refused for its content.
/// </summary>
internal static class ImageSealing
{
    private const int BodyLength = 52;
    private const int PageKind = 64;
    private const int PageContents = 89;
    private const int RootHeader = 28;
    private const int MetadataSequence = 64;
    private const int MetadataPrevious = 80;
    private const int MetadataChain = 84;
    private const int LogSequence = 32;
    private const int LogPrevious = 56;
    private const int LogChecksum = 72;

    /// <summary>Seals one disk.</summary>
    internal static void Seal(PoolImage image, ImageDisk disk, int number)
    {
        foreach (ImageArea area in (ReadOnlySpan<ImageArea>)[ImageArea.Labels, ImageArea.Superblocks])
        {
            Each(image, disk, number, area, static block => Sealing.PoolBlock(block));
        }

        Chain(image, disk, number, ImageArea.Journal, MetadataSequence, MetadataPrevious, MetadataChain, static block => Sealing.MetadataBlock(block));
        Chain(image, disk, number, ImageArea.Log, LogSequence, LogPrevious, LogChecksum, static block => Sealing.JournalBlock(block));
        Each(image, disk, number, ImageArea.ChecksumPages, SealPage);
        Each(image, disk, number, ImageArea.Heap, static block => Sealing.PoolBlock(block));
        foreach (Engine.Formats.PageKind kind in (ReadOnlySpan<Engine.Formats.PageKind>)[Engine.Formats.PageKind.Table, Engine.Formats.PageKind.Root])
        {
            Each(image, disk, number, ImageArea.Heap, block => SealReferences(image, disk, kind, block));
        }
    }

    private static void Each(PoolImage image, ImageDisk disk, int number, ImageArea area, Action<byte[]> seal)
    {
        foreach (long block in image.Areas[(int)area][number])
        {
            seal(disk.Own(block));
        }
    }

    private static void SealPage(byte[] page)
    {
        for (int sector = 0; sector < ChecksumSector.PerPage; sector++)
        {
            Span<byte> bytes = page.AsSpan(sector * ChecksumSector.Size, ChecksumSector.Size);
            if (bytes.ContainsAnyExcept((byte)0))
            {
                Sealing.ChecksumSector(bytes);
            }
        }
    }

    /// <summary>In order of their sequences, every block is sealed after it has been tied to the one before.</summary>
    private static void Chain(
        PoolImage image, ImageDisk disk, int number, ImageArea area, int sequenceAt, int previousAt, int chainAt, Action<byte[]> seal)
    {
        Dictionary<ulong, uint> chains = [];
        foreach (byte[] block in image.Areas[(int)area][number].Select(disk.Own)
            .OrderBy(block => BinaryPrimitives.ReadUInt64LittleEndian(block.AsSpan(sequenceAt))))
        {
            ulong sequence = BinaryPrimitives.ReadUInt64LittleEndian(block.AsSpan(sequenceAt));
            if (chains.TryGetValue(sequence - 1, out uint chain))
            {
                BinaryPrimitives.WriteUInt32LittleEndian(block.AsSpan(previousAt), chain);
            }

            seal(block);
            chains[sequence] = BinaryPrimitives.ReadUInt32LittleEndian(block.AsSpan(chainAt));
        }
    }

    private static void SealReferences(PoolImage image, ImageDisk disk, Engine.Formats.PageKind kind, byte[] block)
    {
        if (block[PageKind] != (byte)kind)
        {
            return;
        }

        Span<byte> contents = Contents(block);
        for (int at = kind == Engine.Formats.PageKind.Root ? RootHeader : 0; at + 8 <= contents.Length; at += 8)
        {
            uint page = BinaryPrimitives.ReadUInt32LittleEndian(contents[at..]);
            if (page < image.Layout.HeapPages && disk.Block(image.Layout.HeapPage(page) / ImageDisk.BlockSize) is { } named)
            {
                BinaryPrimitives.WriteUInt32LittleEndian(contents[(at + 4)..], Crc32c.Compute(Contents(named)));
            }
        }

        Sealing.PoolBlock(block);
    }

    private static Span<byte> Contents(byte[] block)
    {
        int end = PoolBlock.BodyOffset + BinaryPrimitives.ReadInt32LittleEndian(block.AsSpan(BodyLength));
        return end >= PageContents && end <= block.Length ? block.AsSpan(PageContents, end - PageContents) : [];
    }
}
