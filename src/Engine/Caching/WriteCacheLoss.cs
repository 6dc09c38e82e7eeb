using TierSpaces.Engine.Formats;
using TierSpaces.Engine.Primitives;
using TierSpaces.Engine.Resiliency;

namespace TierSpaces.Engine.Caching;

// What is given up with a cache that is lost. The index knows it where the ring was whole when it was opened; where it was not, the index has
// the records before the damage, and every header that can still be read names blocks of the others. The list may name blocks that are home
// already; it lacks only what no copy can tell any more, and says so.

/// <summary>What a lost write cache held.</summary>
/// <param name="Ranges">Ranges in bytes, in order of address, none touching the next.</param>
/// <param name="IsComplete">Whether nothing else is affected; otherwise records are lost whose ranges nobody knows.</param>
public readonly record struct CacheLoss(IReadOnlyList<(long Offset, long Length)> Ranges, bool IsComplete)
{
    /// <summary>The same in at most so many ranges, each in whole units; a unit that is affected in part is named.</summary>
    public (IReadOnlyList<(long Offset, long Length)> Ranges, long Unit) Coarsened(int most)
    {
        IReadOnlyList<(long Offset, long Length)> ranges = Ranges;
        long unit = CacheRecord.BlockSize;
        while (ranges.Count > most)
        {
            unit *= 2;
            ranges = Merge(ranges.Select(range => (range.Offset / unit * unit, (range.Offset + range.Length + unit - 1) / unit * unit)));
        }

        return (ranges, unit);
    }

    /// <summary>Ranges given by start and end, in order of address, each once.</summary>
    internal static IReadOnlyList<(long Offset, long Length)> Merge(IEnumerable<(long Start, long End)> parts)
    {
        List<(long Offset, long Length)> merged = [];
        foreach ((long start, long end) in parts.Order())
        {
            if (merged.Count > 0 && merged[^1].Offset + merged[^1].Length >= start)
            {
                merged[^1] = (merged[^1].Offset, Math.Max(merged[^1].Length, end - merged[^1].Offset));
            }
            else
            {
                merged.Add((start, end - start));
            }
        }

        return merged;
    }
}

public sealed partial class WriteCache
{
    private const int SurveyBytes = 256 << 10;

    private bool _isIndexWhole;   // the index has every record of the ring
    private long _oldest;         // position of the oldest record that is needed, as the opening found it

    /// <summary>The ranges that are in the ring and not (or not surely) home, in order of address: what is lost with it.</summary>
    public IReadOnlyList<(long Offset, long Length)> DirtyRanges() => CacheLoss.Merge(DirtyBlocks());

    /// <summary>What is given up with a cache that is lost, as far as it can be known. Reads the ring where that is necessary.</summary>
    internal async LaneTask<CacheLoss> Survey()
    {
        HashSet<(long Start, long End)> parts = [.. DirtyBlocks()];
        for (int copy = 0; copy < (_medium?.Copies ?? 0) && !_isIndexWhole; copy++)
        {
            await Survey(_medium!, copy, parts);
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
                TakeExtents(part.Span.Slice(i, BlockSize), (at + i) / BlockSize, parts);
            }
        }

        _lane.Buffers.Return(buffer);
        return default;
    }

    /// <summary>Takes what a block of the ring says, if it is a header that is not known to be of an earlier lap.</summary>
    private void TakeExtents(ReadOnlySpan<byte> header, long block, HashSet<(long Start, long End)> parts)
    {
        long length = CacheRing.LengthOf(_medium!);
        if (CacheRecord.PositionIn(header) is var position and >= 0 && position >= _oldest && CacheRing.OffsetOf(position, length) == block * BlockSize
            && CacheRecord.TryRead(header, _options.Owner, position, out CacheRecord record, out _) && record.IsSound(header, _home.Length / BlockSize, length))
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
        _index.Collect(0, long.MaxValue / 2, cached);
        return cached.Select(block => (block.Block * BlockSize, (block.Block + 1) * BlockSize));
    }
}
