using TierSpaces.Engine.Formats;
using TierSpaces.Engine.Pools;
using TierSpaces.Engine.Primitives;
using TierSpaces.Engine.Resiliency.Layouts;

namespace TierSpaces.Engine.VirtualDisks;

// Layout of the spaces of virtual disks: shapes, logs, and the reserve of tiers. Pure.
//
// The space of a tier is longer than the tier: slots that slices move to while their old ones are in use; in the
// fastest tier, and in one that came later, also slots that the heat of all slices is kept in; and the rest of the last row. A row of parity
// is not a multiple of a slice: what is left of it is no slot.

/// <summary>Computes the layout of the spaces of a virtual disk.</summary>
public static class VirtualDiskLayout
{
    private const long StripMax = 16 << 20;
    private const long LogBytes = 4 << 20;
    private const int LogBlocksMax = 4096;
    private const int ParityJournalBlocksMax = 16384;
    private const int SpareSlots = 4;
    private const int HeatBytesPerSlice = 9;   // 4 bytes, in two areas, and what goes round them

    /// <summary>Slabs on each log copy that a part of a virtual disk with this slab size needs. With parity its journal is behind the log.</summary>
    public static int LogRows(SlabGeometry slabs, TierDescription part) => (int)Math.Max(1, (part.Parities > 0 ? 2 : 1) * LogBytes / slabs.DataBytes);

    /// <summary>Blocks of 4 KiB of a ring with so many slabs that are the integrity log, and those that are the parity journal.</summary>
    internal static (int Log, int Parity) RingBlocks(int slabs, in SpaceShape shape)
    {
        long blocks = (long)slabs * shape.SlabSize / SpaceShape.BlockSize;
        int log = (int)Math.Min(LogBlocksMax, shape.Parities > 0 ? blocks / 2 : blocks);
        return (log, shape.Parities > 0 ? (int)Math.Min(ParityJournalBlocksMax, blocks - log) : 0);
    }

    /// <summary>Largest strip in bytes, a power of two: at most a slab and 16 MiB, with parity at most a sixteenth of a slab and 2 MiB.</summary>
    public static long InterleaveMax(in SlabGeometry slabs, bool hasParity) =>
        Math.Min(StripMax, hasParity ? ParityGeometry.InterleaveMax(slabs.DataBytes) : slabs.DataBytes);

    /// <summary>Copies of the integrity log: one more than disks may fail, and at least two where the pool has two disks.</summary>
    public static int LogCopies(int copies, int disks) => Math.Max(copies, Math.Min(2, disks));

    internal static bool HasLog(ChecksumKind checksum, int copies) => checksum == ChecksumKind.CRC32C || copies > 1;

    /// <summary>The layout of a virtual disk without tiers.</summary>
    public static SpaceShape ShapeOf(IPoolReader pool, VirtualDiskDescription disk) => ShapeOf(pool, disk, disk.Parts[0]);

    /// <summary>The layout of a part of a virtual disk.</summary>
    public static SpaceShape ShapeOf(IPoolReader pool, VirtualDiskDescription disk, TierDescription part) => ShapeOf(pool.Slabs, disk, part);

    /// <summary>The layout of a part of a virtual disk on slabs of a size.</summary>
    internal static SpaceShape ShapeOf(in SlabGeometry slabs, VirtualDiskDescription disk, TierDescription part) => new(
        part.NumberOfColumns, part.NumberOfDataCopies, (int)part.Interleave, (int)slabs.DataBytes, disk.Checksum == ChecksumKind.CRC32C,
        part.Parities);

    /// <summary>Length of the space of a tier: its size, its reserve, and the rest of its last row; bytes.</summary>
    /// <param name="rowSize">Bytes of a row of its space.</param>
    /// <param name="sliceSize">Bytes of a slice.</param>
    /// <param name="sizeBytes">Size of the tier, a multiple of the slice size.</param>
    /// <param name="diskBytes">Size of the disk when its heat is to have room in the tier, else 0.</param>
    public static long TierSpaceBytes(long rowSize, int sliceSize, long sizeBytes, long diskBytes)
    {
        long slots = (sizeBytes + TierReserveBytes(sliceSize, diskBytes)) / sliceSize;
        long rowSlots = rowSize / sliceSize;
        return (slots + rowSlots - 1) / rowSlots * rowSize;
    }

    /// <summary>Returns the least number of bytes that the space of a tier has beyond its size.</summary>
    public static long TierReserveBytes(int sliceSize, long diskBytes)
    {
        long heat = diskBytes / sliceSize * HeatBytesPerSlice;
        return (SpareSlots + ((heat + sliceSize - 1) / sliceSize) + (heat > 0 ? 1 : 0)) * sliceSize;
    }
}
