using System.Numerics;
using TierSpaces.Engine.Formats;
using TierSpaces.Engine.Primitives;

namespace TierSpaces.Engine.Pools;

/// <summary>A member disk in one version of a pool's state: its description and which of its slabs are in use. Never changed.</summary>
public sealed class DiskState
{
    private const int BitsPerWord = 64;

    private readonly PersistentArray<ulong> _used;

    internal DiskState(DiskDescription description)
        : this(description, new PersistentArray<ulong>(64), 0, 0)
    {
    }

    private DiskState(DiskDescription description, PersistentArray<ulong> used, uint usedSlabs, uint frees)
    {
        Description = description;
        _used = used;
        UsedSlabs = usedSlabs;
        Frees = frees;
    }

    /// <summary>Description of the disk in the pool's metadata.</summary>
    public DiskDescription Description { get; }

    /// <summary>Slabs in use.</summary>
    public uint UsedSlabs { get; }

    /// <summary>Slabs not in use.</summary>
    public uint FreeSlabs => Description.SlabCount - UsedSlabs;

    /// <summary>Slabs that were freed since the pool was opened. While it is the same, no slab has become free.</summary>
    internal uint Frees { get; }

    /// <summary>Whether a slab belongs to a row.</summary>
    public bool IsUsed(uint slab) => (UsedWord(slab / BitsPerWord) >> (int)(slab % BitsPerWord) & 1) != 0;

    /// <summary>Returns 64 slabs at once: bit i is slab 64 × <paramref name="word"/> + i.</summary>
    internal ulong UsedWord(uint word) => _used[(int)word];

    internal DiskState With(DiskDescription description) => new(description, _used, UsedSlabs, Frees);

    internal DiskState WithSlab(uint slab, bool used)
    {
        Invariant.That(IsUsed(slab) != used, "A slab is taken only when it is free, and freed only when it is taken.");
        int word = (int)(slab / BitsPerWord);
        ulong changed = _used[word] ^ (1UL << (int)(slab % BitsPerWord));
        DiskState next = new(Description, _used.Set(word, changed), used ? UsedSlabs + 1 : UsedSlabs - 1, used ? Frees : Frees + 1);
        if (Invariant.ChecksCostly)
        {
            Invariant.That(next.UsedSlabs == next.CountUsed(), "As many slabs are in use as are marked.");
        }

        return next;
    }

    private uint CountUsed()
    {
        uint count = 0;
        for (uint word = 0; word * BitsPerWord < Description.SlabCount; word++)
        {
            count += (uint)BitOperations.PopCount(UsedWord(word));
        }

        return count;
    }
}
