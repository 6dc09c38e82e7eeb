using TierSpaces.Engine.Primitives;

namespace TierSpaces.Engine.Resiliency;

// What a write cache in front of the space needs of it: a ring beside the data on the same members, so that one round of flushes
// covers both, and rows that exist before something is promised for them.

public sealed partial class Space
{
    /// <summary>Whether something in front of the space still holds data for a row: such a row is not given back.</summary>
    internal Func<int, bool>? IsRowHeld { get; set; }

    /// <summary>Grows with every change of members or places.</summary>
    internal int MembersVersion => _members.Version;

    /// <summary>A ring over slabs of its own, on the members of this space.</summary>
    /// <param name="copies">Per copy the slabs that follow each other.</param>
    /// <param name="length">Length in bytes, a multiple of 4096.</param>
    /// <param name="staleCopies">Copies that nothing may be recovered from, bit per copy.</param>
    /// <param name="mark">Records durably that a copy is stale.</param>
    /// <param name="clear">Records durably that it is whole again.</param>
    internal RingMedium AddRing(
        IReadOnlyList<IReadOnlyList<SlabPlace>> copies, long length, int staleCopies, Func<int, LaneTask<IoError>> mark, Func<int, LaneTask<IoError>> clear)
    {
        RingMedium ring = new(_members, copies, _shape.SlabSize, checked((int)(length / BlockSize)), staleCopies)
        {
            Name = "the write cache",
            KeepsLastCopy = true,
            PutOut = (disk, error, other) => PutOut(disk, error, other, "the write cache"),
            MarkStale = mark,
            ClearStale = clear,
        };
        _rings.Add(ring);
        return ring;
    }

    /// <summary>The ring holds nothing any more that anyone relies on.</summary>
    internal async LaneTask<Nothing> RemoveRing(RingMedium ring)
    {
        await ring.Suspend();
        _rings.Remove(ring);
        return default;
    }

    /// <summary>Moves a copy of a ring to other places, one disk's; the former ones are free when it is done.</summary>
    internal LaneTask<RepairEnd> Move(RingMedium ring, int copy, SlabPlace[] places, Func<LaneTask<IoError>> commit, IWorkPacer pacer) =>
        MoveRing(ring, copy, places, commit, pacer);

    /// <summary>Nothing can be promised any more, for a reason that lies in front of the space.</summary>
    internal void FailFront(IoError error, string reason) => Fail(error, reason);

    /// <summary>Whether a row has slabs of its own.</summary>
    internal bool IsReserved(int row) => _rows[row] is { IsInitialized: true };

    /// <summary>Gives a row, durably, slabs of its own when it has none.</summary>
    internal LaneTask<IoError> Reserve(int row) => PrepareRow(row);

    /// <summary>A row is held no more: an empty one of a thin disk goes back to the pool.</summary>
    internal void RowReleased(int row)
    {
        if (_options.IsThin && _shape.Checksums && row < _rows.Length && Fault == IoError.None && !_closing)
        {
            StartFreeingRows(row, row);
        }
    }

    /// <summary>The lowest rank among the disks of a row; the highest there is for a row without slabs.</summary>
    internal int LowestRank(int row, Func<int, int> rankOf)
    {
        int lowest = int.MaxValue;
        foreach (SlabPlace place in _rows[row]?.Places ?? [])
        {
            lowest = Math.Min(lowest, rankOf(place.Disk));
        }

        return lowest;
    }
}
