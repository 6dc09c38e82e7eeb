using System.Runtime.CompilerServices;
using System.Runtime.InteropServices;
using TierSpaces.Engine.Primitives;

namespace TierSpaces.Engine.Resiliency;

// First-write journal: records of writes whose entries the integrity log does not hold yet, in memory that outlives the process.
//
// If the process dies and the machine does not, the disks' caches hold the data of acknowledged writes. The entries of first writes were in the
// process's memory only: without records those blocks would read as never written. Two halves alternate. Records go to the active half. A flush
// switches halves when it captures the changed entries, and clears the older half when they are logged.
// A record takes three slots (key and checksum of the block, then checksums of its eight sectors), a zeroed mark takes one.
//
// Invariants
//  1. A record exists before its write is submitted, and still exists when the write is acknowledged.
//  2. Records of one half are in order; the half with the higher number is the newer one.
//  3. A record makes a block readable only where a copy proves it: all of the copy matches one record (the newest that any copy
//     matches wins), or each of its sectors matches a record, as when a write replaced only a part of an earlier one before the process
//     died. No record counts past a zeroed mark. Where nothing matches, the disks lost what they had not flushed: the block stays
//     as the log has it, never written or lost.
//  4. A half never holds more slots than it has room for: a caller asks for room and appends without an await between.

/// <summary>First-write journal of one space.</summary>
internal sealed unsafe class FirstWriteJournal
{
    /// <summary>Slots that the record of one written block takes.</summary>
    internal const int SlotsPerRecord = 3;

    private const ulong Magic = 0x32455455_4F4E5354;
    private const ulong FormerMagic = 0x31455455_4F4E5354;   // one slot per record, without checksums of sectors
    private const ulong ZeroedFlag = 1UL << 63;
    private const ulong SectorsFlag = 1UL << 62;   // the next two slots are checksums of sectors; under FormerMagic it said that the write was acknowledged

    private readonly Header* _header;
    private readonly Note* _journal;
    private readonly int _half;

    internal FirstWriteJournal(IoBuffer memory)
    {
        _header = (Header*)memory.Pointer;
        _journal = (Note*)(memory.Pointer + sizeof(Header));
        _half = (memory.Length - sizeof(Header)) / sizeof(Note) / 2;
    }

    /// <summary>Slots that each half has.</summary>
    internal int Capacity => _half;

    /// <summary>Slots that the active half has left.</summary>
    internal int Room => _half - Count(Active);

    /// <summary>Number of the active half: changes with every switch.</summary>
    internal uint Generation { get; private set; }

    private int Active => (int)(Generation & 1);

    /// <summary>Returns the records that a process of this session left, oldest first; empty when there are none.</summary>
    internal List<FirstWriteRecord> TakeOver(ulong lastSession)
    {
        List<FirstWriteRecord> found = [];
        if (_header->Magic is not (Magic or FormerMagic) || _header->Session != lastSession
            || (uint)Count(0) > (uint)_half || (uint)Count(1) > (uint)_half)
        {
            return found;   // another session's, or foreign: a journal never holds more records than it has room for
        }

        Generation = _header->Generation;
        TakeHalf(1 - Active, found);
        TakeHalf(Active, found);
        return found;
    }

    /// <summary>Starts an empty journal for this session.</summary>
    internal void Start(ulong session)
    {
        _header->Magic = 0;
        _header->Count0 = _header->Count1 = 0;
        _header->Generation = Generation = 0;
        _header->Session = session;
        Volatile.Write(ref _header->Magic, Magic);
    }

    /// <summary>Records that a block is about to hold this data. The caller has made sure of <see cref="SlotsPerRecord"/> slots.</summary>
    internal void Add(long block, uint checksum, ReadOnlySpan<byte> data)
    {
        Note* note = Next(SlotsPerRecord);
        *note = new Note { Key = (ulong)block | SectorsFlag, Checksum = checksum };
        SectorChecksums.Of(data).CopyTo(new Span<uint>(note + 1, SectorChecksums.Count));
        Take(SlotsPerRecord);
    }

    /// <summary>Records that a block is never-written again: older records do not count. The caller has made sure of a slot.</summary>
    internal void AddZeroed(long block)
    {
        *Next(1) = new Note { Key = (ulong)block | ZeroedFlag };
        Take(1);
    }

    /// <summary>Directs further records to the other half, which must be clear: a flush has captured the changed entries.</summary>
    internal void Switch()
    {
        Generation++;
        SetCount(Active, 0);
        Volatile.Write(ref _header->Generation, Generation);
    }

    /// <summary>Clears the older half: the captured entries are logged.</summary>
    internal void ClearOlder() => SetCount(1 - Active, 0);

    private void TakeHalf(int half, List<FirstWriteRecord> found)
    {
        for (int i = 0; i < Count(half); i++)
        {
            Note* note = _journal + (half * _half) + i;
            SectorChecksums? sectors = null;
            if (_header->Magic == Magic && (note->Key & SectorsFlag) != 0)
            {
                if (i + SlotsPerRecord > Count(half))
                {
                    return;   // its slots are missing: never made
                }

                sectors = SectorChecksums.From(new ReadOnlySpan<uint>(note + 1, SectorChecksums.Count));
                i += SlotsPerRecord - 1;
            }

            found.Add(new FirstWriteRecord((long)(note->Key & ~(ZeroedFlag | SectorsFlag)), note->Checksum, (note->Key & ZeroedFlag) != 0, sectors));
        }
    }

    private Note* Next(int slots)
    {
        Invariant.That(slots <= Room, "A half of the first-write journal never holds more slots than it has room for.");
        return _journal + (Active * _half) + Count(Active);
    }

    private void Take(int slots) => SetCount(Active, Count(Active) + slots);

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
