using TierSpaces.Engine.Formats;
using TierSpaces.Engine.Primitives;

namespace TierSpaces.Engine.Journals;

// A crash-safe ring of 4 KiB blocks: reserve, write, commit, trim.
//
// Records are reserved in the open block. Write closes it and writes what is closed, one group in flight at a time;
// arrivals meanwhile form the next group. Commit flushes as well, in rounds shared by everyone who waits.
//
// Invariants
//  1. DurableTail ≤ Tail ≤ Durable ≤ Written < Next, once the first block is durable. A tail is stated by every block that follows, and
//     any one of them may be all that a power cut leaves of those: so what it points to has to be durable already.
//  2. Next − DurableTail ≤ ring length: a slot is reused only when a durable block says that its old block is not needed.
//  3. Block s carries the checksum of block s − 1: a chain has no holes and no foreign links.
//  4. After an error the journal takes nothing more: what it holds is what the disks can prove.

/// <summary>One journal.</summary>
public sealed class Journal
{
    private const int GroupBlocks = 16;

    private readonly BufferPool _buffers;
    private readonly IJournalMedium _medium;
    private readonly Guid _owner;
    private readonly Queue<Group> _closed = new();   // groups not yet written
    private readonly Queue<(ulong Sequence, ulong Tail)> _announced = new();   // tails that blocks on their way carry
    private readonly LaneSignal _changed = new();
    private Group? _open;            // group that takes reservations, or null
    private int _blockUsed;          // payload bytes used in the open block; −1: no open block
    private uint _previousChecksum;  // of block Written
    private ulong _tailAnnounced;    // Tail as the last sealed block carries it
    private ulong _stated;           // Durable as the last sealed block carries it
    private ulong _newestPayload;    // last sealed block that is not empty
    private bool _writing;
    private bool _flushing;
    private IoError _error;
    private Action<ulong, ulong, ulong>? _progressed;

    /// <summary>A journal that has been formatted or recovered; see <see cref="Format"/> and <see cref="JournalRecovery"/>.</summary>
    internal Journal(BufferPool buffers, IJournalMedium medium, Guid owner, ulong session, ulong tail, ulong last, uint lastChecksum)
    {
        _buffers = buffers;
        _medium = medium;
        _owner = owner;
        Session = session;
        Tail = DurableTail = _tailAnnounced = tail;
        Written = Durable = last;
        Next = last + 1;
        _previousChecksum = lastChecksum;
        _blockUsed = -1;
    }

    /// <summary>Sequence that the next block gets.</summary>
    public ulong Next { get; private set; }

    /// <summary>Highest sequence written on every live copy.</summary>
    public ulong Written { get; private set; }

    /// <summary>Highest sequence durable on every live copy.</summary>
    public ulong Durable { get; private set; }

    /// <summary>Oldest sequence still needed.</summary>
    public ulong Tail { get; private set; }

    /// <summary>Oldest sequence that a recovery would look for.</summary>
    public ulong DurableTail { get; private set; }

    /// <summary>Random number of this opening: what is appended from now on carries it.</summary>
    public ulong Session { get; private set; }

    /// <summary>Lets a caller follow the end: it gets session, last written and last durable block whenever one of the latter has changed.</summary>
    internal void FollowEnd(Action<ulong, ulong, ulong> progressed) => _progressed = progressed;

    /// <summary>Blocks that are written from now on are of another session.</summary>
    public void WriteAs(ulong session) => Session = session;

    /// <summary>Blocks that may still be opened.</summary>
    public int FreeBlocks => _medium.Blocks - (int)(Next - DurableTail);

    /// <summary>Blocks in the ring.</summary>
    public int Blocks => _medium.Blocks;

    /// <summary>Writes the first block of a new journal and makes it durable.</summary>
    public static async LaneTask<Journal?> Format(BufferPool buffers, IJournalMedium medium, Guid owner, ulong session)
    {
        Journal journal = new(buffers, medium, owner, session, 1, 0, 0);
        journal.Reserve(0, out ulong first);
        return await journal.Commit(first) == IoError.None ? journal : null;
    }

    /// <summary>
    /// Room for a record of <paramref name="size"/> bytes (0 to <see cref="JournalBlock.PayloadCapacity"/>), to be filled at once, and
    /// the sequence of the block that will carry it. The caller has seen to <see cref="FreeBlocks"/>.
    /// </summary>
    public Span<byte> Reserve(int size, out ulong sequence)
    {
        if (_blockUsed < 0 || _blockUsed + size > JournalBlock.PayloadCapacity)
        {
            OpenBlock();
        }

        Span<byte> room = _open!.Block(_open.Count - 1).Slice(JournalBlock.PayloadOffset + _blockUsed, size);
        _blockUsed += size;
        _open.Lengths[_open.Count - 1] = _blockUsed;
        sequence = Next - 1;
        return room;
    }

    /// <summary>Room left in the open block, in bytes.</summary>
    public int RoomInBlock => _blockUsed < 0 ? 0 : JournalBlock.PayloadCapacity - _blockUsed;

    /// <summary>Completes when everything reserved so far is written on every live copy.</summary>
    public async LaneTask<IoError> Write()
    {
        ulong upTo = Next - 1;
        while (Written < upTo && _error == IoError.None)
        {
            if (_writing)
            {
                await _changed.Wait();
            }
            else
            {
                await WriteClosed();
            }
        }

        return _error;
    }

    /// <summary>Completes when block <paramref name="sequence"/> is durable on every live copy.</summary>
    public async LaneTask<IoError> Commit(ulong sequence)
    {
        Invariant.That(sequence < Next, "A block is committed only after it was reserved.");
        IoError error = Written < sequence ? await Write() : _error;
        while (Durable < sequence && error == IoError.None)
        {
            if (_flushing)
            {
                await _changed.Wait();
                error = _error;
                continue;
            }

            _flushing = true;
            ulong upTo = Written;
            error = await _medium.Flush();
            _flushing = false;
            if (error == IoError.None)
            {
                NoteDurable(upTo);
            }
            else
            {
                _error = error;
            }

            _changed.NotifyAll();
        }

        return error;
    }

    /// <summary>The owner has flushed the journal's disks since block <paramref name="upTo"/> was written.</summary>
    public void NoteDurable(ulong upTo)
    {
        if (upTo <= Durable)
        {
            return;
        }

        Invariant.That(upTo <= Written, "A block is durable only after it was written.");
        Durable = upTo;
        while (_announced.TryPeek(out (ulong Sequence, ulong Tail) next) && next.Sequence <= Durable)
        {
            DurableTail = next.Tail;
            _announced.Dequeue();
        }

        RequireOrder();
        _progressed?.Invoke(Session, Written, Durable);
        _changed.NotifyAll();
    }

    /// <summary>
    /// Blocks before <paramref name="tail"/> are not needed any more; their slots are free once a durable block says so. The newest
    /// durable block is kept all the same: recovery begins at it.
    /// </summary>
    public void Trim(ulong tail)
    {
        Invariant.That(tail >= Tail && tail <= Next, "The tail only moves forward, at most to the end.");
        Tail = Math.Max(Tail, Math.Min(tail, Durable));
        RequireOrder();
    }

    /// <summary>
    /// Whether the newest durable block with a payload is stated by no other one: if it is damaged, a recovery takes it for a torn tail.
    /// </summary>
    public bool HasUnstatedEnd => _newestPayload > _stated && _newestPayload <= Durable;

    /// <summary>States the newest durable block with an empty one behind it, which is made durable.</summary>
    public async LaneTask<IoError> StateEnd()
    {
        _blockUsed = -1;
        Reserve(0, out ulong sequence);
        return await Commit(sequence);
    }

    /// <summary>Makes the tail durable, with an empty block when nothing else carries it.</summary>
    public async LaneTask<IoError> CommitTail()
    {
        if (DurableTail == Tail)
        {
            return IoError.None;
        }

        _blockUsed = -1;
        Reserve(0, out ulong sequence);
        return await Commit(sequence);
    }

    private void OpenBlock()
    {
        if (FreeBlocks <= 0)
        {
            throw new InvalidOperationException($"The ring of {Blocks} blocks is full: the tail is at {DurableTail}, the end at {Next}.");
        }

        if (_open is null || _open.Count == GroupBlocks || SlotOf(Next) == 0)
        {
            CloseGroup();
            _open = Group.Rent(_buffers, Next);
        }

        _open.Count++;
        _open.Lengths[_open.Count - 1] = 0;
        _blockUsed = 0;
        Next++;
        Invariant.That(FreeBlocks >= 0, "A slot is used again only when a durable block says that its old block is not needed.");
        Invariant.That(_open.First + (ulong)_open.Count == Next, "The blocks of a group follow each other up to the end.");
    }

    private void RequireOrder() => Invariant.That(
        Written < Next && Durable <= Written && (Durable == 0 || (DurableTail <= Tail && Tail <= Durable)),
        "DurableTail <= Tail <= Durable <= Written < Next, once the first block is durable.");

    private void CloseGroup()
    {
        _blockUsed = -1;
        if (_open is { } group)
        {
            _open = null;
            _closed.Enqueue(group);
        }
    }

    private async LaneTask<IoError> WriteClosed()
    {
        CloseGroup();
        _writing = true;
        while (_error == IoError.None && _closed.TryDequeue(out Group? group))
        {
            Invariant.That(group.First == Written + 1, "A group is written when everything before it is.");
            Seal(group);
            IoError error = await _medium.Write((long)SlotOf(group.First) * JournalBlock.Size, group.Buffer.Slice(0, group.Count * JournalBlock.Size));
            if (error == IoError.None)
            {
                Written = group.First + (ulong)group.Count - 1;
                RequireOrder();
                _progressed?.Invoke(Session, Written, Durable);
            }
            else
            {
                _error = error;
            }

            group.Return(_buffers);
        }

        _writing = false;
        _changed.NotifyAll();
        return _error;
    }

    private void Seal(Group group)
    {
        for (int i = 0; i < group.Count; i++)
        {
            ulong sequence = group.First + (ulong)i;
            JournalBlock header = new(
                _owner, Session, sequence, Math.Min(Durable, sequence - 1), Math.Min(Tail, sequence), _previousChecksum, group.Lengths[i]);
            Invariant.That(header.Durable < sequence && header.Tail <= sequence, "A block states only what was durable before it.");
            _previousChecksum = header.Seal(group.Block(i));
            _stated = header.Durable;
            _newestPayload = group.Lengths[i] > 0 ? sequence : _newestPayload;
            if (header.Tail != _tailAnnounced)
            {
                _tailAnnounced = header.Tail;
                _announced.Enqueue((sequence, header.Tail));
            }
        }
    }

    private int SlotOf(ulong sequence) => (int)(sequence % (ulong)_medium.Blocks);

    private sealed class Group
    {
        [ThreadStatic]
        private static Stack<Group>? s_free;

        internal IoBuffer Buffer;
        internal ulong First;
        internal int Count;

        internal int[] Lengths { get; } = new int[GroupBlocks];

        internal static Group Rent(BufferPool buffers, ulong first)
        {
            Group group = s_free is { Count: > 0 } free ? free.Pop() : new Group();
            group.Buffer = buffers.Rent(GroupBlocks * JournalBlock.Size);
            group.First = first;
            group.Count = 0;
            return group;
        }

        internal Span<byte> Block(int index) => Buffer.Span.Slice(index * JournalBlock.Size, JournalBlock.Size);

        internal void Return(BufferPool buffers)
        {
            buffers.Return(Buffer);
            (s_free ??= new()).Push(this);
        }
    }
}
