using System.Runtime.InteropServices;
using TierSpaces.Engine.Primitives;

namespace TierSpaces.Engine.Resiliency;

// Memory that outlives the process and not the machine, as the records of one space's writes lie in it.
//
//   header   session, the one before and the next one, what the session knows of its unresolved regions, ends of the log and of a ring in front
//   disks    disk number and incarnation of each member that the space uses
//   halves   two lists of slots; records go to the active one
//
// A record of a written block takes three slots: the block and its checksum, then the checksums of its eight sectors. Zeroing and losing a block take one.
// A flush round makes the other half active when it captures the changed entries; the older half stays until the next round begins, so that the newest round
// is recorded even if the block of the log that has its entries is damaged. Records of writes that are in flight when a round begins are copied to the new
// half: their entries are in no round yet.
//
// Invariants
//  1. A record exists before its write is submitted, until the block's entry is durable, or the write is settled in another way.
//  2. Records of one half are in order; the half with the higher number is the newer one. A copied record comes before all newer ones of its block.
//  3. A record is marked acknowledged before its write is acknowledged.
//  4. A half never holds more slots than it has room for: a caller asks for room and appends without an await between.

/// <summary>Knowledge, at an opening, of the writes that no flush covered.</summary>
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

    private const ulong Magic = 0x34455455_4F4E5354;
    private const ulong SectorsMagic = 0x32455455_4F4E5354;   // first writes alone, no acknowledged marks, a short header
    private const ulong FirstMagic = 0x31455455_4F4E5354;     // the same, one slot per record, without checksums of sectors
    private const int FormerHeaderSize = 32;
    private const ulong ZeroedFlag = 1UL << 63;
    private const ulong SectorsFlag = 1UL << 62;
    private const ulong AcknowledgedFlag = 1UL << 61;
    private const ulong VoidFlag = 1UL << 60;   // the write has failed and was settled: it left nothing that counts
    private const ulong LostFlag = 1UL << 59;   // the block is lost from here on: nothing older counts
    private const ulong Flags = ZeroedFlag | SectorsFlag | AcknowledgedFlag | VoidFlag | LostFlag;

    private readonly IoBuffer _memory;
    private readonly Header* _header;
    private readonly DiskIncarnation* _disks;
    private readonly Slot* _slots;
    private readonly int _half;
    private bool _isTakenOver;   // what is in it is of this space's last session
    private bool _isStarted;

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

    /// <summary>
    /// Returns what a process of the session that wrote the log last has left, or of the one after it: the log may have lost all of its blocks.
    /// </summary>
    /// <param name="lastSession">Session of the last block of the log.</param>
    internal FoundRecords TakeOver(ulong lastSession)
    {
        if (_header->Magic is SectorsMagic or FirstMagic)
        {
            return new FoundRecords(WriteKnowledge.None, TakeFormer(lastSession));
        }

        if (_header->Magic != Magic || (_header->Session != lastSession && _header->Successor != lastSession && _header->Predecessor != lastSession)
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

    /// <summary>The end of a ring as it was stated last.</summary>
    internal ref StatedEnds EndsOf(StatedRing ring)
    {
        switch (ring)
        {
            case StatedRing.Log:
                return ref _header->Log;
            case StatedRing.Cache:
                return ref _header->Ring;
            default:
                return ref _header->Parity;
        }
    }

    /// <summary>
    /// Returns the last block of the log that was written, and the last durable one, if the memory is that of a session or of the one after it; else 0: its own
    /// blocks may be what is missing.
    /// </summary>
    internal (ulong Written, ulong Durable) LogEnd(ulong lastSession)
    {
        bool isOurs = _header->Magic == Magic
            && (_header->Session == lastSession || _header->Successor == lastSession || _header->Predecessor == lastSession);
        return isOurs ? (_header->Log.Written, _header->Log.Durable) : default;
    }

    /// <summary>Whether what is stated from here on is of the space that the memory is of.</summary>
    internal bool IsOurs => _isTakenOver || _isStarted;

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
    /// <param name="unresolved">Knowledge of the unflushed writes of earlier sessions, in the regions that are unresolved now.</param>
    internal void Start(ulong session, WriteKnowledge unresolved)
    {
        ulong before = _isTakenOver ? _header->Session : session;
        StatedEnds log = _isTakenOver ? _header->Log : default;
        Volatile.Write(ref _header->Magic, 0);
        _header->Predecessor = before;
        _header->Log = log;
        _isStarted = true;
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
    /// Records the incarnation of a member disk that is used for the first time. Of one that comes back the first incarnation stays: what it held unflushed may
    /// be lost.
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

    /// <summary>Returns the recorded disks that are there and have another incarnation now: they may have lost what they had not flushed.</summary>
    /// <param name="incarnationOf">Returns the incarnation of a disk, or null if it is away.</param>
    internal HashSet<int> FindLostCaches(Func<int, ulong?> incarnationOf)
    {
        HashSet<int> lost = [];
        for (int i = 0; i < DisksMax && _header->Magic == Magic; i++)
        {
            if (_disks[i].Disk != 0 && incarnationOf((int)_disks[i].Disk - 1) is { } now && now != _disks[i].Incarnation)
            {
                lost.Add((int)_disks[i].Disk - 1);
            }
        }

        return lost;
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

    /// <summary>Records that a block is lost from here on: older records do not count. The caller has made sure of a slot.</summary>
    internal void AddLost(long block)
    {
        _slots[Next(1)] = new Slot { Key = (ulong)block | LostFlag | AcknowledgedFlag };
        Take(1);
    }

    /// <summary>Marks the write of a recorded block as acknowledged.</summary>
    internal void Acknowledge(int slot) => Volatile.Write(ref _slots[slot].Key, _slots[slot].Key | AcknowledgedFlag);

    /// <summary>Voids the record of a block: its write has left nothing that counts.</summary>
    internal void Void(int slot) => Volatile.Write(ref _slots[slot].Key, _slots[slot].Key | VoidFlag);

    /// <summary>Directs further records to the other half, and clears it: a flush round has captured the changed entries, the one before is durable.</summary>
    internal void Switch()
    {
        Generation++;
        SetCount(Active, 0);
        Volatile.Write(ref _header->Generation, Generation);
    }

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
                found.Add(new WriteRecord((long)(slot->Key & ~Flags), slot->Checksum, isZeroed, isAcknowledged, sectors)
                {
                    IsLost = _header->Magic == Magic && (slot->Key & LostFlag) != 0,
                });
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
        internal ulong Predecessor;
        internal StatedEnds Log;
        internal StatedEnds Ring;
        internal StatedEnds Parity;
        internal ulong Reserved0;
        internal ulong Reserved1;
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
internal readonly record struct FoundRecords(WriteKnowledge Knowledge, List<WriteRecord> Records)
{
    /// <summary>Disks that may have lost what they had not flushed; null: none.</summary>
    internal HashSet<int>? LostCaches { get; init; }
}

/// <summary>Rings whose ends are stated.</summary>
internal enum StatedRing
{
    /// <summary>The integrity log.</summary>
    Log,

    /// <summary>The ring of a write cache in front.</summary>
    Cache,

    /// <summary>The parity journal.</summary>
    Parity,
}

/// <summary>End of a log or ring, as its writer states it in the memory that outlives the process: an end below it is damage, and no torn tail.</summary>
[StructLayout(LayoutKind.Sequential)]
internal struct StatedEnds
{
    /// <summary>Session of the writer.</summary>
    internal ulong Session;

    /// <summary>Last of what is written on every live copy.</summary>
    internal ulong Written;

    /// <summary>Last of what is durable there.</summary>
    internal ulong Durable;
}

/// <summary>States the end of a log or ring where a later process finds it.</summary>
/// <param name="memory">The memory; null: there is none.</param>
/// <param name="ring">The ring.</param>
internal sealed class EndStatement(RecordMemory? memory, StatedRing ring)
{
    private RecordMemory? _memory = memory;

    /// <summary>States nothing from here on.</summary>
    internal void Detach() => _memory = null;

    /// <summary>States the end.</summary>
    internal void State(ulong session, ulong written, ulong durable)
    {
        if (_memory is { IsOurs: true } memory)
        {
            ref StatedEnds ends = ref memory.EndsOf(ring);
            (ends.Session, ends.Written, ends.Durable) = (session, written, durable);
        }
    }

    /// <summary>Lets only what is durable count, because a disk may have lost what it had not flushed.</summary>
    internal void RequireDurableOnly()
    {
        if (_memory is { IsOurs: true } memory)
        {
            ref StatedEnds ends = ref memory.EndsOf(ring);
            ends.Written = ends.Durable;
        }
    }

    /// <summary>Returns the end of what is durable as the writer of a session has stated it; 0: it is not known.</summary>
    internal ulong Durable(ulong session) =>
        _memory is { IsOurs: true } memory && memory.EndsOf(ring) is var ends && ends.Session == session ? ends.Durable : 0;

    /// <summary>Returns the end that the writer of a session has stated; 0: it is not known.</summary>
    internal ulong Required(ulong session) =>
        _memory is { IsOurs: true } memory && memory.EndsOf(ring) is var ends && ends.Session == session ? ends.Written : 0;
}
