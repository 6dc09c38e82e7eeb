using TierSpaces.Engine.Primitives;
using TierSpaces.Engine.Resiliency.Layouts;

namespace TierSpaces.Engine.Resiliency;

// Blocks of which a write failed on every good copy. It may have arrived on some of them all the same, whole or in part, so that they match neither their
// entry nor each other. Until it is settled the block may be as before or as written: these values are legal, and nothing else is (Judgement).
// Without checksums nothing proves a value: what the first copy holds is taken.
//
// Invariants
//  1. A block is listed from the failure until it is written, zeroed, poisoned or settled. So long its record stays in the memory that outlives the process.
//  2. The region of a listed block stays dirty: a stop meanwhile makes its copies agree at the next opening.
//  3. A listed block is settled under its lock before it is answered from, copied or judged, and every second until its copies answer.
//  4. The list has at most Max blocks; one that is beyond gives an error, if the write arrived, until it is written or the space is opened again.

/// <summary>The blocks of a simple or mirrored space of which a write has failed.</summary>
internal sealed class FailedWrites(EngineParts parts)
{
    /// <summary>Most blocks that are listed.</summary>
    internal const int Max = 65_536;

    private const int BlockSize = SpaceShape.BlockSize;
    private const long RetryNs = 1_000_000_000;

    private readonly Dictionary<long, FailedBlock> _blocks = [];   // by address in the space
    private bool _isSettling;

    /// <summary>Reads a block under its lock, which settles it.</summary>
    internal required Func<SpaceRow, StripPiece, IoBuffer, LaneTask<IoError>> Read { private get; init; }

    /// <summary>Whether any block of a piece is listed.</summary>
    internal bool Contains(in StripPiece piece)
    {
        for (int at = 0; _blocks.Count > 0 && at < piece.Length; at += BlockSize)
        {
            if (_blocks.ContainsKey(AddressOf(piece, at)))
            {
                return true;
            }
        }

        return false;
    }

    /// <summary>Returns the writes of a block that have failed since it was good, oldest first; null: none.</summary>
    internal List<WriteRecord>? RecordsOf(in StripPiece block) =>
        _blocks.Count > 0 && _blocks.TryGetValue(AddressOf(block, 0), out FailedBlock? listed) ? listed.Records : null;

    /// <summary>Lists a block of which a write has failed. The write is still admitted to its region.</summary>
    /// <param name="row">Row of the block.</param>
    /// <param name="block">The block.</param>
    /// <param name="record">The value that the write would have left; null without checksums.</param>
    /// <param name="hold">Keeps the record of the write open; null where it is not kept.</param>
    /// <param name="index">Number of the block in the record.</param>
    internal void Add(SpaceRow row, in StripPiece block, WriteRecord? record, RecordHold? hold, int index)
    {
        if (!_blocks.TryGetValue(AddressOf(block, 0), out FailedBlock? listed))
        {
            if (_blocks.Count >= Max)
            {
                return;
            }

            _blocks[AddressOf(block, 0)] = listed = new FailedBlock(row, block);
            row.RegionAt(row.RegionOf(block.Column, block.SlabOffset)).Admit();
        }

        if (record is { } known)
        {
            listed.Records.Add(known);
        }

        if (hold is not null)
        {
            hold.Take();
            listed.Holds.Add((hold, index));
        }

        listed.TriedAt = -1;
        if (!_isSettling)
        {
            _isSettling = true;
            SettleAll().Forget();
        }
    }

    /// <summary>Takes the blocks of a piece off the list: they were written, zeroed or poisoned since.</summary>
    internal void Remove(in StripPiece piece)
    {
        for (int at = 0; _blocks.Count > 0 && at < piece.Length; at += BlockSize)
        {
            Remove(AddressOf(piece, at), isSettled: false);
        }
    }

    /// <summary>Takes a block off the list whose value is decided: what its failed writes would have left does not count any more.</summary>
    internal void Settle(in StripPiece block) => Remove(AddressOf(block, 0), isSettled: true);

    private void Remove(long address, bool isSettled)
    {
        if (!_blocks.Remove(address, out FailedBlock? listed))
        {
            return;
        }

        foreach ((RecordHold hold, int index) in listed.Holds)
        {
            hold.Release(isSettled ? index : -1);
        }

        ref Region region = ref listed.Row.RegionAt(listed.Row.RegionOf(listed.Block.Column, listed.Block.SlabOffset));
        region.End(parts.Flusher.NextRound, parts.Space.Lane.NowNs);
    }

    private async LaneTask SettleAll()
    {
        while (_blocks.Count > 0 && !parts.Space.Status.IsStopping)
        {
            await parts.Space.Lane.Delay(RetryNs);
            foreach (FailedBlock listed in _blocks.Values.ToArray())
            {
                // A block in doubt, or a lost one, stays so until a disk has come or gone.
                bool isWorthIt = listed.TriedAt != parts.Space.Members.Version;
                if (isWorthIt && parts.Space.Redundancy.IsReadable(
                    listed.Row, listed.Block.Column, listed.Row.RegionOf(listed.Block.Column, listed.Block.SlabOffset)))
                {
                    listed.TriedAt = parts.Space.Members.Version;
                    await SettleOne(listed.Row, listed.Block);
                }
            }
        }

        _isSettling = false;
    }

    private async LaneTask<Nothing> SettleOne(SpaceRow row, StripPiece block)
    {
        long key = parts.Space.Layout.LockKey(row.Index, parts.Space.Layout.GroupOf(block.Column), block.SlabOffset);
        await parts.Space.Locks.Acquire(key, key + BlockSize);
        if (Contains(block) && !parts.Space.Status.IsStopping)
        {
            int generation = row.Enter();   // a slab that moves away meanwhile is another owner's only when this has ended
            IoBuffer buffer = parts.Space.Lane.Buffers.Rent(BlockSize);
            await Read(row, block, buffer);
            parts.Space.Lane.Buffers.Return(buffer);
            row.Leave(generation);
        }

        parts.Space.Locks.Release(key, key + BlockSize);
        return default;
    }

    private long AddressOf(in StripPiece piece, int at) => parts.Space.Layout.AddressOf(piece.Row, piece.Column, piece.SlabOffset + at);

    /// <summary>A listed block.</summary>
    private sealed class FailedBlock(SpaceRow row, StripPiece block)
    {
        internal SpaceRow Row => row;

        internal StripPiece Block => block;

        internal List<WriteRecord> Records { get; } = [];

        internal List<(RecordHold Hold, int Index)> Holds { get; } = [];

        /// <summary>Version of the members at which it was tried last; −1: not since it failed.</summary>
        internal long TriedAt { get; set; } = -1;
    }
}

/// <summary>Keeps the record of a failed write open as long as a block of it is not settled.</summary>
internal sealed class RecordHold(WriteRecords records, int ticket)
{
    private int _blocks = 1;   // and the one who makes it

    /// <summary>Another block needs the record.</summary>
    internal void Take() => _blocks++;

    /// <summary>Voids the record of a block: what the write may have left of it does not count.</summary>
    internal void Void(int index) => records.VoidBlock(ticket, index);

    /// <summary>A block does not need the record any more.</summary>
    /// <param name="settled">Number of a block whose record is voided; −1: none.</param>
    internal void Release(int settled)
    {
        if (settled >= 0)
        {
            Void(settled);
        }

        if (--_blocks == 0)
        {
            records.EndHeld(ticket);
        }
    }
}
