using TierSpaces.Engine.Formats;

namespace TierSpaces.Engine.Pools;

// Where the slices of a tiered virtual disk are, in one version of a pool's state. Never changed.
//
// Eight bytes a slice in leaves that are also the pages of a checkpoint, and a bit per slot, both only where something is mapped.
//
// Invariants
//  1. A slot is used exactly when one slice names it.
//  2. A slot lies within the space of its tier.

/// <summary>The slice map of one virtual disk.</summary>
public sealed class SliceMapState
{
    private const int WordsPerLeaf = 64;

    private readonly PersistentArray<SliceEntry> _entries;
    private readonly PersistentArray<ulong>[] _used;   // per tier, bit per slot
    private readonly int[] _mapped;                    // per tier, slots in use by slices of the disk, without those of the store itself

    private SliceMapState(PersistentArray<SliceEntry> entries, PersistentArray<ulong>[] used, int[] mapped)
    {
        _entries = entries;
        _used = used;
        _mapped = mapped;
    }

    /// <summary>A map in which no slice is anywhere.</summary>
    internal static SliceMapState Empty { get; } = new(new PersistentArray<SliceEntry>(CheckpointPages.SlicesPerPage), [], []);

    /// <summary>Pages that it takes in a checkpoint, at most.</summary>
    internal int PagesMax => _entries.LeafCount;

    /// <summary>Entry of a slice: its tier, slot and last move.</summary>
    public SliceEntry this[int slice] => _entries[slice];

    /// <summary>Slices of the disk that are in a tier; slices of the store itself are not counted.</summary>
    public int Mapped(int tier) => tier < _mapped.Length ? _mapped[tier] : 0;

    /// <summary>Whether a slot is in use.</summary>
    public bool IsUsed(int tier, uint slot) => (Word(tier, (int)(slot / 64)) >> (int)(slot % 64) & 1) != 0;

    /// <summary>Slots 64 × <paramref name="word"/> and up of a tier, bit per slot in use.</summary>
    public ulong Word(int tier, int word) => tier < _used.Length ? _used[tier][word] : 0;

    /// <summary>The slices that are somewhere, in order.</summary>
    public IEnumerable<(int Slice, SliceEntry Entry)> Enumerate()
    {
        foreach ((int leaf, SliceEntry[] entries) in _entries.Leaves())
        {
            RowWalks.Note(entries.Length);
            for (int i = 0; i < entries.Length; i++)
            {
                if (entries[i].IsMapped)
                {
                    yield return ((leaf * _entries.LeafSize) + i, entries[i]);
                }
            }
        }
    }

    /// <summary>The leaves, each with the index of its first slice.</summary>
    internal IEnumerable<(int First, SliceEntry[] Entries)> Leaves() => _entries.Leaves().Select(leaf => (leaf.Index * _entries.LeafSize, leaf.Elements));

    /// <summary>The map after a record, or why it is refused; slots of a tier are below its limit.</summary>
    internal SliceMapState? Apply(SlicesMapped record, ReadOnlySpan<long> slots, ref string reason)
    {
        Draft draft = new(this, slots.Length);
        for (int i = 0; i < record.Entries.Length; i++)
        {
            draft.Free(record.FirstSlice + i, _entries[record.FirstSlice + i]);
        }

        for (int i = 0; i < record.Entries.Length; i++)
        {
            SliceEntry entry = record.Entries[i];
            if (entry.IsMapped && (entry.Tier >= slots.Length || entry.Slot >= slots[entry.Tier] || !draft.TryUse(record.FirstSlice + i, entry)))
            {
                reason = $"slot {entry.Slot} of tier {entry.Tier} is in use or is not there";
                return null;
            }
        }

        return new SliceMapState(_entries.SetRange(record.FirstSlice, record.Entries), draft.Used, draft.Mapped);
    }

    /// <summary>Slots of another version in the making.</summary>
    private readonly struct Draft
    {
        internal Draft(SliceMapState before, int tiers)
        {
            Used = [.. before._used, .. Enumerable.Range(0, Math.Max(0, tiers - before._used.Length)).Select(_ => new PersistentArray<ulong>(WordsPerLeaf))];
            Mapped = new int[Used.Length];
            before._mapped.CopyTo(Mapped, 0);
        }

        internal PersistentArray<ulong>[] Used { get; }

        internal int[] Mapped { get; }

        internal void Free(int slice, SliceEntry entry)
        {
            if (entry.IsMapped)
            {
                Set(entry, Used[entry.Tier][(int)(entry.Slot / 64)] & ~Bit(entry));
                Mapped[entry.Tier] -= Counts(slice);
            }
        }

        internal bool TryUse(int slice, SliceEntry entry)
        {
            ulong word = Used[entry.Tier][(int)(entry.Slot / 64)];
            Set(entry, word | Bit(entry));
            Mapped[entry.Tier] += Counts(slice);
            return (word & Bit(entry)) == 0;
        }

        private void Set(SliceEntry entry, ulong word) => Used[entry.Tier] = Used[entry.Tier].Set((int)(entry.Slot / 64), word);

        private static int Counts(int slice) => slice < SlicesMapped.SystemSlices ? 1 : 0;

        private static ulong Bit(SliceEntry entry) => 1UL << (int)(entry.Slot % 64);
    }
}
