using System.Diagnostics;
using System.Numerics;
using System.Runtime.CompilerServices;

namespace TierSpaces.Engine.Tiering;

// Where sequential streams are expected to go on. A request that ends at x leaves an entry for x in the slot that x hashes to; a request
// that begins at x and finds it continues that stream. Reads and writes are different streams.
//
// Invariants
//  1. An entry that a stream has grown out of is empty: one stream has one entry.
//  2. A newcomer takes a slot from a stream only when it has worn out its lives, so that random requests among those of a stream do not
//     make it forgotten.

/// <summary>Tells requests of sequential streams from the others. 4 KiB at most, less for disks of few slices; allocates nothing once made.</summary>
internal readonly struct HeatStreams
{
    /// <summary>Requests, one after the other, from which on it is a stream.</summary>
    internal const int Known = 4;

    /// <summary>Bytes in a row from which on it is a stream.</summary>
    internal const long KnownBytes = 256 << 10;

    private const int FewestSlotBits = 5;
    private const int MostSlotBits = 8;
    private const int SlicesPerSlotBits = 5;   // 32 slices for each slot
    private const ulong Golden = 0x9E3779B97F4A7C15;
    private const byte Lives = 8;

    private readonly Entry[] _slots;
    private readonly int _shift;

    /// <summary>None is known.</summary>
    /// <param name="slices">Slices of the virtual disk.</param>
    internal HeatStreams(long slices)
    {
        int bits = Math.Clamp(BitOperations.Log2((ulong)slices) - SlicesPerSlotBits, FewestSlotBits, MostSlotBits);
        _slots = new Entry[1 << bits];
        _shift = 64 - bits;
    }

    /// <summary>As many streams as are told apart.</summary>
    internal int Slots => _slots.Length;

    /// <summary>Notes a request; whether it continues a known stream.</summary>
    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    internal bool Continues(long offset, int length, bool isWrite)
    {
        long key = Key(offset, isWrite);
        ref Entry at = ref _slots[Slot(key)];
        int requests = 1;
        long bytes = length;
        if (at.Next == key)
        {
            requests = at.Requests + (at.Requests < Known ? 1 : 0);
            bytes += at.Bytes;
            at = default;
        }

        long next = Key(offset + length, isWrite);
        ref Entry to = ref _slots[Slot(next)];
        if (to.Lives > 0 && requests < Known)
        {
            to.Lives--;
            return false;
        }

        to.Next = next;
        to.Bytes = (uint)Math.Min(bytes, KnownBytes);
        to.Requests = (byte)requests;
        to.Lives = requests >= Known ? Lives : (byte)0;
        return requests >= Known && bytes >= KnownBytes;
    }

    // Never 0, which is the key of an empty slot.
    private static long Key(long offset, bool isWrite)
    {
        Debug.Assert(offset is >= 0 and < long.MaxValue >> 2, "Offsets are those of a virtual disk.");
        return (offset << 2) | (isWrite ? 2L : 0L) | 1L;
    }

    private int Slot(long key) => (int)(((ulong)key * Golden) >> _shift);

    private struct Entry
    {
        internal long Next;
        internal uint Bytes;
        internal byte Requests;
        internal byte Lives;
    }
}
