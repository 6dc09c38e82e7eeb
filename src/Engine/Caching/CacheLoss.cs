using TierSpaces.Engine.Formats;

namespace TierSpaces.Engine.Caching;

/// <summary>Data that a lost write cache held.</summary>
/// <param name="Ranges">Ranges in bytes, in order of address, none touching the next.</param>
/// <param name="IsComplete">Whether the list is complete. If not, records with unknown ranges are lost too.</param>
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
