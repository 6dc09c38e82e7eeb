using TierSpaces.Engine.Primitives;

namespace TierSpaces.Engine.Resiliency;

// The space as the home of what stands in front of it: rows are its units of room.

public sealed partial class Space
{
    private byte[] _rowRanks = [];   // 1 + rank of the slowest disk of a row; 0: not known
    private int _ranksVersion = -1;  // members as they were when these were looked up

    /// <inheritdoc/>
    public Func<int, bool>? IsUnitHeld { get; set; }

    /// <inheritdoc/>
    public long UnitSize => _shape.RowSize;

    /// <inheritdoc/>
    public int MembersVersion => _members.Version;

    /// <inheritdoc/>
    RingMedium IRingStand.AddRing(
        IReadOnlyList<IReadOnlyList<SlabPlace>> copies, long length, int staleCopies, Func<int, LaneTask<IoError>> mark, Func<int, LaneTask<IoError>> clear) =>
        _rings.AddWriteCache(_host, copies, _shape.SlabSize, length, staleCopies, mark, clear);

    /// <inheritdoc/>
    LaneTask<Nothing> IRingStand.RemoveRing(RingMedium ring) => _rings.Remove(ring);

    /// <inheritdoc/>
    LaneTask<RepairEnd> IRingStand.Move(RingMedium ring, int copy, SlabPlace[] places, Func<LaneTask<IoError>> commit, IWorkPacer pacer) =>
        MoveRing(ring, copy, places, commit, pacer);

    /// <inheritdoc/>
    public void FailFront(IoError error, string reason) => Fail(error, reason);

    /// <inheritdoc/>
    public bool IsReserved(int unit) => _rows[unit] is { IsInitialized: true };

    /// <inheritdoc/>
    public LaneTask<IoError> Reserve(int unit) => PrepareRow(unit);

    /// <summary>Nothing is to be done: a row that holds nothing is found when its last block is unmapped.</summary>
    public void UnitUnmapped(int unit)
    {
    }

    /// <inheritdoc/>
    public void UnitReleased(int unit)
    {
        if (_options.IsThin && _shape.Checksums && unit < _rows.Length && Fault == IoError.None && !_closing)
        {
            StartFreeingRows(unit, unit);
        }
    }

    /// <inheritdoc/>
    public int LowestRank(int unit, Func<int, int> rankOf)
    {
        if (_ranksVersion != _members.Version || _rowRanks.Length != _rows.Length)
        {
            _ranksVersion = _members.Version;
            _rowRanks = new byte[_rows.Length];
        }

        if (_rowRanks[unit] == 0)
        {
            _rowRanks[unit] = (byte)(1 + Math.Min(RankOf(_rows[unit], rankOf), byte.MaxValue - 1));
        }

        return _rowRanks[unit] - 1;
    }

    private static int RankOf(SpaceRow? row, Func<int, int> rankOf)
    {
        int lowest = int.MaxValue;
        foreach (SlabPlace place in row?.Places ?? [])
        {
            lowest = Math.Min(lowest, rankOf(place.Disk));
        }

        return lowest;
    }
}
