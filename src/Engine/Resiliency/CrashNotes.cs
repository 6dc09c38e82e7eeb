using System.Runtime.CompilerServices;
using System.Runtime.InteropServices;
using TierSpaces.Engine.Primitives;

namespace TierSpaces.Engine.Resiliency;

// First writes that the integrity log does not know yet, in memory that outlives the process.
//
// When the process dies (and the machine does not) the data of acknowledged writes is in the disks' caches, but entries of
// first writes were only in memory: without them the blocks would read as never written. Two halves alternate: notes go to the
// active one; a flush switches halves when it captures the changed entries and clears the older half when they are logged.
//
// Invariants
//  1. A note stands before its write is submitted, and still stands when the write is acknowledged.
//  2. Notes of one half are in order; the half with the higher number is the newer one.
//  3. A note is believed only where a copy's data matches it, newest first, and never past a zeroed mark. Where nothing matches but a
//     write was acknowledged, the block holds that write with parts of a later one over it: never a former owner's bytes.

/// <summary>Notes of one space.</summary>
internal sealed unsafe class CrashNotes
{
    private const ulong Magic = 0x31455455_4F4E5354;
    private const ulong ZeroedFlag = 1UL << 63;
    private const ulong AcknowledgedFlag = 1UL << 62;

    private readonly Header* _header;
    private readonly Note* _notes;
    private readonly int _half;

    internal CrashNotes(IoBuffer memory)
    {
        _header = (Header*)memory.Pointer;
        _notes = (Note*)(memory.Pointer + sizeof(Header));
        _half = (memory.Length - sizeof(Header)) / sizeof(Note) / 2;
    }

    /// <summary>Notes the active half still takes.</summary>
    internal int Room => _half - Count(Active);

    /// <summary>Number of the active half: changes with every switch.</summary>
    internal uint Generation { get; private set; }

    private int Active => (int)(Generation & 1);

    /// <summary>Notes a process of this session left behind, oldest first; empty when there are none.</summary>
    internal List<CrashNote> TakeOver(ulong lastSession)
    {
        List<CrashNote> found = [];
        if (_header->Magic != Magic || _header->Session != lastSession || (uint)Count(0) > (uint)_half || (uint)Count(1) > (uint)_half)
        {
            return found;   // another session's, or nobody's: more notes than there is room for were never made
        }

        Generation = _header->Generation;
        foreach (int half in (ReadOnlySpan<int>)[1 - Active, Active])
        {
            for (int i = 0; i < Count(half); i++)
            {
                ref readonly Note note = ref _notes[(half * _half) + i];
                found.Add(new CrashNote(
                    (long)(note.Key & ~(ZeroedFlag | AcknowledgedFlag)), note.Checksum, (note.Key & ZeroedFlag) != 0, (note.Key & AcknowledgedFlag) != 0));
            }
        }

        return found;
    }

    /// <summary>Starts anew for this session.</summary>
    internal void Start(ulong session)
    {
        _header->Magic = 0;
        _header->Count0 = _header->Count1 = 0;
        _header->Generation = Generation = 0;
        _header->Session = session;
        Volatile.Write(ref _header->Magic, Magic);
    }

    /// <summary>Notes that a block is about to hold data with this checksum.</summary>
    internal void Add(long block, uint checksum) => Append((ulong)block, checksum);

    /// <summary>Notes that a block holds data with this checksum: the write is about to be acknowledged.</summary>
    internal void AddAcknowledged(long block, uint checksum) => Append((ulong)block | AcknowledgedFlag, checksum);

    /// <summary>Notes that a block is never-written again: older notes do not count.</summary>
    internal void AddZeroed(long block) => Append((ulong)block | ZeroedFlag, 0);

    /// <summary>A flush has captured the changed entries: further notes go to the other half, which must be clear.</summary>
    internal void Switch()
    {
        Generation++;
        SetCount(Active, 0);
        Volatile.Write(ref _header->Generation, Generation);
    }

    /// <summary>What was captured is logged: the older half is not needed.</summary>
    internal void ClearOlder() => SetCount(1 - Active, 0);

    private void Append(ulong key, uint checksum)
    {
        int count = Count(Active);
        ref Note note = ref _notes[(Active * _half) + count];
        note.Key = key;
        note.Checksum = checksum;
        SetCount(Active, count + 1);
    }

    private int Count(int half) => Volatile.Read(ref half == 0 ? ref _header->Count0 : ref _header->Count1);

    [MethodImpl(MethodImplOptions.AggressiveInlining)]
    private void SetCount(int half, int count) => Volatile.Write(ref half == 0 ? ref _header->Count0 : ref _header->Count1, count);

    [StructLayout(LayoutKind.Sequential)]
    private struct Header
    {
        internal ulong Magic;
        internal ulong Session;
        internal uint Generation;
        internal int Count0;
        internal int Count1;
        internal int Reserved;
    }

    [StructLayout(LayoutKind.Sequential)]
    private struct Note
    {
        internal ulong Key;
        internal uint Checksum;
        internal uint Reserved;
    }
}

/// <summary>A note that a process left behind.</summary>
/// <param name="Block">Block of the space, by its place in the slabs.</param>
/// <param name="Checksum">CRC32C of the data written.</param>
/// <param name="IsZeroed">The block became never-written here.</param>
/// <param name="IsAcknowledged">The write was complete.</param>
internal readonly record struct CrashNote(long Block, uint Checksum, bool IsZeroed, bool IsAcknowledged);
