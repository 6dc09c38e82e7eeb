using TierSpaces.Engine.Formats;
using TierSpaces.Engine.Journals;
using TierSpaces.Engine.Primitives;
using TierSpaces.Engine.Resiliency.Layouts;

namespace TierSpaces.Engine.Resiliency;

// Closes the write hole. A change of lines that does not write whole stripes to disks that are all in is recorded first: the new contents of all strips that it
// writes, parity among them. After an unclean stop the changes that may have been under way are done again, so that data, parity and entries agree whichever
// disks are missing.
//
// A record is open until its change is in place and entered, done after that, and void when a flush that began later has ended. Records become void in
// their order.
//
// Invariants (tests/Models/parity-journal.py)
//  1. A record is durable on every live copy of the ring before its change begins in place.
//  2. A record is void only when what it changed is durable with its entries.
//  3. A change without a record begins only when all records of its stripe are durably void (Retire): else a replay would undo it.
//  4. The newest durable record is stated by a second durable block within 100 ms, if nothing follows it and there is room.
//  5. _oldest ≤ _durableVoid ≤ _void ≤ _next, as numbers of records; those from _oldest on are in _records and counted in _keys.

/// <summary>The parity journal of a space.</summary>
internal sealed class ParityJournal : IFlushFollower
{
    private const int Spare = 4;   // blocks for void marks, so that a full ring can be emptied

    private readonly SpaceContext _space;
    private readonly SpaceLog _log;
    private readonly SpaceFlusher _flusher;
    private readonly int[] _keys = new int[4096];   // records of stripes, by a hash
    private readonly LaneSignal _changed = new();
    private OpenRecord[] _records = new OpenRecord[256];   // by number; the length is a power of two
    private Journal? _journal;
    private EndStating? _stating;
    private ulong _oldest = 1;
    private ulong _durableVoid = 1;
    private ulong _void = 1;
    private ulong _next = 1;
    private ulong _covered = 1;   // by the flush round that runs
    private bool _isMarking;

    internal ParityJournal(SpaceContext space, SpaceLog log, SpaceFlusher flusher)
    {
        (_space, _log, _flusher) = (space, log, flusher);
        flusher.FollowBy(this);
    }

    /// <summary>Most bytes of each strip of one change, a multiple of 4096: a quarter of the ring takes all of its strips. At least one line.</summary>
    internal int StripMax =>
        Math.Max(1, _log.ParityBlocks / 4 / _space.Shape.Columns * (JournalBlock.PayloadCapacity - ParityRecord.DataHeadSize) / SpaceShape.BlockSize)
        * SpaceShape.BlockSize;

    /// <summary>Takes an empty journal, or one whose records have all been replayed.</summary>
    internal void Use(Journal journal, ulong next)
    {
        _journal = journal;
        _stating = _space.StateEndOf(journal, () => journal.FreeBlocks > journal.Blocks / 2);
        (_oldest, _durableVoid, _void, _next, _covered) = (next, next, next, next, next);
    }

    /// <summary>Whether a block that states the end of the journal is on its way.</summary>
    internal bool IsStating => _stating is { IsWriting: true };

    /// <summary>
    /// Records a change durably. Returns the number of its record, for <see cref="End"/>; with NoSpace the record may become durable yet
    /// (<see cref="IsDurable"/>), and 0 means that there is none.
    /// </summary>
    internal async LaneTask<(IoError Error, ulong Number)> Record(ParityStretch lines, ParityChange change)
    {
        int bytes = System.Numerics.BitOperations.PopCount(change.Written) * lines.Length;
        IoError error = await Room(ParityRecord.BlocksFor(bytes));
        if (error != IoError.None)
        {
            return (error, 0);
        }

        ulong number = _next;
        ulong voidBefore = _void;
        ulong last = Append(lines, change, voidBefore);
        At(number).Last = last;
        error = await _space.Members.OrNoSpace(_journal!.Commit(last));
        if (error == IoError.NoSpace && _space.Status.Fault == IoError.None)
        {
            return (error, number);
        }

        if (error != IoError.None)
        {
            error = _space.Status.Fail(error, "the parity journal could not be written");
            _changed.NotifyAll();
            return (error, number);
        }

        _stating!.Begin();
        _space.Counters.Parity.NoteRecord();
        NoteDurablyVoid(voidBefore);
        return (IoError.None, number);
    }

    /// <summary>Whether a record is durable by now.</summary>
    internal bool IsDurable(ulong number) => _journal!.Durable >= At(number).Last;

    /// <summary>The change of a record is in place and entered; or it has failed, and its record stays open.</summary>
    internal void End(ulong number, bool isDone)
    {
        (At(number).IsDone, At(number).HasFailed) = (isDone, !isDone);
        _changed.NotifyAll();
    }

    /// <summary>Completes when no record of a stripe would be replayed any more.</summary>
    internal async LaneTask<IoError> Retire(int row, int slabOffset)
    {
        int key = KeyOf(row, slabOffset);
        IoError error = _space.Status.Fault;
        while (_keys[key] > 0 && error == IoError.None)
        {
            error = await VoidSome();
        }

        return error;
    }

    /// <summary>Makes it durable that no record is to be replayed: all of them have been.</summary>
    internal LaneTask<IoError> MarkAllVoid() => MarkVoid();

    /// <inheritdoc/>
    void IFlushFollower.OnRoundBegun()
    {
        _covered = _void;
        while (_covered < _next && At(_covered).IsDone)
        {
            _covered++;
        }
    }

    /// <inheritdoc/>
    void IFlushFollower.OnRoundEnded()
    {
        Invariant.That(_covered >= _void && _covered <= _next, "Records become void in their order.");
        _void = _covered;
        TrimVoid();
    }

    /// <summary>Blocks of void records are not needed any more.</summary>
    private void TrimVoid() => _journal?.Trim(_void < _next ? At(_void).First : _journal.Next);

    private async LaneTask<IoError> Room(int blocks)
    {
        IoError error = _space.Status.Fault;
        while (_journal!.FreeBlocks < blocks + Spare && error == IoError.None)
        {
            error = await VoidSome();
        }

        return error;
    }

    /// <summary>
    /// Makes the records that are done void, durably. Where the oldest one is open, it waits until that one is done; NoSpace if its change has failed for want
    /// of room.
    /// </summary>
    private async LaneTask<IoError> VoidSome()
    {
        if (_void < _next && At(_void).HasFailed)
        {
            return IoError.NoSpace;
        }

        if (_isMarking || (_void < _next && !At(_void).IsDone))
        {
            await _changed.Wait();
            return _space.Status.Fault;
        }

        _isMarking = true;
        IoError error = _void < _next ? await _flusher.Flush() : IoError.None;
        error = error == IoError.None ? await MarkVoid() : error;
        _isMarking = false;
        _changed.NotifyAll();
        return error;
    }

    private async LaneTask<IoError> MarkVoid()
    {
        ulong voidBefore = _void;
        TrimVoid();   // what an opening has found is void too, and no round of flushes may have followed it
        ParityRecord.WriteVoid(_journal!.Reserve(ParityRecord.VoidSize, out ulong sequence), voidBefore);
        IoError error = await _space.Members.OrNoSpace(_journal.Commit(sequence));
        if (error == IoError.NoSpace && _space.Status.Fault == IoError.None)
        {
            return error;
        }

        if (error != IoError.None)
        {
            return _space.Status.Fail(error, "the parity journal could not be written");
        }

        NoteDurablyVoid(voidBefore);
        return IoError.None;
    }

    private void NoteDurablyVoid(ulong voidBefore)
    {
        _durableVoid = Math.Max(_durableVoid, voidBefore);
        for (; _oldest < _durableVoid; _oldest++)
        {
            _keys[At(_oldest).Key]--;
        }
    }

    /// <summary>Appends a record without an await: its parts follow each other. Returns the sequence of its last block.</summary>
    private ulong Append(ParityStretch lines, in ParityChange change, ulong voidBefore)
    {
        ParityRecordHead head = new(
            _next, voidBefore, lines.Row.Index, lines.SlabOffset, lines.Length, change.Written, change.Zeroed, change.Poisoned);
        ParityRecord.WriteHead(_journal!.Reserve(ParityRecord.HeadSize, out ulong first), head);
        ulong last = first;
        for (int strip = 0; strip < lines.Strips; strip++)
        {
            ReadOnlySpan<byte> rest = (change.Written >> strip & 1) != 0 ? lines[strip].Span : [];
            while (rest.Length > 0)
            {
                int room = _journal.RoomInBlock - ParityRecord.DataHeadSize;
                int count = Math.Min(rest.Length, room > 0 ? room : JournalBlock.PayloadCapacity - ParityRecord.DataHeadSize);
                ParityRecord.WriteData(_journal.Reserve(ParityRecord.DataHeadSize + count, out last), rest[..count]);
                rest = rest[count..];
            }
        }

        Add(new OpenRecord(first, KeyOf(lines.Row.Index, lines.SlabOffset)));
        return last;
    }

    private void Add(OpenRecord record)
    {
        if (_next - _oldest == (ulong)_records.Length)
        {
            OpenRecord[] larger = new OpenRecord[_records.Length * 2];
            for (ulong number = _oldest; number < _next; number++)
            {
                larger[number % (ulong)larger.Length] = At(number);
            }

            _records = larger;
        }

        _records[_next % (ulong)_records.Length] = record;
        _keys[record.Key]++;
        _next++;
    }

    private ref OpenRecord At(ulong number) => ref _records[number % (ulong)_records.Length];

    private int KeyOf(int row, int slabOffset) =>
        (int)((((uint)row * 0x9E3779B1u) ^ ((uint)(slabOffset / _space.Shape.Interleave) * 0x85EBCA6Bu)) >> 20);

    private struct OpenRecord(ulong first, int key)
    {
        /// <summary>Sequence of the block in which it begins.</summary>
        internal readonly ulong First = first;

        internal readonly int Key = key;

        /// <summary>Sequence of the block in which it ends.</summary>
        internal ulong Last = ulong.MaxValue;

        /// <summary>Whether its change is in place and entered.</summary>
        internal bool IsDone;

        /// <summary>Whether its change has failed half way and is to be done again.</summary>
        internal bool HasFailed;
    }
}
