using System.Runtime.CompilerServices;
using TierSpaces.Engine.Primitives;
using TierSpaces.Engine.Resiliency.Layouts;

namespace TierSpaces.Engine.Resiliency;

/// <summary>A record of the first-write journal that a process left.</summary>
/// <param name="Block">Block of the space, by its place in the slabs.</param>
/// <param name="Checksum">CRC32C of the data written.</param>
/// <param name="IsZeroed">The block became never-written here.</param>
/// <param name="Sectors">Checksums of the sectors written; null in records of an earlier version.</param>
internal readonly record struct FirstWriteRecord(long Block, uint Checksum, bool IsZeroed, SectorChecksums? Sectors)
{
    /// <summary>Returns whether each sector of a block is one that a recorded write of the block put there.</summary>
    internal static bool Explain(List<FirstWriteRecord> journal, ReadOnlySpan<byte> block)
    {
        SectorChecksums found = SectorChecksums.Of(block);
        for (int sector = 0; sector < SectorChecksums.Count; sector++)
        {
            bool isRecorded = false;
            foreach (FirstWriteRecord note in journal)
            {
                isRecorded |= note.Sectors is { } sectors && sectors[sector] == found[sector];
            }

            if (!isRecorded)
            {
                return false;
            }
        }

        return true;
    }
}

/// <summary>CRC32C of each 512-byte sector of a block: the unit that a disk may write a part of a block in.</summary>
[InlineArray(Count)]
internal struct SectorChecksums
{
    /// <summary>Sectors of a block.</summary>
    internal const int Count = SpaceShape.BlockSize / Size;

    private const int Size = 512;

    private uint _first;

    /// <summary>Returns the checksums of a block's sectors.</summary>
    internal static SectorChecksums Of(ReadOnlySpan<byte> block)
    {
        SectorChecksums sectors = default;
        for (int i = 0; i < Count; i++)
        {
            sectors[i] = Crc32c.Compute(block.Slice(i * Size, Size));
        }

        return sectors;
    }

    /// <summary>Returns checksums as they were recorded.</summary>
    internal static SectorChecksums From(ReadOnlySpan<uint> noted)
    {
        SectorChecksums sectors = default;
        noted.CopyTo(sectors);
        return sectors;
    }

    /// <summary>Copies the checksums.</summary>
    internal readonly void CopyTo(Span<uint> target) => ((ReadOnlySpan<uint>)this).CopyTo(target);
}
