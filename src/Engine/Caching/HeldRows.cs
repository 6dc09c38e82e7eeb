using TierSpaces.Engine.Primitives;
using TierSpaces.Engine.Resiliency;

namespace TierSpaces.Engine.Caching;

// Invariants
//  1. Every cached block has a row of its own on the backing store. The row is held until the block is forgotten, and no longer.
//  2. The backing store gives no row back that is held.

/// <summary>Rows of the backing store that the cache holds: per row, the number of blocks in the ring and of writes on their way.</summary>
internal sealed class HeldRows(IBackingStore backing)
{
    private int[] _blocks = [];   // per row

    /// <summary>Makes the backing store ask this cache whether a row is held.</summary>
    internal void Claim() => backing.KeepUnits(IsHeld);

    internal int RowOf(long offset) => (int)(offset / backing.UnitSize);

    internal bool IsHeld(int row) => row < _blocks.Length && _blocks[row] > 0;

    /// <summary>Holds the rows of a range; whether all of them exist already.</summary>
    internal bool Hold(long offset, long end)
    {
        bool all = true;
        for (int row = RowOf(offset); row <= RowOf(end - 1); row++)
        {
            HoldRow(row, 1);
            all &= backing.IsReserved(row);
        }

        return all;
    }

    /// <summary>Gives the rows of a range, durably, room of their own.</summary>
    internal async LaneTask<IoError> Reserve(long offset, long end)
    {
        IoError error = IoError.None;
        for (int row = RowOf(offset); row <= RowOf(end - 1) && error == IoError.None; row++)
        {
            error = await backing.Reserve(row);
        }

        return error;
    }

    internal void Unhold(long offset, long end)
    {
        for (int row = RowOf(offset); row <= RowOf(end - 1); row++)
        {
            HoldRow(row, -1);
        }
    }

    internal void HoldRow(int row, int change)
    {
        if (row >= _blocks.Length)
        {
            Array.Resize(ref _blocks, Math.Max(row + 1, RowOf(backing.Length - 1) + 1));
        }

        _blocks[row] += change;
        Invariant.That(_blocks[row] >= 0, "A row of the backing store is held until its last block is forgotten, and no longer.");
    }
}
