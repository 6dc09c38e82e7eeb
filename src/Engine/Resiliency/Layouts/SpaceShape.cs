using TierSpaces.Engine.Primitives;

namespace TierSpaces.Engine.Resiliency.Layouts;

/// <summary>
/// The layout of a space: how its address space is cut over columns and made redundant. Simple is one copy, mirror is two or three; parity has one copy
/// and one or two columns of parity. A row of a mirror holds one slab per column and copy: position p = column × copies + copy. A row of parity holds one
/// slab per column.
/// </summary>
/// <param name="Columns">1 to 64.</param>
/// <param name="Copies">1 (simple), 2 or 3 (mirror).</param>
/// <param name="Interleave">Bytes of one strip, a power of two from 16 KiB to 16 MiB, at most the slab size.</param>
/// <param name="SlabSize">Data bytes of one slab, a power of two from 1 MiB to 256 MiB.</param>
/// <param name="Checksums">Whether every block has a checksum entry.</param>
/// <param name="Parities">Columns of parity among <paramref name="Columns"/>: 0 (simple, mirror), 1 or 2.</param>
public readonly record struct SpaceShape(int Columns, int Copies, int Interleave, int SlabSize, bool Checksums, int Parities = 0)
{
    /// <summary>The checksum unit, in bytes.</summary>
    public const int BlockSize = 4096;

    /// <summary>Blocks whose entries are in one checksum page (2 MiB of data).</summary>
    public const int BlocksPerPage = 512;

    /// <summary>Bytes of a checksum page on disk.</summary>
    public const int PageSize = 4096;

    /// <summary>Dirty regions of a slab.</summary>
    public const int RegionsPerSlab = 16;

    /// <summary>Columns of data.</summary>
    public int DataColumns => Columns - Parities;

    /// <summary>
    /// Bytes of a slab's data area that hold data or parity. With parity the rest, whole strips, holds the checksum pages of other columns, so that a lost
    /// disk does not take the entries of its blocks along.
    /// </summary>
    public int UsableSize => (int)ParityGeometry.UsableBytes(SlabSize, Interleave, Parities);

    /// <summary>Logical bytes of one row.</summary>
    public long RowSize => (long)DataColumns * UsableSize;

    /// <summary>Slabs of one row.</summary>
    public int Positions => Columns * Copies;

    /// <summary>Bytes of one dirty region.</summary>
    public int RegionSize => SlabSize / RegionsPerSlab;

    /// <summary>Data bytes covered by one checksum page in this slab size.</summary>
    public int PageSpan => Math.Min(SlabSize, BlocksPerPage * BlockSize);

    /// <summary>Checksum pages of one slab.</summary>
    public int PagesPerSlab => SlabSize / PageSpan;

    /// <summary>Returns the number of a block in its checksum page, from its offset in the slab.</summary>
    public int BlockInPage(int slabOffset) => slabOffset % PageSpan / BlockSize;

    /// <summary>Whether the space keeps an integrity log: for checksums, or to make copies agree after a crash.</summary>
    public bool HasLog => Checksums || Copies > 1 || Parities > 0;
}
