using TierSpaces.Engine.Formats;
using TierSpaces.Engine.Lanes;
using TierSpaces.Engine.Primitives;
using TierSpaces.Engine.Resiliency;

namespace TierSpaces.Engine.Caching;

// Lists the blocks that are given up with a lost cache. If the ring was whole when it was opened, the index has all of them. Otherwise the index has
// the records before the damage, and every header that can still be read names blocks of the others.
//
// Invariants
//  1. Every block whose record can be read is named. A block that is already on the backing store may be named too.
//  2. If there may be lost records whose blocks are named nowhere any more, the result says that it is not complete.

/// <summary>Lists the blocks that a lost write cache held.</summary>
internal sealed class CacheSurvey(CacheContext cache, CacheIndex index, ServingRing ring)
{
    private const int BlockSize = CacheRecord.BlockSize;
    private const int SurveyBytes = 256 << 10;

    private readonly ILane _lane = cache.Lane;
    private readonly IBackingStore _backing = cache.Backing;
    private readonly WriteCacheOptions _options = cache.Options;
    private bool _isIndexWhole;   // the index has every record of the ring
    private long _oldest;         // position of the oldest record that is needed, as the opening found it

    /// <summary>Records the position of the oldest record that the opening found.</summary>
    internal void NoteOldest(long position) => _oldest = position;

    /// <summary>The index has every record of the ring: it was recovered whole, or is new.</summary>
    internal void NoteIndexWhole() => _isIndexWhole = true;

    /// <summary>Returns what is given up with a cache that is lost, as far as it can be known. Reads the ring if that is necessary.</summary>
    internal async LaneTask<CacheLoss> Survey()
    {
        HashSet<(long Start, long End)> parts = [.. DirtyBlocks()];
        for (int copy = 0; copy < (ring.Medium?.Copies ?? 0) && !_isIndexWhole; copy++)
        {
            await Survey(ring.Medium!, copy, parts);
        }

        return new CacheLoss(CacheLoss.Merge(parts), _isIndexWhole);
    }

    private async LaneTask<Nothing> Survey(RingMedium medium, int copy, HashSet<(long Start, long End)> parts)
    {
        IoBuffer buffer = _lane.Buffers.Rent(SurveyBytes);
        long end = (long)medium.Blocks * BlockSize;
        for (long at = CacheAnchor.Slots * BlockSize; at < end; at += SurveyBytes)
        {
            IoBuffer part = buffer.Slice(0, (int)Math.Min(SurveyBytes, end - at));
            IoError error = await medium.Read(copy, at, part);
            for (int i = 0; i < part.Length && error == IoError.None; i += BlockSize)
            {
                TakeExtents(part.Span.Slice(i, BlockSize), (at + i) / BlockSize, CacheRing.LengthOf(medium), parts);
            }
        }

        _lane.Buffers.Return(buffer);
        return default;
    }

    /// <summary>Takes the blocks that a block of the ring names, if it is a header that is not known to be of an earlier lap.</summary>
    private void TakeExtents(ReadOnlySpan<byte> header, long block, long length, HashSet<(long Start, long End)> parts)
    {
        if (CacheRecord.PositionIn(header) is var position and >= 0 && position >= _oldest && CacheRing.OffsetOf(position, length) == block * BlockSize
            && CacheRecord.TryRead(header, _options.Owner, position, out CacheRecord record, out _)
            && record.IsSound(header, _backing.Length / BlockSize, length))
        {
            for (int i = 0; i < record.Extents; i++)
            {
                CacheExtent extent = CacheRecord.ExtentAt(header, i);
                parts.Add((extent.Block * BlockSize, (extent.Block + extent.Count) * BlockSize));
            }
        }
    }

    private IEnumerable<(long Start, long End)> DirtyBlocks()
    {
        List<CachedBlock> cached = [];
        index.Collect(0, long.MaxValue / 2, cached);
        return cached.Select(block => (block.Block * BlockSize, (block.Block + 1) * BlockSize));
    }
}
