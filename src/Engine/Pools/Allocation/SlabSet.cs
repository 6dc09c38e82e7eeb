namespace TierSpaces.Engine.Pools;

/// <summary>
/// Numbers of slabs of one disk, in words of 64: a search for a free slab passes over full words, so many reservations of a large disk stay cheap.
/// </summary>
internal sealed class SlabSet
{
    private const uint BitsPerWord = 64;

    private readonly Dictionary<uint, ulong> _words;

    /// <summary>An empty set.</summary>
    internal SlabSet()
        : this([], 0)
    {
    }

    private SlabSet(Dictionary<uint, ulong> words, int count) => (_words, Count) = (words, count);

    /// <summary>Number of slabs in the set.</summary>
    internal int Count { get; private set; }

    /// <summary>Returns a set of the same slabs. Takes time in proportion to their words.</summary>
    internal SlabSet Copy() => new(_words.Where(static word => word.Value != 0).ToDictionary(), Count);

    /// <summary>Slabs 64 × <paramref name="index"/> and up, a bit for each.</summary>
    internal ulong Word(uint index) => _words.GetValueOrDefault(index);

    /// <summary>Whether a slab is in the set.</summary>
    internal bool Contains(uint slab) => (Word(slab / BitsPerWord) & Bit(slab)) != 0;

    /// <summary>Adds a slab; false if it was there.</summary>
    internal bool Add(uint slab)
    {
        if (Contains(slab))
        {
            return false;
        }

        _words[slab / BitsPerWord] = Word(slab / BitsPerWord) | Bit(slab);
        Count++;
        return true;
    }

    /// <summary>Removes a slab if it is there.</summary>
    internal void Remove(uint slab)
    {
        if (Contains(slab))
        {
            _words[slab / BitsPerWord] &= ~Bit(slab);
            Count--;
        }
    }

    private static ulong Bit(uint slab) => 1UL << (int)(slab % BitsPerWord);
}
