using System.Globalization;
using TierSpaces.Engine.Formats;
using TierSpaces.Engine.Primitives;
using TierSpaces.Engine.Resiliency;

namespace TierSpaces.Engine.Caching;

// Blocks of the ring that no copy can give. The backing store marks them as lost: reads of them fail there, as they failed here, until they are
// written or unmapped. Everything else is destaged as usual.
//
// Invariants
//  1. A block is listed from the moment the backing store has marked it until a write or zeroing of it there succeeds.
//  2. If the backing store cannot mark a block (it has no checksums), nothing more is destaged until the block is written or unmapped.

/// <summary>Blocks of a write cache that were lost on every copy and have not been written since.</summary>
internal sealed class CacheLosses(CacheContext cache)
{
    private const int BlockSize = CacheRecord.BlockSize;
    private const int RangesNamedMax = 4;

    private readonly IBackingStore _backing = cache.Backing;
    private readonly WriteCacheCounters _counters = cache.Counters;
    private readonly SortedSet<long> _lost = [];
    private long _unmarked = -1;   // a lost block that the backing store cannot mark, as the last round found it; -1: none

    /// <summary>Whether a block was lost since the cache was opened and has not been written since.</summary>
    internal bool Any => _lost.Count > 0;

    /// <summary>Begins a round of destaging, which tries again whether the backing store can mark the lost blocks.</summary>
    internal void BeginRound() => _unmarked = -1;

    /// <summary>Marks a block as lost on the backing store.</summary>
    internal async LaneTask<IoError> GiveUp(long block)
    {
        IoError error = await _backing.Poison(block * BlockSize, BlockSize);
        _unmarked = error == IoError.NotSupported ? block : _unmarked;
        if (error == IoError.None)
        {
            _lost.Add(block);
            _counters.NoteLostBytes(BlockSize);
        }

        return error;
    }

    /// <summary>Takes the outcome of a write or zeroing on the backing store, and returns it. Success clears the lost blocks of the range.</summary>
    internal IoError NoteWritten(IoError outcome, long offset, long length)
    {
        if (_lost.Count > 0 && outcome == IoError.None)
        {
            Remove(offset, length);
        }

        return outcome;
    }

    /// <summary>Returns why a round failed.</summary>
    internal string TroubleOf(IoError error) => _unmarked >= 0 ? UnmarkedReason() : $"data cannot be destaged: {error}";

    /// <summary>Returns what is lost, in words; empty if nothing is.</summary>
    internal string Describe()
    {
        if (_lost.Count == 0)
        {
            return "";
        }

        IReadOnlyList<(long Offset, long Length)> ranges = CacheLoss.Merge(_lost.Select(block => (block * BlockSize, (block + 1) * BlockSize)));
        string named = string.Join(
            ", ", ranges.Take(RangesNamedMax).Select(range => ByteText.Range(range.Offset, range.Length)));
        string more = ranges.Count > RangesNamedMax ? ", and more" : "";
        return string.Create(CultureInfo.InvariantCulture,
            $"{ByteText.Exact(_lost.Count * (long)BlockSize)} of it were lost on every copy, and are errors until they are written: {named}{more}");
    }

    /// <summary>A method of its own: what its lambda captures is allocated where the method begins.</summary>
    private void Remove(long offset, long length) =>
        _lost.RemoveWhere(block => block * BlockSize >= offset && block * BlockSize < offset + length);

    private string UnmarkedReason() => string.Create(
        CultureInfo.InvariantCulture,
        $"the {ByteText.Range(_unmarked * BlockSize, BlockSize)} are lost on every copy; without checksums the backing store cannot report that, so destaging stops until they are written or unmapped");
}
