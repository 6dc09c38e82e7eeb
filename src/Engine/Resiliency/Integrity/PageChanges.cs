using System.Numerics;
using System.Runtime.CompilerServices;
using TierSpaces.Engine.Primitives;

namespace TierSpaces.Engine.Resiliency;

// Entries of a page on their way into the log: changed, then flushing (captured by a round), then pending (appended), then durable.
//
// Invariants
//  1. A block is marked as changed from its change until it is captured, and as flushing from its capture until it is appended or taken back.
//  2. The counts are those of the marks; the count of pending entries is that of the records which are appended and not durable.

/// <summary>Entries of a page that the log lacks.</summary>
internal struct PageChanges
{
    private const int Words = ChecksumPage.Blocks / 64;

    private int _changedCount;
    private int _flushingCount;
    private int _pendingCount;
    private bool _isListed;
    private BlockBits _changed;
    private BlockBits _flushing;

    /// <summary>Whether the log has all entries, durably.</summary>
    internal readonly bool IsEmpty => _changedCount == 0 && _flushingCount == 0 && _pendingCount == 0;

    internal readonly bool IsChanged(int block) => Bit(in _changed, block);

    internal readonly bool IsFlushing(int block) => Bit(in _flushing, block);

    /// <summary>Lists the page for the next capture; false when it is listed.</summary>
    internal bool TryList()
    {
        bool isNew = !_isListed;
        _isListed = true;
        return isNew;
    }

    /// <summary>Takes the page off the list; false when it is not listed.</summary>
    internal bool TryUnlist()
    {
        bool wasListed = _isListed;
        _isListed = false;
        return wasListed;
    }

    /// <summary>A block has changed.</summary>
    internal void Mark(int block)
    {
        if (!Bit(in _changed, block))
        {
            _changed[block >> 6] |= 1UL << (block & 63);
            _changedCount++;
        }

        RequireCounts();
    }

    /// <summary>Drops the pending change of a block: it is not logged.</summary>
    internal void Forget(int block)
    {
        _changedCount -= ClearBit(ref _changed, block);
        _flushingCount -= ClearBit(ref _flushing, block);
        RequireCounts();
    }

    /// <summary>Forgets all that was to be logged; what is appended already becomes durable.</summary>
    internal void ForgetAll()
    {
        _changed = _flushing = default;
        _changedCount = _flushingCount = 0;
    }

    /// <summary>Returns the first changed block from the given one on; the number of blocks when there is none.</summary>
    internal readonly int NextChanged(int block)
    {
        for (int word = block >> 6; word < Words; word++)
        {
            ulong bits = _changed[word] & (word == block >> 6 ? ulong.MaxValue << (block & 63) : ulong.MaxValue);
            if (bits != 0)
            {
                return (word * 64) + BitOperations.TrailingZeroCount(bits);
            }
        }

        return ChecksumPage.Blocks;
    }

    /// <summary>All changed blocks are captured; the page is not listed any more.</summary>
    internal void BeginFlushing()
    {
        _isListed = false;
        for (int word = 0; word < Words; word++)
        {
            _flushing[word] |= _changed[word];
        }

        _changed = default;
        _changedCount = 0;
        _flushingCount = CountOf(in _flushing);
    }

    /// <summary>A captured block was appended, or taken back.</summary>
    internal void EndFlushing(int block)
    {
        _flushingCount -= ClearBit(ref _flushing, block);
        RequireCounts();
    }

    /// <summary>An entry was appended.</summary>
    internal void BeginPending() => _pendingCount++;

    /// <summary>An appended entry is durable.</summary>
    internal void EndPending()
    {
        _pendingCount--;
        Invariant.That(_pendingCount >= 0, "An entry becomes durable once, after it was appended.");
    }

    /// <summary>Prefetches what a change of a block touches into the processor's caches.</summary>
    internal readonly void Prefetch(int block) => ProcessorCache.Prefetch(in _changed[block >> 6]);

    private readonly void RequireCounts()
    {
        if (Invariant.ChecksCostly)
        {
            Invariant.That(_changedCount == CountOf(in _changed) && _flushingCount == CountOf(in _flushing),
                "Changed and flushing blocks are as many as are marked.");
        }
    }

    private static int CountOf(in BlockBits bits)
    {
        int count = 0;
        for (int word = 0; word < Words; word++)
        {
            count += BitOperations.PopCount(bits[word]);
        }

        return count;
    }

    private static bool Bit(in BlockBits bits, int index) => ((bits[index >> 6] >> (index & 63)) & 1) != 0;

    private static int ClearBit(ref BlockBits bits, int index)
    {
        int was = (int)((bits[index >> 6] >> (index & 63)) & 1);
        bits[index >> 6] &= ~(1UL << (index & 63));
        return was;
    }

    [InlineArray(Words)]
    private struct BlockBits
    {
        private ulong _first;
    }
}
