using System.Runtime.InteropServices;
using TierSpaces.Engine.Primitives;

namespace TierSpaces.Engine.Resiliency;

// Memory that outlives the process and not the machine, as the records of one space's writes lie in it.
//
//   header   session, its successor, what the session knows of its unresolved regions, ends of the log
//   disks    disk number and incarnation of each member that the space uses
//   halves   two lists of slots; records go to the active one
//
// A record of a written block takes three slots: the block and its checksum, then the checksums of its eight sectors. A zeroed mark takes one.
// A flush round makes the other half active when it captures the changed entries, and clears the older half when they are durable. Records of writes
// that are in flight at that moment are copied to the new half: their entries are in no round yet.
//
// Invariants
//  1. A record exists before its write is submitted, until the block's entry is durable, or the write is settled in another way.
//  2. Records of one half are in order; the half with the higher number is the newer one. A copied record comes before all newer ones of its block.
//  3. A record is marked acknowledged before its write is acknowledged.
//  4. A half never holds more slots than it has room for: a caller asks for room and appends without an await between.

/// <summary>What is known, at an opening, of the writes that no flush covered.</summary>
internal enum WriteKnowledge
{
    /// <summary>All of them are recorded, and the disks still hold what they took.</summary>
    Whole = 0,

    /// <summary>All of them are recorded; a disk may have lost what it had not flushed.</summary>
    CachesLost = 1,

    /// <summary>Nothing: the machine has stopped, or the records are gone.</summary>
    None = 2,
}

/// <summary>Records of the unflushed writes of one space, in memory that outlives the process.</summary>
internal sealed unsafe class RecordMemory
{
    /// <summary>Slots that the record of one written block takes.</summary>
    internal const int SlotsPerRecord = 3;

    /// <summary>Most member disks of a space whose incarnations are kept; of one beyond it is assumed that it lost its cache.</summary>
    internal const int DisksMax = 512;

    private const ulong Magic = 0x33455455_4F4E5354;
    private const ulong SectorsMagic = 0x32455455_4F4E5354;   // first writes alone, no acknowledged marks, a short header
    private const ulong FirstMagic = 0x31455455_4F4E5354;     // the same, one slot per record, without checksums of sectors
    private const int FormerHeaderSize = 32;
    private const ulong ZeroedFlag = 1UL << 63;
    private const ulong SectorsFlag = 1UL << 62;
    private const ulong AcknowledgedFlag = 1UL << 61;
    private const ulong VoidFlag = 1UL << 60;   // the write has failed and was settled: it left nothing that counts
    private const ulong Flags = ZeroedFlag | SectorsFlag | AcknowledgedFlag | VoidFlag;

    private readonly IoBuffer _memory;
    private readonly Header* _header;
    private readonly DiskIncarnation* _disks;
    private readonly Slot* _slots;
    private readonly int _half;
    private bool _isTakenOver;   // what is in it is of this space's last session

    internal RecordMemory(IoBuffer memory)
    {
        _memory = memory;
        _header = (Header*)memory.Pointer;
        _disks = (DiskIncarnation*)(memory.Pointer + sizeof(Header));
        _slots = (Slot*)(memory.Pointer + SlotsOffset);
        _half = (memory.Length - SlotsOffset) / sizeof(Slot) / 2;
    }

    /// <summary>Slots that each half has.</summary>
    internal int Capacity => _half;

    /// <summary>Slots that the active half has left.</summary>
    internal int Room => _half - Count(Active);

    /// <summary>Number of the active half: changes with every switch.</summary>
    internal uint Generation { get; private set; }

    private static int SlotsOffset => sizeof(Header) + (DisksMax * sizeof(DiskIncarnation));

    private int Active => (int)(Generation & 1);

    /// <summary>Bytes of a memory whose halves have so many slots.</summary>
    internal static int SizeFor(int slots) => SlotsOffset + (2 * slots * sizeof(Slot));

    /// <summary>Returns what a process of the session that wrote the log last has left.</summary>
    /// <param name="lastSession">Session of the last block of the log.</param>
    internal FoundRecords TakeOver(ulong lastSession)
    {
        if (_header->Magic is SectorsMagic or FirstMagic)
        {
            return new FoundRecords(WriteKnowledge.None, TakeFormer(lastSession));
        }

        if (_header->Magic != Magic || (_header->Session != lastSession && _header->Successor != lastSession)
            || (uint)Count(0) > (uint)_half || (uint)Count(1) > (uint)_half)
        {
            return new FoundRecords(WriteKnowledge.None, []);   // of another session, or foreign: a half never holds more slots than it has room for
        }

        _isTakenOver = true;
        List<WriteRecord> found = [];
        Generation = _header->Generation;
        TakeHalf(1 - Active, found);
        TakeHalf(Active, found);
        return new FoundRecords(_header->Unresolved is >= 0 and <= (int)WriteKnowledge.None ? (WriteKnowledge)_header->Unresolved : WriteKnowledge.None, found);
    }

    /// <summary>Names the session that the log is about to continue as: until <see cref="Start"/> records that were taken over count for it, too.</summary>
    internal void NameSuccessor(ulong session)
    {
        if (_isTakenOver)
        {
            Volatile.Write(ref _header->Successor, session);
        }
    }

    /// <summary>Starts an empty memory for a session.</summary>
    /// <param name="session">Session of the log.</param>
    /// <param name="unresolved">What is known of the unflushed writes of earlier sessions, in the regions that are unresolved now.</param>
    internal void Start(ulong session, WriteKnowledge unresolved)
    {
        Volatile.Write(ref _header->Magic, 0);
        _header->Count0 = _header->Count1 = 0;
        _header->Generation = Generation = 0;
        _header->Session = session;
        _header->Successor = session;
        _header->Unresolved = (int)unresolved;
        Volatile.Write(ref _header->Magic, Magic);
    }

    /// <summary>Records that the regions which were unresolved at the start of the session are resolved.</summary>
    internal void EndUnresolved() => Volatile.Write(ref _header->Unresolved, (int)WriteKnowledge.Whole);

    /// <summary>
    /// Records the incarnation of a member disk that is used for the first time. Of one that comes back the first one stays: what it held unflushed may be lost.
    /// </summary>
    internal void AddDisk(int disk, ulong incarnation)
    {
        if (_header->Magic == Magic && FindDisk(disk) is var entry && entry != null && entry->Disk == 0)
        {
            (entry->Disk, entry->Incarnation) = (disk + 1, incarnation);
        }
    }

    /// <summary>Records the incarnation of a member disk of which all that it may have lost is recorded in another way.</summary>
    internal void SetDisk(int disk, ulong incarnation)
    {
        if (_header->Magic == Magic && FindDisk(disk) is var entry && entry != null)
        {
            (entry->Disk, entry->Incarnation) = (disk + 1, incarnation);
        }
    }

    /// <summary>Whether a member disk has the incarnation that was recorded: it still holds what it took. One that was not recorded took nothing.</summary>
    internal bool HasIncarnation(int disk, ulong incarnation)
    {
        DiskIncarnation* entry = FindDisk(disk);
        return entry != null && (entry->Disk == 0 || entry->Incarnation == incarnation);
    }

    /// <summary>Forgets the incarnations of all disks.</summary>
    internal void ClearIncarnations() => new Span<DiskIncarnation>(_disks, DisksMax).Clear();

    /// <summary>
    /// Records that a block is about to hold this data. The caller has made sure of <see cref="SlotsPerRecord"/> slots. Returns the slot, valid until the next
    /// <see cref="Switch"/>.
    /// </summary>
    internal int Add(long block, uint checksum, in SectorChecksums sectors)
    {
        int at = Next(SlotsPerRecord);
        _slots[at] = new Slot { Key = (ulong)block | SectorsFlag, Checksum = checksum };
        sectors.CopyTo(new Span<uint>(_slots + at + 1, SectorChecksums.Count));
        Take(SlotsPerRecord);
        return at;
    }

    /// <summary>Copies the records of consecutive blocks of one write to the active half. Returns their slot there.</summary>
    internal int Carry(int slot, int slots)
    {
        int at = Next(slots);
        new ReadOnlySpan<Slot>(_slots + slot, slots).CopyTo(new Span<Slot>(_slots + at, slots));
        Take(slots);
        return at;
    }

    /// <summary>Records that a block is never-written again: older records do not count. The caller has made sure of a slot.</summary>
    internal void AddZeroed(long block)
    {
        _slots[Next(1)] = new Slot { Key = (ulong)block | ZeroedFlag | AcknowledgedFlag };
        Take(1);
    }

    /// <summary>Marks the write of a recorded block as acknowledged.</summary>
    internal void Acknowledge(int slot) => Volatile.Write(ref _slots[slot].Key, _slots[slot].Key | AcknowledgedFlag);

    /// <summary>Voids the record of a block: its write has left nothing that counts.</summary>
    internal void Void(int slot) => Volatile.Write(ref _slots[slot].Key, _slots[slot].Key | VoidFlag);

    /// <summary>Directs further records to the other half, which must be clear: a flush has captured the changed entries.</summary>
    internal void Switch()
    {
        Generation++;
        SetCount(Active, 0);
        Volatile.Write(ref _header->Generation, Generation);
    }

    /// <summary>Clears the older half: the captured entries are durable.</summary>
    internal void ClearOlder() => SetCount(1 - Active, 0);

    private List<WriteRecord> TakeFormer(ulong lastSession)
    {
        List<WriteRecord> found = [];
        int half = (_memory.Length - FormerHeaderSize) / sizeof(Slot) / 2;
        if (_header->Session != lastSession || (uint)Count(0) > (uint)half || (uint)Count(1) > (uint)half)
        {
            return found;
        }

        int active = (int)(_header->Generation & 1);
        Slot* slots = (Slot*)(_memory.Pointer + FormerHeaderSize);
        TakeSlots(slots + ((1 - active) * half), Count(1 - active), found);
        TakeSlots(slots + (active * half), Count(active), found);
        return found;
    }

    private void TakeHalf(int half, List<WriteRecord> found) => TakeSlots(_slots + (half * _half), Count(half), found);

    private void TakeSlots(Slot* slots, int count, List<WriteRecord> found)
    {
        for (int i = 0; i < count; i++)
        {
            Slot* slot = slots + i;
            SectorChecksums? sectors = null;
            if (_header->Magic != FirstMagic && (slot->Key & SectorsFlag) != 0)
            {
                if (i + SlotsPerRecord > count)
                {
                    return;   // its slots are missing: never made
                }

                sectors = SectorChecksums.From(new ReadOnlySpan<uint>(slot + 1, SectorChecksums.Count));
                i += SlotsPerRecord - 1;
            }

            if ((slot->Key & VoidFlag) == 0 || _header->Magic != Magic)
            {
                bool isZeroed = (slot->Key & ZeroedFlag) != 0;
                bool isAcknowledged = isZeroed || (_header->Magic == Magic && (slot->Key & AcknowledgedFlag) != 0);
                found.Add(new WriteRecord((long)(slot->Key & ~Flags), slot->Checksum, isZeroed, isAcknowledged, sectors));
            }
        }
    }

    private DiskIncarnation* FindDisk(int disk)
    {
        for (int i = 0; i < DisksMax; i++)
        {
            DiskIncarnation* entry = _disks + ((disk + i) % DisksMax);
            if (entry->Disk == 0 || entry->Disk == disk + 1)
            {
                return entry;
            }
        }

        return null;
    }

    private int Next(int slots)
    {
        Invariant.That(slots <= Room, "A half of the record memory never holds more slots than it has room for.");
        return (Active * _half) + Count(Active);
    }

    private void Take(int slots) => SetCount(Active, Count(Active) + slots);

    private int Count(int half) => Volatile.Read(ref half == 0 ? ref _header->Count0 : ref _header->Count1);

    private void SetCount(int half, int count) => Volatile.Write(ref half == 0 ? ref _header->Count0 : ref _header->Count1, count);

    [StructLayout(LayoutKind.Sequential)]
    private struct Header
    {
        internal ulong Magic;
        internal ulong Session;
        internal uint Generation;
        internal int Count0;
        internal int Count1;
        internal int Unresolved;   // WriteKnowledge of regions that are unresolved since the start
        internal ulong Successor;
        internal ulong Reserved0;
        internal ulong Reserved1;
        internal ulong Reserved2;
    }

    [StructLayout(LayoutKind.Sequential)]
    private struct DiskIncarnation
    {
        internal long Disk;   // number + 1; 0: free
        internal ulong Incarnation;
    }

    [StructLayout(LayoutKind.Sequential)]
    private struct Slot
    {
        internal ulong Key;
        internal uint Checksum;
        internal uint Reserved;
    }
}

/// <summary>Records that a process left, and what is known of the writes that it did not flush.</summary>
/// <param name="Knowledge">Whether the records are all of them.</param>
/// <param name="Records">The records, oldest first.</param>
internal readonly record struct FoundRecords(WriteKnowledge Knowledge, List<WriteRecord> Records);
