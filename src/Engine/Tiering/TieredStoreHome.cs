using TierSpaces.Engine.Formats;
using TierSpaces.Engine.Primitives;
using TierSpaces.Engine.Resiliency;

namespace TierSpaces.Engine.Tiering;

// The store as the home of what stands in front of it: slices are its units of room. The ring of a write cache is told of disks that come and go by
// the first tier that there was, which stays the first.

public sealed partial class TieredStore
{
    private IoError _fault;
    private string _faultReason = "";

    /// <inheritdoc/>
    public IoError Fault
    {
        get
        {
            IoError fault = _fault;
            for (int tier = 0; tier < _tiers.Length && fault == IoError.None; tier++)
            {
                fault = _tiers[tier].Space.Fault;
            }

            return fault;
        }
    }

    /// <inheritdoc/>
    public string FaultReason => _fault != IoError.None ? _faultReason
        : Array.Find(_tiers, static tier => tier.Space.Fault != IoError.None)?.Space.FaultReason ?? "";

    /// <inheritdoc/>
    public long UnitSize => _sliceSize;

    /// <inheritdoc/>
    public int MembersVersion => _tiers.Sum(static tier => tier.Space.MembersVersion);

    /// <inheritdoc/>
    public Func<int, bool>? IsUnitHeld { get; set; }

    /// <summary>Whether slots are on their way to being free.</summary>
    internal bool IsVacating => _vacating > 0;

    private IRingStand First => _tiers[0].Space;

    /// <inheritdoc/>
    public void Grow(long length) => Length = Math.Max(Length, length);

    /// <summary>A tier has been added: the pool knows it already. Its number is the next, its rank how many others are faster.</summary>
    internal void AddTier(StorageTierStore tier, int rank)
    {
        _tiers = [.. _tiers, tier];
        Order = Order.Insert(rank, _tiers.Length - 1);
        _changed.NotifyAll();
    }

    /// <summary>A tier has become longer: its space has its new length already.</summary>
    internal void GrowTier(int tier, long sizeBytes)
    {
        _tiers[tier].Grow(sizeBytes);
        _changed.NotifyAll();
    }

    /// <inheritdoc/>
    public bool IsReserved(int unit) => IsSettled(unit);

    /// <inheritdoc/>
    public async LaneTask<IoError> Reserve(int unit)
    {
        IoError error = IoError.None;
        while (error == IoError.None && !IsSettled(unit))
        {
            error = await Settle(unit);
        }

        return error;
    }

    /// <inheritdoc/>
    public void UnitUnmapped(int unit) => NoteWhole(unit, _sliceSize, WriteFlags.None);

    /// <summary>A slice that was unmapped while it was held is given back; another one without data keeps its place.</summary>
    public void UnitReleased(int unit) => LeaveNow(unit);

    /// <inheritdoc/>
    public int LowestRank(int unit, Func<int, int> rankOf)
    {
        SliceEntry entry = _map[unit];
        return entry.IsMapped ? _tiers[entry.Tier].Space.LowestRank((int)(entry.Slot / _tiers[entry.Tier].RowSlots), rankOf) : int.MaxValue;
    }

    /// <inheritdoc/>
    RingMedium IRingStand.AddRing(
        IReadOnlyList<IReadOnlyList<SlabPlace>> copies, long length, int staleCopies, Func<int, LaneTask<IoError>> mark, Func<int, LaneTask<IoError>> clear) =>
        First.AddRing(copies, length, staleCopies, mark, clear);

    /// <inheritdoc/>
    LaneTask<Nothing> IRingStand.RemoveRing(RingMedium ring) => First.RemoveRing(ring);

    /// <inheritdoc/>
    LaneTask<RepairEnd> IRingStand.Move(RingMedium ring, int copy, SlabPlace[] places, Func<LaneTask<IoError>> commit, IWorkPacer pacer) =>
        First.Move(ring, copy, places, commit, pacer);

    /// <inheritdoc/>
    public void FailFront(IoError error, string reason) => Fail(error, reason);

    /// <summary>Ends moves and waits until slots that the map has left are free. The spaces below are closed by whoever made them.</summary>
    internal async LaneTask<Nothing> Close()
    {
        _closing = true;
        _changed.NotifyAll();
        _vacated.NotifyAll();
        while (_isMoving || _vacating > 0)
        {
            await _vacated.Wait();
        }

        return default;
    }

    /// <summary>Reads from a stretch that belongs to the store itself; bytes from the start of <see cref="SystemSlices"/>.</summary>
    internal LaneTask<IoError> ReadSystem(long offset, IoBuffer target) => ReadAt(((long)SystemSlices << _sliceShift) + offset, target);

    /// <summary>Writes there; slots are taken for it as for slices of the disk.</summary>
    internal LaneTask<IoError> WriteSystem(long offset, IoBuffer source, WriteFlags flags) => WriteAt(((long)SystemSlices << _sliceShift) + offset, source, flags);

    private IoError Fail(IoError error, string reason)
    {
        if (_fault == IoError.None)
        {
            _fault = error;
            _faultReason = reason;
            _changed.NotifyAll();
            _vacated.NotifyAll();
        }

        return error;
    }

    private void LoadSlots(int index)
    {
        StorageTierStore tier = _tiers[index];
        for (int word = 0; word * 64L < tier.Slots.Count; word++)
        {
            tier.Slots.Load(word, _map.Word(index, word));
        }

        foreach ((int slice, SliceEntry entry) in _map.Enumerate())
        {
            if (entry.Tier == index)
            {
                tier.Hold(entry.Slot, slice, 1);
            }
        }
    }
}
