using System.Runtime.CompilerServices;
using TierSpaces.Engine.Primitives;
using TierSpaces.Engine.Resiliency.Layouts;

namespace TierSpaces.Engine.Resiliency;

/// <summary>A recorded write of a block.</summary>
/// <param name="Block">Block of the space, by its place in the slabs.</param>
/// <param name="Checksum">CRC32C of the data written.</param>
/// <param name="IsZeroed">The block became never-written here.</param>
/// <param name="IsAcknowledged">The write was acknowledged, or was about to be. Otherwise it was in flight, or had failed.</param>
/// <param name="Sectors">Checksums of the sectors written; null where they were not recorded.</param>
internal readonly record struct WriteRecord(long Block, uint Checksum, bool IsZeroed, bool IsAcknowledged, SectorChecksums? Sectors)
{
    /// <summary>The block is lost from here on, whatever its copies hold.</summary>
    internal bool IsLost { get; init; }

    /// <summary>Whether the record is of data: neither zeroed nor lost.</summary>
    internal bool IsData => !IsZeroed && !IsLost;
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
        for (int i = 0; i < Count; i += 4)
        {
            Crc32c.ComputeFour(block.Slice(i * Size, 4 * Size), sectors[i..(i + 4)]);
        }

        return sectors;
    }

    /// <summary>Returns checksums as they were recorded.</summary>
    internal static SectorChecksums From(ReadOnlySpan<uint> recorded)
    {
        SectorChecksums sectors = default;
        recorded.CopyTo(sectors);
        return sectors;
    }

    /// <summary>Copies the checksums.</summary>
    internal readonly void CopyTo(Span<uint> target) => ((ReadOnlySpan<uint>)this).CopyTo(target);
}
