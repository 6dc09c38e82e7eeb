using TierSpaces.Engine.Formats;
using TierSpaces.Engine.Primitives;

namespace TierSpaces.Engine.Journals;

/// <summary>Result of opening a journal.</summary>
public enum JournalState
{
    /// <summary>The chain is whole on every live copy, durably.</summary>
    Recovered,

    /// <summary>A block that was durable is missing on every copy, or no block was found: damage, not a torn tail.</summary>
    Corrupt,

    /// <summary>A block that the writer stated is missing on every copy that is there, and a copy is away that may have it.</summary>
    Incomplete,

    /// <summary>The copies could not be read or written.</summary>
    Failed,
}

// Opens a ring after any stop.
//
//  1. Read every slot of every copy that answers; a block that fails its own checks does not exist.
//  2. The highest tail and the highest durable sequence that any block states bound the chain.
//  3. From the tail on, take any copy's block that links to the one before; stop at the first that no copy has.
//  4. A stop at or below the durable sequence is corruption; above it, a torn tail: the rest was never promised. Below the end that the writer has stated
//     elsewhere it is damage: while a copy is away that may have the rest nothing is concluded from that.
//  5. Write what some copy lacks to all copies, flush, and only then hand the records out.

/// <summary>Recovery of a <see cref="Journal"/>.</summary>
public sealed class JournalRecovery
{
    private readonly BufferPool _buffers;
    private readonly IJournalMedium _medium;
    private readonly Guid _owner;
    private readonly Dictionary<ulong, List<Found>> _found = [];
    private ulong _tail;
    private ulong _durable;

    private JournalRecovery(BufferPool buffers, IJournalMedium medium, Guid owner)
    {
        _buffers = buffers;
        _medium = medium;
        _owner = owner;
    }

    /// <summary>Outcome.</summary>
    public JournalState State { get; private set; } = JournalState.Failed;

    /// <summary>The journal, ready to take more, when recovered.</summary>
    public Journal? Journal { get; private set; }

    /// <summary>Whether blocks behind the last one, which the writer has stated elsewhere, are on no copy.</summary>
    public bool HasLostEnd { get; private set; }

    /// <summary>Session of the last block: who wrote last.</summary>
    public ulong LastSession { get; private set; }

    /// <summary>Payloads from the tail to the end, oldest first.</summary>
    public IReadOnlyList<(ulong Sequence, byte[] Payload)> Records { get; private set; } = [];

    /// <summary>Reads the ring, makes its tail whole and durable, and gives back journal and records.</summary>
    /// <param name="buffers">Memory.</param>
    /// <param name="medium">The ring.</param>
    /// <param name="owner">Owner of the journal.</param>
    /// <param name="session">Session of the blocks to come.</param>
    /// <param name="statedEnd">
    /// Returns the last block that the writer of a session has stated elsewhere; 0: it is not known. Null: none states it.
    /// </param>
    public static async LaneTask<JournalRecovery> Recover(
        BufferPool buffers, IJournalMedium medium, Guid owner, ulong session, Func<ulong, ulong>? statedEnd = null)
    {
        JournalRecovery recovery = new(buffers, medium, owner);
        int readable = 0;
        for (int copy = 0; copy < medium.Copies; copy++)
        {
            readable += await recovery.ReadCopy(copy) ? 1 : 0;
        }

        if (readable == 0)
        {
            return recovery;
        }

        List<Found> chain = recovery.LongestChain();
        if (chain.Count == 0 || chain[^1].Header.Sequence < recovery._durable)
        {
            recovery.State = JournalState.Corrupt;
            return recovery;
        }

        recovery.HasLostEnd = statedEnd?.Invoke(chain[^1].Header.Session) > chain[^1].Header.Sequence;
        if (recovery.HasLostEnd && medium.IsCopyAway)
        {
            recovery.State = JournalState.Incomplete;
            return recovery;
        }

        if (await recovery.MakeWhole(chain, readable) != IoError.None)
        {
            return recovery;
        }

        recovery.Accept(chain, session);
        return recovery;
    }

    private void Accept(List<Found> chain, ulong session)
    {
        Found last = chain[^1];
        Journal = new Journal(_buffers, _medium, _owner, session, _tail, last.Header.Sequence, last.Checksum);
        Records = chain.ConvertAll(block =>
            (block.Header.Sequence, block.Bytes.AsSpan(JournalBlock.PayloadOffset, block.Header.PayloadLength).ToArray()));
        LastSession = last.Header.Session;
        State = JournalState.Recovered;
    }

    private async LaneTask<bool> ReadCopy(int copy)
    {
        const int chunk = 256;
        IoBuffer buffer = _buffers.Rent(Math.Min(chunk, _medium.Blocks) * JournalBlock.Size);
        bool any = false;
        for (int slot = 0; slot < _medium.Blocks; slot += chunk)
        {
            int blocks = Math.Min(chunk, _medium.Blocks - slot);
            IoBuffer part = buffer.Slice(0, blocks * JournalBlock.Size);
            if (await _medium.Read(copy, (long)slot * JournalBlock.Size, part) != IoError.None)
            {
                continue;
            }

            any = true;
            for (int i = 0; i < blocks; i++)
            {
                Note(slot + i, part.Span.Slice(i * JournalBlock.Size, JournalBlock.Size));
            }
        }

        _buffers.Return(buffer);
        return any;
    }

    private void Note(int slot, ReadOnlySpan<byte> block)
    {
        if (!JournalBlock.TryRead(block, _owner, out JournalBlock header, out uint checksum)
            || (int)(header.Sequence % (ulong)_medium.Blocks) != slot)
        {
            return;
        }

        _tail = Math.Max(_tail, header.Tail);
        _durable = Math.Max(_durable, header.Durable);
        if (!_found.TryGetValue(header.Sequence, out List<Found>? same))
        {
            _found[header.Sequence] = same = [];
        }

        foreach (Found known in same)
        {
            if (known.Checksum == checksum)
            {
                known.Copies++;
                return;
            }
        }

        same.Add(new Found(header, checksum, block.ToArray()));
    }

    private List<Found> LongestChain()
    {
        List<Found> longest = [];
        foreach (Found start in _found.GetValueOrDefault(_tail) ?? [])
        {
            List<Found> chain = [start];
            while (Successor(chain[^1]) is { } next)
            {
                chain.Add(next);
            }

            longest = chain.Count > longest.Count ? chain : longest;
        }

        return longest;
    }

    private Found? Successor(Found block) =>
        _found.GetValueOrDefault(block.Header.Sequence + 1)?.Find(next => next.Header.PreviousChecksum == block.Checksum);

    private async LaneTask<IoError> MakeWhole(List<Found> chain, int readable)
    {
        IoBuffer buffer = _buffers.Rent(JournalBlock.Size);
        IoError error = IoError.None;
        foreach (Found block in chain)
        {
            if (block.Copies < readable && error == IoError.None)
            {
                block.Bytes.CopyTo(buffer.Span);
                error = await _medium.Write((long)(block.Header.Sequence % (ulong)_medium.Blocks) * JournalBlock.Size, buffer);
            }
        }

        _buffers.Return(buffer);
        return error == IoError.None ? await _medium.Flush() : error;
    }

    private sealed class Found(JournalBlock header, uint checksum, byte[] bytes)
    {
        internal JournalBlock Header { get; } = header;

        internal uint Checksum { get; } = checksum;

        internal byte[] Bytes { get; } = bytes;

        internal int Copies { get; set; } = 1;
    }
}
