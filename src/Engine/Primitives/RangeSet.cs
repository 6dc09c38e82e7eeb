namespace TierSpaces.Engine.Primitives;

// Invariant
//  1. The ranges are in ascending order, have a length, and neither overlap nor touch.

/// <summary>A set of addresses, kept as ranges. Adding and taking away cost logarithmic time to find the place, and moving the ranges behind it.</summary>
internal sealed class RangeSet
{
    private readonly List<(long Start, long End)> _ranges = [];

    /// <summary>Ranges in the set.</summary>
    internal int Count => _ranges.Count;

    /// <summary>Adds [<paramref name="start"/>, <paramref name="end"/>).</summary>
    internal void Add(long start, long end)
    {
        Invariant.That(start < end, "A range that is added has a length.");
        int first = FirstEndingAtOrAfter(start);
        int after = first;
        while (after < _ranges.Count && _ranges[after].Start <= end)
        {
            (start, end) = (Math.Min(start, _ranges[after].Start), Math.Max(end, _ranges[after].End));
            after++;
        }

        if (after == first)
        {
            _ranges.Insert(first, (start, end));
            return;
        }

        _ranges[first] = (start, end);
        _ranges.RemoveRange(first + 1, after - first - 1);
    }

    /// <summary>Takes [<paramref name="start"/>, <paramref name="end"/>) out, as far as it is in the set.</summary>
    internal void Remove(long start, long end)
    {
        for (int at = FirstEndingAtOrAfter(start); at < _ranges.Count && _ranges[at].Start < end;)
        {
            (long from, long to) = _ranges[at];
            _ranges.RemoveAt(at);
            if (from < start)
            {
                _ranges.Insert(at++, (from, Math.Min(to, start)));
            }

            if (to > end)
            {
                _ranges.Insert(at++, (Math.Max(from, end), to));
            }
        }
    }

    /// <summary>Takes out the part of the highest range that is in one unit.</summary>
    /// <param name="unit">Bytes of a unit, a power of two; units begin at its multiples.</param>
    /// <param name="start">First address.</param>
    /// <param name="length">Bytes, at most a unit.</param>
    internal bool TryTake(int unit, out long start, out int length)
    {
        (start, length) = (0, 0);
        if (_ranges.Count == 0)
        {
            return false;
        }

        (long first, long end) = _ranges[^1];
        start = Math.Max(first, (end - 1) & ~(unit - 1L));
        length = (int)(end - start);
        _ranges.RemoveAt(_ranges.Count - 1);
        if (start > first)
        {
            _ranges.Add((first, start));
        }

        return true;
    }

    private int FirstEndingAtOrAfter(long address)
    {
        int low = 0;
        int high = _ranges.Count;
        while (low < high)
        {
            int middle = (low + high) / 2;
            (low, high) = _ranges[middle].End < address ? (middle + 1, high) : (low, middle);
        }

        return low;
    }
}
