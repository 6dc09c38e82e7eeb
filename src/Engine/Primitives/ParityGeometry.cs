namespace TierSpaces.Engine.Primitives;

/// <summary>Sizes of slabs with parity, in bytes. The pool's records are checked by them, and spaces are laid out by them. Pure.</summary>
public static class ParityGeometry
{
    private const int BlockSize = 4096;
    private const int PageSize = 4096;
    private const int BlocksPerPage = 512;
    private const int RegionsPerSlab = 16;

    /// <summary>Data bytes that one checksum page covers, at most.</summary>
    private const long PageSpanMax = (long)BlocksPerPage * BlockSize;

    /// <summary>Returns the largest strip: a stripe is locked as a whole, and the entries of a strip are in one page and one region.</summary>
    /// <param name="slab">Bytes of a slab.</param>
    public static long InterleaveMax(long slab) => Math.Min(slab / RegionsPerSlab, PageSpanMax);

    /// <summary>Returns the bytes of a slab that hold data or parity. The rest, whole strips, holds checksum pages of other columns.</summary>
    /// <param name="slab">Bytes of a slab.</param>
    /// <param name="interleave">Bytes of a strip.</param>
    /// <param name="parities">Columns of parity; 0: all of the slab.</param>
    public static long UsableBytes(long slab, long interleave, int parities)
    {
        long pages = parities * (slab / Math.Min(slab, PageSpanMax)) * PageSize;
        return slab - ((pages + interleave - 1) / interleave * interleave);
    }
}
