using System.Numerics;

namespace TierSpaces.Engine.Formats;

/// <summary>
/// Shape of a slab, one per pool. On disk a slab is its checksum pages, then its data:
/// one page of 4 KiB for every 2 MiB of data, at least one.
/// </summary>
/// <param name="DataBytes">Bytes of data in a slab, a power of two from 1 MiB to 256 MiB.</param>
public readonly record struct SlabGeometry(long DataBytes)
{
    /// <summary>Smallest slab, in bytes of data.</summary>
    public const long SmallestSlab = 1L << 20;

    /// <summary>Largest slab, in bytes of data.</summary>
    public const long LargestSlab = 256L << 20;

    /// <summary>Bytes of a checksum page, and of a block.</summary>
    public const int PageBytes = 4096;

    /// <summary>Bytes of data whose entries fill a checksum page.</summary>
    public const long DataBytesPerPage = 2L << 20;

    /// <summary>Number of checksum pages in front of the data.</summary>
    public int ChecksumPages => (int)Math.Max(1, DataBytes / DataBytesPerPage);

    /// <summary>Bytes of the checksum pages.</summary>
    public long ChecksumBytes => (long)ChecksumPages * PageBytes;

    /// <summary>Distance in bytes from one slab to the next.</summary>
    public long Stride => ChecksumBytes + DataBytes;

    /// <summary>Whether the size is one a pool may have.</summary>
    public bool IsValid => DataBytes is >= SmallestSlab and <= LargestSlab && BitOperations.IsPow2(DataBytes);

    /// <summary>The geometry of a pool whose smallest disk has this many bytes: the largest power of two up to a 256th of it.</summary>
    public static SlabGeometry ForSmallestDisk(long sizeBytes)
    {
        long target = Math.Clamp(sizeBytes / 256, SmallestSlab, LargestSlab);
        return new SlabGeometry(1L << BitOperations.Log2((ulong)target));
    }
}
