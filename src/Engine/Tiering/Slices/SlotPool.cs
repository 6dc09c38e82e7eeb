using System.Numerics;
using TierSpaces.Engine.Primitives;

namespace TierSpaces.Engine.Tiering;

/// <summary>
/// The slots of one tier: which are taken, and which of the free ones are known to hold nothing of a former owner. Two bits a slot.
/// A slot is taken from its allocation until it is vacated, so only one slice has it at a time, whatever the map says meanwhile.
/// </summary>
internal sealed class SlotPool(long slots)
{
    private const int CountedWordsMax = 64;   // larger pools are not counted again at each change

    private readonly List<ulong> _taken = [.. new ulong[(slots + 63) / 64]];
    private readonly List<ulong> _clean = [.. new ulong[(slots + 63) / 64]];
    private int _lowestFree;   // no word below it has a free slot

    /// <summary>Slots there are.</summary>
    internal long Count { get; private set; } = slots;

    /// <summary>Slots taken.</summary>
    internal long Taken { get; private set; }

    /// <summary>Marks the slots of a word as taken, at the opening.</summary>
    internal void Load(int word, ulong taken)
    {
        Taken += BitOperations.PopCount(taken) - BitOperations.PopCount(_taken[word]);
        _taken[word] = taken;
    }

    /// <summary>Adds slots at the end.</summary>
    internal void Grow(long slots)
    {
        Count = slots;
        while (_taken.Count < (slots + 63) / 64)
        {
            _taken.Add(0);
            _clean.Add(0);
        }
    }

    /// <summary>Takes the lowest free slot; false: there is none.</summary>
    internal bool TryTake(out uint slot)
    {
        for (; _lowestFree < _taken.Count; _lowestFree++)
        {
            int bit = BitOperations.TrailingZeroCount(~_taken[_lowestFree]);
            slot = (uint)((_lowestFree * 64) + bit);
            if (bit < 64 && slot < Count)
            {
                _taken[_lowestFree] |= 1UL << bit;
                Taken++;
                RequireCount();
                return true;
            }
        }

        _lowestFree = Math.Max(0, _taken.Count - 1);   // the last word may get slots when the tier grows
        slot = 0;
        return false;
    }

    /// <summary>Takes a slot that is free.</summary>
    internal void Take(uint slot)
    {
        Invariant.That(!IsTaken(slot), "A slot is given to one slice at a time.");
        _taken[(int)(slot / 64)] |= 1UL << (int)(slot % 64);
        Taken++;
        RequireCount();
    }

    /// <summary>Gives a slot back.</summary>
    internal void Release(uint slot)
    {
        Invariant.That(IsTaken(slot), "A slot is given back once.");
        _taken[(int)(slot / 64)] &= ~(1UL << (int)(slot % 64));
        _lowestFree = Math.Min(_lowestFree, (int)(slot / 64));
        Taken--;
        RequireCount();
    }

    private bool IsTaken(uint slot) => (_taken[(int)(slot / 64)] >> (int)(slot % 64) & 1) != 0;

    private void RequireCount()
    {
        if (Invariant.ChecksCostly && _taken.Count <= CountedWordsMax)
        {
            Invariant.That(Taken == _taken.Sum(static word => (long)BitOperations.PopCount(word)), "As many slots are taken as are marked.");
        }
    }

    /// <summary>Whether a slot is known to read as zeros, durably.</summary>
    internal bool IsClean(uint slot) => (_clean[(int)(slot / 64)] >> (int)(slot % 64) & 1) != 0;

    /// <summary>Records whether a slot is known to read as zeros, durably.</summary>
    internal void SetClean(uint slot, bool isClean)
    {
        ulong bit = 1UL << (int)(slot % 64);
        _clean[(int)(slot / 64)] = isClean ? _clean[(int)(slot / 64)] | bit : _clean[(int)(slot / 64)] & ~bit;
    }
}
