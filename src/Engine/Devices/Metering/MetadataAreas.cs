namespace TierSpaces.Engine.Devices;

/// <summary>
/// The parts of a member disk that hold metadata: everything before the first slab and behind the last one, and the checksum pages at the beginning of each
/// slab. Integrity logs and write caches are in the data of slabs.
/// </summary>
/// <param name="slabs">Offset of the first slab, in bytes.</param>
/// <param name="stride">Bytes of a slab with its checksum pages.</param>
/// <param name="checksumBytes">Bytes of the checksum pages of a slab.</param>
/// <param name="end">Offset behind the last slab, in bytes.</param>
internal sealed class MetadataAreas(long slabs, long stride, long checksumBytes, long end)
{
    /// <summary>Whether a request that begins at an offset is of metadata: none is of both.</summary>
    internal bool Contains(long offset) => offset < slabs || offset >= end || (offset - slabs) % stride < checksumBytes;
}
