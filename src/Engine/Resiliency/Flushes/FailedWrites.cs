using TierSpaces.Engine.Primitives;
using TierSpaces.Engine.Resiliency.Layouts;

namespace TierSpaces.Engine.Resiliency;

// Blocks of which a write failed on every good copy. It may have arrived on some of them all the same, so that they match neither their entry nor each other.
// Such a block is settled as after an unclean stop: a copy that matches the entry wins; where none does, what the first one holds is taken for it.
//
// Invariants
//  1. A block is listed from the failure until it is written, zeroed, poisoned or settled.
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

    private readonly Dictionary<long, (SpaceRow Row, StripPiece Block)> _blocks = [];   // by address in the space
    private bool _isSettling;

    /// <summary>Reads a block under its lock, which settles it.</summary>
    internal required Func<SpaceRow, StripPiece, IoBuffer, LaneTask<IoError>> Settle { private get; init; }

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

    /// <summary>Lists a block of which a write has failed. The write is still admitted to its region.</summary>
    internal void Add(SpaceRow row, in StripPiece block)
    {
        if (_blocks.Count >= Max || !_blocks.TryAdd(AddressOf(block, 0), (row, block)))
        {
            return;
        }

        row.RegionAt(row.RegionOf(block.Column, block.SlabOffset)).Admit();
        if (!_isSettling)
        {
            _isSettling = true;
            SettleAll().Forget();
        }
    }

    /// <summary>Takes the blocks of a piece off the list.</summary>
    internal void Remove(in StripPiece piece)
    {
        for (int at = 0; _blocks.Count > 0 && at < piece.Length; at += BlockSize)
        {
            if (_blocks.Remove(AddressOf(piece, at), out (SpaceRow Row, StripPiece Block) listed))
            {
                ref Region region = ref listed.Row.RegionAt(listed.Row.RegionOf(listed.Block.Column, listed.Block.SlabOffset));
                region.End(parts.Flusher.NextRound, parts.Space.Lane.NowNs);
            }
        }
    }

    private async LaneTask SettleAll()
    {
        while (_blocks.Count > 0 && !parts.Space.Status.IsStopping)
        {
            await parts.Space.Lane.Delay(RetryNs);
            foreach ((SpaceRow row, StripPiece block) in _blocks.Values.ToArray())
            {
                if (parts.Space.Redundancy.IsReadable(row, block.Column, row.RegionOf(block.Column, block.SlabOffset)))
                {
                    await SettleOne(row, block);
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
            await Settle(row, block, buffer);
            parts.Space.Lane.Buffers.Return(buffer);
            row.Leave(generation);
        }

        parts.Space.Locks.Release(key, key + BlockSize);
        return default;
    }

    private long AddressOf(in StripPiece piece, int at) => parts.Space.Layout.AddressOf(piece.Row, piece.Column, piece.SlabOffset + at);
}
