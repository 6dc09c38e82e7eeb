using System.Numerics;
using TierSpaces.Engine.Primitives;

namespace TierSpaces.Engine.Formats;

// Where everything is on a member disk, from its size and the pool's slab size alone:
//
//   label A | superblock ring A | journal ring | checkpoint heap | lease area | slabs … | superblock ring B | label B
//
// The end is counted from the size rounded down to 4 KiB. The slabs begin at a multiple of 1 MiB. Journal and heap are whole multiples of 64 KiB, so between
// heap and slabs there are at least 60 KiB on a disk of any size: releases before the lease left them unused.

/// <summary>Byte offsets of the areas of one member disk.</summary>
public readonly record struct DiskLayout
{
    /// <summary>Unit of every area, in bytes.</summary>
    public const int BlockBytes = 4096;

    /// <summary>Slots of a superblock ring, one block each.</summary>
    public const int SuperblockSlots = 64;

    /// <summary>Offset of the first label.</summary>
    public const long LabelA = 0;

    /// <summary>Offset of the first superblock ring.</summary>
    public const long SuperblockRingA = LabelA + BlockBytes;

    /// <summary>Offset of the journal ring.</summary>
    public const long Journal = SuperblockRingA + ((long)SuperblockSlots * BlockBytes);

    private const long Mebibyte = 1L << 20;

    private DiskLayout(long diskBytes, SlabGeometry slabs)
    {
        DiskBytes = diskBytes / BlockBytes * BlockBytes;
        Slabs = slabs;
        JournalBytes = JournalBytesFor(DiskBytes);
        HeapBytes = HeapBytesFor(DiskBytes);
        SlabArea = RoundUp(Journal + JournalBytes + HeapBytes, Mebibyte);
        SlabCount = (uint)Math.Clamp((SuperblockRingB - SlabArea) / slabs.Stride, 0, int.MaxValue);
    }

    /// <summary>Size of the disk in bytes, in whole blocks.</summary>
    public long DiskBytes { get; }

    /// <summary>Shape of the slabs.</summary>
    public SlabGeometry Slabs { get; }

    /// <summary>Bytes of the journal ring.</summary>
    public long JournalBytes { get; }

    /// <summary>Blocks of the journal ring.</summary>
    public int JournalBlocks => (int)(JournalBytes / BlockBytes);

    /// <summary>Offset of the checkpoint heap.</summary>
    public long Heap => Journal + JournalBytes;

    /// <summary>Bytes of the checkpoint heap.</summary>
    public long HeapBytes { get; }

    /// <summary>Pages of the checkpoint heap.</summary>
    public int HeapPages => (int)(HeapBytes / BlockBytes);

    /// <summary>Offset of the lease area, in the room between the heap and the first slab (<see cref="LeaseArea"/>).</summary>
    public long Lease => Heap + HeapBytes;

    /// <summary>Offset of slab 0.</summary>
    public long SlabArea { get; }

    /// <summary>Slabs on the disk.</summary>
    public uint SlabCount { get; }

    /// <summary>Offset of the second superblock ring.</summary>
    public long SuperblockRingB => LabelB - ((long)SuperblockSlots * BlockBytes);

    /// <summary>Offset of the second label.</summary>
    public long LabelB => DiskBytes - BlockBytes;

    /// <summary>Bytes not available for data: areas, checksum pages, and the rest that no slab fits in.</summary>
    public long ReservedBytes => DiskBytes - (SlabCount * Slabs.DataBytes);

    /// <summary>The smallest disk that may be a member, in bytes: the areas and one slab of the smallest size.</summary>
    public static long SmallestDisk
    {
        get
        {
            SlabGeometry slabs = new(SlabGeometry.SmallestSlab);
            long areas = RoundUp(Journal + JournalBytesFor(0) + HeapBytesFor(0), Mebibyte);
            return areas + slabs.Stride + ((SuperblockSlots + 1L) * BlockBytes);
        }
    }

    /// <summary>The layout of a disk of <paramref name="diskBytes"/>, or the reason why it cannot be a member.</summary>
    public static bool TryCreate(long diskBytes, SlabGeometry slabs, out DiskLayout layout, out string reason)
    {
        layout = default;
        reason = "";
        if (!slabs.IsValid)
        {
            reason = $"A slab of {ByteText.Exact(slabs.DataBytes)} is not a power of two from 1 MB to 256 MB.";
            return false;
        }

        layout = new DiskLayout(Math.Max(diskBytes, 0), slabs);
        if (layout.SlabCount > 0)
        {
            return true;
        }

        long needed = layout.SlabArea + slabs.Stride + ((SuperblockSlots + 1L) * BlockBytes);
        reason = $"The disk has {ByteText.Exact(diskBytes)}; its reserved areas and one slab of {ByteText.Exact(slabs.DataBytes)} need {ByteText.Exact(needed)}.";
        return false;
    }

    /// <summary>Offset of a slot of a superblock ring.</summary>
    public static long SuperblockSlot(long ring, ulong epoch) => ring + ((long)(epoch % SuperblockSlots) * BlockBytes);

    /// <summary>Offset of the journal block that holds a sequence.</summary>
    public long JournalBlock(ulong sequence) => Journal + ((long)(sequence % (ulong)JournalBlocks) * BlockBytes);

    /// <summary>Offset of a page of the checkpoint heap.</summary>
    public long HeapPage(uint page) => Heap + ((long)page * BlockBytes);

    /// <summary>Offset of a slab's first checksum page.</summary>
    public long SlabOffset(uint slab) => SlabArea + (slab * Slabs.Stride);

    /// <summary>Offset of a slab's data.</summary>
    public long SlabDataOffset(uint slab) => SlabOffset(slab) + Slabs.ChecksumBytes;

    /// <summary>Bytes of the journal ring: a 1024th of the disk as a power of two, from 256 KiB to 8 MiB.</summary>
    internal static long JournalBytesFor(long diskBytes)
    {
        long target = Math.Clamp(diskBytes / 1024, 256 << 10, 8 * Mebibyte);
        return 1L << BitOperations.Log2((ulong)target);
    }

    /// <summary>
    /// Bytes of the checkpoint heap: a 1024th of the disk, at least 8 MiB; on disks below 512 MiB a 64th, at least 1 MiB.
    /// </summary>
    internal static long HeapBytesFor(long diskBytes)
    {
        long small = Math.Clamp(diskBytes / 64, Mebibyte, 8 * Mebibyte);
        return RoundUp(Math.Max(small, diskBytes / 1024), 64 << 10);
    }

    private static long RoundUp(long value, long unit) => (value + unit - 1) / unit * unit;
}
