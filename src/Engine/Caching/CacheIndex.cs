using System.Diagnostics.CodeAnalysis;
using System.Numerics;
using TierSpaces.Engine.Primitives;

namespace TierSpaces.Engine.Caching;

/// <summary>A block of the virtual disk and where the cache has it.</summary>
/// <param name="Block">Block of the virtual disk.</param>
/// <param name="Place">See <see cref="CachePlace"/>.</param>
internal readonly record struct CachedBlock(long Block, CachePlace Place);

/// <summary>Place of the newest version of a cached block: the position of its payload, or of the record that zeroes it.</summary>
internal readonly record struct CachePlace
{
    private readonly long _value;

    internal CachePlace(long position, bool isZero) => _value = (position << 1) | (isZero ? 1L : 0L);

    private CachePlace(long value) => _value = value;

    /// <summary>No place.</summary>
    internal static CachePlace None => new(-1L);

    internal bool IsNone => _value < 0;

    internal bool IsZero => (_value & 1) != 0;

    internal long Position => _value >> 1;
}

// Open addressing with linear probing. Sixteen blocks that follow each other share a cluster, so that a request of 64 KiB stays within a
// few lines of memory.
//
// Invariants
//  1. At most seven of eight slots are taken. It is made with twice as many as the ring has blocks; only blocks of zeros whose data has left
//     the ring can make it more, and HasRoom is asked before blocks are added.
//  2. A key is found between its home slot and the next empty one: removal closes gaps.

/// <summary>Maps the blocks of the virtual disk that a write cache holds to their places. Allocates nothing once made.</summary>
internal sealed class CacheIndex
{
    private const int ClusterBits = 4;
    private const int CountedSlotsMax = 1024;   // larger ones are not counted again at each change

    private long[] _keys;     // block + 1; 0: empty
    private CachePlace[] _places;
    private int _mask;
    private int _shift;

    /// <summary>Room for <paramref name="entries"/> blocks.</summary>
    internal CacheIndex(int entries)
    {
        Make((int)BitOperations.RoundUpToPowerOf2((uint)Math.Max(64, entries * 2)));
    }

    /// <summary>Blocks held.</summary>
    internal int Count { get; private set; }

    /// <summary>Whether so many more blocks can be held without growing.</summary>
    internal bool HasRoom(int blocks) => Count + blocks <= _keys.Length / 8 * 7;

    /// <summary>Returns the place of a block, or none.</summary>
    internal CachePlace Find(long block)
    {
        for (int slot = SlotOf(block); _keys[slot] != 0; slot = (slot + 1) & _mask)
        {
            if (_keys[slot] == block + 1)
            {
                return _places[slot];
            }
        }

        return CachePlace.None;
    }

    /// <summary>Whether any block of a range is held.</summary>
    internal bool HasAny(long block, long count)
    {
        if (count > Count)
        {
            return Count > 0 && HasAnyByScan(block, count);
        }

        for (long i = block; i < block + count; i++)
        {
            if (!Find(i).IsNone)
            {
                return true;
            }
        }

        return false;
    }

    /// <summary>Records the newest place of a block. Returns whether the block was not held before.</summary>
    internal bool Set(long block, CachePlace place)
    {
        int slot = SlotOf(block);
        while (_keys[slot] != 0 && _keys[slot] != block + 1)
        {
            slot = (slot + 1) & _mask;
        }

        bool isNew = _keys[slot] == 0;
        if (isNew && !HasRoom(1))
        {
            Grow();
            return Set(block, place);
        }

        _keys[slot] = block + 1;
        _places[slot] = place;
        Count += isNew ? 1 : 0;
        RequireCount();
        return isNew;
    }

    /// <summary>Forgets a block that is held.</summary>
    internal void Remove(long block)
    {
        int gap = SlotOf(block);
        while (_keys[gap] != block + 1)
        {
            Invariant.That(_keys[gap] != 0, "Only a block that is held is forgotten.");
            gap = (gap + 1) & _mask;
        }

        for (int slot = (gap + 1) & _mask; _keys[slot] != 0; slot = (slot + 1) & _mask)
        {
            int preferred = SlotOf(_keys[slot] - 1);
            if (((slot - preferred) & _mask) >= ((slot - gap) & _mask))
            {
                _keys[gap] = _keys[slot];
                _places[gap] = _places[slot];
                gap = slot;
            }
        }

        _keys[gap] = 0;
        Count--;
        RequireCount();
    }

    private void RequireCount()
    {
        if (Invariant.ChecksCostly && _keys.Length <= CountedSlotsMax)
        {
            Invariant.That(Count == _keys.AsSpan().Length - _keys.AsSpan().Count(0L), "As many blocks are held as slots are taken.");
        }
    }

    /// <summary>Appends the held blocks of a range, in order of address.</summary>
    internal void Collect(long block, long count, List<CachedBlock> found)
    {
        if (count <= Count)
        {
            for (long i = block; i < block + count; i++)
            {
                if (Find(i) is { IsNone: false } place)
                {
                    found.Add(new CachedBlock(i, place));
                }
            }

            return;
        }

        int first = found.Count;
        for (int slot = 0; slot < _keys.Length; slot++)
        {
            if (_keys[slot] - 1 >= block && _keys[slot] - 1 < block + count)
            {
                found.Add(new CachedBlock(_keys[slot] - 1, _places[slot]));
            }
        }

        found.Sort(first, found.Count - first, Comparer<CachedBlock>.Create(static (a, b) => a.Block.CompareTo(b.Block)));
    }

    [MemberNotNull(nameof(_keys), nameof(_places))]
    private void Make(int slots)
    {
        _keys = new long[slots];
        _places = new CachePlace[slots];
        _mask = slots - 1;
        _shift = 64 - BitOperations.Log2((uint)slots) + ClusterBits;
        Count = 0;
    }

    private void Grow()
    {
        (long[] keys, CachePlace[] places) = (_keys, _places);
        Make(keys.Length * 2);
        for (int slot = 0; slot < keys.Length; slot++)
        {
            if (keys[slot] != 0)
            {
                Set(keys[slot] - 1, places[slot]);
            }
        }
    }

    private bool HasAnyByScan(long block, long count)
    {
        foreach (long key in _keys)
        {
            if (key - 1 >= block && key - 1 < block + count)
            {
                return true;
            }
        }

        return false;
    }

    private int SlotOf(long block) =>
        (int)((((ulong)block >> ClusterBits) * 0x9E3779B97F4A7C15UL) >> _shift << ClusterBits | ((ulong)block & ((1 << ClusterBits) - 1))) & _mask;
}
