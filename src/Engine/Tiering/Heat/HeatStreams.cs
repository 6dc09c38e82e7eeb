using System.Numerics;
using System.Runtime.CompilerServices;

namespace TierSpaces.Engine.Tiering;

// Where sequential streams are expected to go on. A request that ends at x leaves an entry for x in one of the two slots that x hashes to; a
// request that begins at x and finds it continues that stream. Reads and writes are different streams.
//
// Invariants
//  1. An entry that a stream has grown out of is empty: one stream has one entry.
//  2. A newcomer takes a slot from a stream only when it has worn out its lives, so that random requests among those of a stream do not
//     make it forgotten.

/// <summary>
/// Tells requests of sequential streams from the others: 256 streams at most, fewer on disks below 8 GiB, one for 32 MiB but no fewer than 32. 4 KiB at most;
/// allocates nothing once made.
/// </summary>
internal readonly struct HeatStreams
{
    /// <summary>Requests, one after the other, from which on it is a stream.</summary>
    internal const int Known = 4;

    /// <summary>Bytes in a row from which on it is a stream.</summary>
    internal const long KnownBytes = 256 << 10;

    private const int FewestSlotBits = 5;
    private const int MostSlotBits = 8;
    private const int BytesPerSlotBits = 25;
    private const ulong Golden = 0x9E3779B97F4A7C15;
    private const byte Lives = 8;

    private readonly Entry[] _slots;
    private readonly int _shift;

    /// <summary>None is known.</summary>
    /// <param name="bytes">Size of the virtual disk.</param>
    internal HeatStreams(long bytes)
    {
        int bits = Math.Clamp(BitOperations.Log2((ulong)bytes) - BytesPerSlotBits, FewestSlotBits, MostSlotBits);
        _slots = new Entry[1 << bits];
        _shift = 64 - bits;
    }

    /// <summary>Largest number of streams that are distinguished.</summary>
    internal int Slots => _slots.Length;

    /// <summary>Counts a request. Returns whether it continues a known stream.</summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    internal bool Continues(long offset, int length, bool isWrite)
    {
        long key = Key(offset, isWrite);
        int slot = Slot(key);
        ref Entry at = ref _slots[_slots[slot].Next == key ? slot : slot ^ 1];
        int requests = 1;
        long bytes = length;
        if (at.Next == key)
        {
            requests = at.Requests + (at.Requests < Known ? 1 : 0);
            bytes += at.Bytes;
            at = default;
        }

        long next = Key(offset + length, isWrite);
        slot = Slot(next);
        ref Entry to = ref _slots[slot];
        ref Entry other = ref _slots[slot ^ 1];
        if (to.Strength > other.Strength)
        {
            to = ref other;
        }

        if (requests < Known && !Wear(ref _slots[slot], ref _slots[slot ^ 1], to.Lives))
        {
            return false;
        }

        to.Next = next;
        to.Bytes = (uint)Math.Min(bytes, KnownBytes);
        to.Requests = (byte)requests;
        to.Lives = requests >= Known ? Lives : (byte)0;
        return requests >= Known && bytes >= KnownBytes;
    }

    /// <summary>A newcomer takes a life from each stream that it meets; whether the weaker of them had none left.</summary>
    private static bool Wear(ref Entry one, ref Entry other, byte least)
    {
        one.Lives -= one.Lives > 0 ? (byte)1 : (byte)0;
        other.Lives -= other.Lives > 0 ? (byte)1 : (byte)0;
        return least == 0;
    }

    // Never 0, which is the key of an empty slot.
    private static long Key(long offset, bool isWrite)
    {
        return (offset << 2) | (isWrite ? 2L : 0L) | 1L;
    }

    private int Slot(long key) => (int)(((ulong)key * Golden) >> _shift);

    private struct Entry
    {
        internal long Next;
        internal uint Bytes;
        internal byte Requests;
        internal byte Lives;

        internal readonly int Strength => Requests + Lives;
    }
}
