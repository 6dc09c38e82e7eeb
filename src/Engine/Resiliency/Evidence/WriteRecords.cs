using TierSpaces.Engine.Primitives;
using TierSpaces.Engine.Resiliency.Layouts;

namespace TierSpaces.Engine.Resiliency;

// The records of a space's unflushed writes, as its writes use them.
//
// A write begins a record before it is submitted and ends it when it has ended. An ended record stays until the flush round after the one that covers the write
// begins. An open record goes with every switch of the halves; so do the records of failed writes, until these are settled.
//
// Invariants
//  1. Every write is recorded before it is submitted, and marked acknowledged before it is acknowledged.
//  2. Records are appended without an await after there was room for them: others that waited for the same room look again.
//  3. A record that is open is in the active half.
//  4. Nothing reaches the memory after the space is closed.
//  5. Room for a zeroing, and for what a piece may record at most, is asked for before anything of it changes.

/// <summary>Records the writes of a space. A space without checksums, or whose host has no memory for the records, keeps none.</summary>
internal sealed class WriteRecords
{
    /// <summary>Ticket of a write that is not recorded.</summary>
    internal const int None = -1;

    private const int BlockSize = SpaceShape.BlockSize;

    private readonly SpaceStatus _status;
    private readonly ILayout _layout;
    private readonly SpaceShape _shape;
    private RecordMemory? _memory;   // null: none is kept, or not any more
    private OpenRecord[] _open = new OpenRecord[16];
    private int _free = None;    // first free entry of _open that was used before
    private int _used;           // entries of _open that were ever used
    private int _held;           // blocks of failed writes whose records are kept open

    internal WriteRecords(SpaceContext space)
    {
        (_status, _layout, _shape) = (space.Status, space.Layout, space.Shape);
        _memory = space.Options is { RecordMemory: { } memory, Shape.Checksums: true } ? MemoryIn(memory, _shape) : null;
        LogEnd = new EndStatement(_memory, StatedRing.Log);
        RingEnd = new EndStatement(_memory, StatedRing.Cache);
        ParityEnd = new EndStatement(_memory, StatedRing.Parity);
    }

    internal bool IsKept => _memory is not null;

    /// <summary>Most blocks that one write may record.</summary>
    internal int BlocksMax => _memory is { } memory ? memory.Capacity / RecordMemory.SlotsPerRecord : int.MaxValue;

    /// <summary>Whether half of the active half is used: a flush round that begins now ends before a writer has to wait for room.</summary>
    internal bool IsHalfFull => _memory is { } memory && memory.Room < memory.Capacity / 2;

    /// <summary>Returns the slots that a write of a piece takes at most; unmapping it takes fewer.</summary>
    internal static int SlotsFor(in StripPiece piece) => piece.Length / BlockSize * RecordMemory.SlotsPerRecord;

    internal bool HasRoom(int slots) => _memory is not { } memory || memory.Room >= slots;

    /// <summary>
    /// Records the write of a piece that is about to be submitted. The caller has made room. Returns the ticket to end it with.
    /// </summary>
    internal int Begin(in StripPiece piece, IoBuffer source, uint[] checksums)
    {
        if (_memory is not { } memory)
        {
            return None;
        }

        long block = BlockKey(piece);
        int count = piece.Length / BlockSize;
        int first = 0;
        for (int i = 0; i < count; i++)
        {
            int slot = memory.Add(block + i, checksums[i], SectorChecksums.Of(source.Slice(i * BlockSize, BlockSize).Span));
            first = i == 0 ? slot : first;
        }

        return Take(new OpenRecord(first, count));
    }

    /// <summary>Ends the record of a write that was carried out: it is about to be acknowledged.</summary>
    internal void Acknowledge(int ticket)
    {
        if (ticket != None)
        {
            OpenRecord record = _open[ticket];
            for (int i = 0; i < record.Blocks; i++)
            {
                _memory?.Acknowledge(record.Slot + (i * RecordMemory.SlotsPerRecord));
            }

            Release(ticket);
        }
    }

    /// <summary>Ends the record of a write that has failed: what it may have left counts until the next flush round is complete.</summary>
    internal void End(int ticket)
    {
        if (ticket != None)
        {
            Release(ticket);
        }
    }

    /// <summary>
    /// Keeps the record of a write that has failed open until its blocks are settled; null where such records would take more than a quarter of the room.
    /// Then the record has ended.
    /// </summary>
    internal RecordHold? Hold(int ticket)
    {
        if (ticket == None || _held + _open[ticket].Blocks > BlocksMax / 4)
        {
            End(ticket);
            return null;
        }

        _held += _open[ticket].Blocks;
        return new RecordHold(this, ticket);
    }

    /// <summary>Ends the record of a write that was held.</summary>
    internal void EndHeld(int ticket)
    {
        _held -= _open[ticket].Blocks;
        End(ticket);
    }

    /// <summary>Voids the open record of a block: what the write may have left of it does not count.</summary>
    internal void VoidBlock(int ticket, int index)
    {
        if (ticket != None)
        {
            Invariant.That(index < _open[ticket].Blocks, "A block is voided while the record of its write is open.");
            _memory?.Void(_open[ticket].Slot + (index * RecordMemory.SlotsPerRecord));
        }
    }

    /// <summary>Records that a block is never-written from here on: older records of it do not count. The caller has made room for a slot.</summary>
    internal void Zero(in StripPiece piece, int at) => _memory?.AddZeroed(BlockKey(piece) + at);

    /// <summary>Records that a block is lost from here on: older records of it do not count. The caller has made room for a slot.</summary>
    internal void Lose(in StripPiece piece, int at) => _memory?.AddLost(BlockKey(piece) + at);

    /// <summary>
    /// Directs new records to the other half, open ones included. Until the records of a former process have been judged nothing changes.
    /// </summary>
    internal void Switch()
    {
        if (_status.IsOpening || _memory is not { } memory)
        {
            return;
        }

        memory.Switch();
        for (int ticket = 0; ticket < _used; ticket++)
        {
            if (_open[ticket] is { Blocks: > 0 } record)
            {
                _open[ticket] = record with { Slot = memory.Carry(record.Slot, record.Blocks * RecordMemory.SlotsPerRecord) };
            }
        }
    }

    /// <summary>States the end of the integrity log.</summary>
    internal EndStatement LogEnd { get; }

    /// <summary>States the end of the ring of a write cache in front.</summary>
    internal EndStatement RingEnd { get; }

    /// <summary>States the end of the parity journal.</summary>
    internal EndStatement ParityEnd { get; }

    /// <summary>Returns the last block that the log has to have, as far as that is known; 0: it is not.</summary>
    /// <param name="lastSession">Session of the last block that was found.</param>
    /// <param name="incarnationOf">Returns the incarnation of a disk, or null if it is away.</param>
    internal ulong LogEndOf(ulong lastSession, Func<int, ulong?> incarnationOf)
    {
        (ulong written, ulong durable) = _memory?.LogEnd(lastSession) ?? default;
        return _memory?.FindLostCaches(incarnationOf).Count > 0 ? durable : written;
    }

    /// <summary>Takes over what a process that died has left.</summary>
    internal FoundRecords TakeOver(ulong lastSession, Func<int, ulong?> incarnationOf)
    {
        if (_memory is not { } memory)
        {
            return new FoundRecords(WriteKnowledge.None, []);
        }

        FoundRecords found = memory.TakeOver(lastSession);
        HashSet<int> lost = memory.FindLostCaches(incarnationOf);
        if (lost.Count == 0)
        {
            return found;
        }

        RingEnd.RequireDurableOnly();
        ParityEnd.RequireDurableOnly();
        LogEnd.RequireDurableOnly();
        return found with { Knowledge = found.Knowledge == WriteKnowledge.Whole ? WriteKnowledge.CachesLost : found.Knowledge, LostCaches = lost };
    }

    /// <summary>
    /// Leaves the memory as it is: the space is closed, and a request that ends late, or work in the background, does not reach what another opening uses.
    /// </summary>
    internal void Detach()
    {
        _memory = null;
        LogEnd.Detach();
        ParityEnd.Detach();
        RingEnd.Detach();
    }

    internal void NameSuccessor(ulong session) => _memory?.NameSuccessor(session);

    /// <summary>Starts the records of a session.</summary>
    /// <param name="session">Session of the log.</param>
    /// <param name="unresolved">Knowledge of the unflushed writes of earlier sessions, in the regions that are unresolved now.</param>
    /// <param name="disks">Members that the space uses.</param>
    internal void Start(ulong session, WriteKnowledge unresolved, IEnumerable<(int Disk, ulong Incarnation)> disks)
    {
        if (_memory is not { } memory)
        {
            return;
        }

        memory.Start(session, unresolved);
        memory.ClearIncarnations();
        foreach ((int disk, ulong incarnation) in disks)
        {
            memory.AddDisk(disk, incarnation);
        }
    }

    /// <summary>Disks have come back: what they miss, and what they may have lost, is stale on them.</summary>
    internal void NoteReturned(IEnumerable<(int Disk, ulong Incarnation)> disks)
    {
        foreach ((int disk, ulong incarnation) in disks)
        {
            _memory?.SetDisk(disk, incarnation);
        }
    }

    /// <summary>Records that a disk is used, before the first write to it.</summary>
    internal void NoteDisk(int disk, ulong incarnation) => _memory?.AddDisk(disk, incarnation);

    /// <summary>The regions that were unresolved at the start of the session are resolved.</summary>
    internal void EndUnresolved() => _memory?.EndUnresolved();

    /// <summary>Returns the block that a key names: row, column and offset in its slab. Whether there is such a row the caller checks.</summary>
    internal StripPiece PieceOf(long key)
    {
        long address = key * BlockSize;
        long slab = address / _shape.SlabSize;
        return new((int)(slab / _layout.Columns), (int)(slab % _layout.Columns), (int)(address % _shape.SlabSize), BlockSize);
    }

    /// <summary>Whether the key of a record can be one of this many rows.</summary>
    internal bool IsWithin(long key, int rows) => key < rows * ((long)_layout.Columns * _shape.SlabSize / BlockSize);

    /// <summary>Returns the key of the first block of a piece.</summary>
    internal long BlockKey(in StripPiece piece) => (((((long)piece.Row * _layout.Columns) + piece.Column) * _shape.SlabSize) + piece.SlabOffset) / BlockSize;

    private int Take(OpenRecord record)
    {
        int ticket = _free;
        if (ticket != None)
        {
            _free = _open[ticket].Slot;
        }
        else
        {
            if (_used == _open.Length)
            {
                Array.Resize(ref _open, 2 * _open.Length);
            }

            ticket = _used++;
        }

        _open[ticket] = record;
        return ticket;
    }

    private void Release(int ticket)
    {
        Invariant.That(_open[ticket].Blocks > 0, "A record ends once.");
        _open[ticket] = new OpenRecord(_free, 0);
        _free = ticket;
    }

    /// <summary>Makes the memory. A half must take the records of a whole piece, or a writer would wait for room without end.</summary>
    private static RecordMemory MemoryIn(IoBuffer memory, in SpaceShape shape)
    {
        RecordMemory records = new(memory);
        int needed = shape.Parities == 0 ? Math.Min(shape.PageSpan, shape.RegionSize) / BlockSize * RecordMemory.SlotsPerRecord
            : shape.Columns * RecordMemory.SlotsPerRecord;
        return records.Capacity >= needed ? records
            : throw new ArgumentException($"A record memory of {records.Capacity} slots a half: a write takes up to {needed}.", nameof(memory));
    }

    /// <summary>An open record: its first slot in the active half, and its blocks. Without blocks it is free, and Slot is the next free one.</summary>
    private readonly record struct OpenRecord(int Slot, int Blocks);
}
