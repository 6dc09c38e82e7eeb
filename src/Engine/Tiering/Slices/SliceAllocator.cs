using System.Collections.Immutable;
using TierSpaces.Engine.Formats;
using TierSpaces.Engine.Lanes;
using TierSpaces.Engine.Primitives;

namespace TierSpaces.Engine.Tiering;

// A slice that was never written is nowhere and reads as zeros. Its first write gives it a slot of the fastest tier that has room. Where commits are slow,
// the neighbours in its window that are nowhere get one too, as far as that costs nothing but slots: see SlicesAhead.
//
// Invariants
//  1. A slot is entered in the map only when it reads as zeros, durably.
//  2. Nothing is acknowledged in a slice before the map that says where it is is durable.
//  3. A slice that gets its place ahead of its first write is written only once it is known as such. The map may have it before, with a commit of others.
//  4. One task gives a slice its place. A slice has one place at a time that is or may become its own: a commit that may still be applied is
//     repeated, not replaced.

/// <summary>Gives slices their first place.</summary>
internal sealed class SliceAllocator(TieredContext store, MovingSlices moves, SlicesAhead ahead, SlotVacator vacator)
{
    private readonly ILane _lane = store.Lane;
    private readonly TierSet _tiers = store.Tiers;
    private readonly SliceTable _table = store.Table;
    private readonly SliceIo _io = store.Io;
    private readonly TieredStatus _status = store.Status;
    private readonly HashSet<int> _allocating = [];   // slices whose place is being entered in the map
    private readonly HashSet<int> _early = [];        // those of them that get it ahead of their first write
    private int _slices;   // of the disk

    /// <summary>Sets the number of slices of the disk; those behind are given a place only where they are written.</summary>
    internal void SetSlices(int slices) => _slices = slices;

    /// <summary>Whether a slice has a place that requests may use.</summary>
    internal bool IsSettled(int slice) => _table[slice].IsMapped && moves.Of(slice) is not { IsGoing: true } && !_table.IsUncertain(slice)
        && (_early.Count == 0 || !_early.Contains(slice));

    /// <summary>Whether the place of a slice is being entered in the map.</summary>
    internal bool IsAllocating(int slice) => _allocating.Contains(slice);

    /// <summary>Does a step towards a slice having a place that stays: gives it one, or waits for the task that changes it.</summary>
    internal async LaneTask<IoError> Settle(int slice)
    {
        if (_status.Fault is not IoError.None and var fault)
        {
            return fault;
        }

        if (moves.Of(slice) is { IsGoing: true } || !_allocating.Add(slice))
        {
            await _status.PlaceChanged.Wait();
            return IoError.None;
        }

        IoError error = _table[slice].IsMapped && !_table.IsUncertain(slice) ? IoError.None : await Allocate(slice);
        _allocating.Remove(slice);
        _status.PlaceChanged.NotifyAll();
        return error;
    }

    /// <summary>Gives a slice a place that stays.</summary>
    internal async LaneTask<IoError> Reserve(int slice)
    {
        IoError error = IoError.None;
        while (error == IoError.None && !IsSettled(slice))
        {
            error = await Settle(slice);
        }

        ahead.Remove(slice);
        return error;
    }

    /// <summary>
    /// The first write came to a slice that had a place. Where that is the middle of its window, as for a client that writes in sequence, the next window gets
    /// places before it is written.
    /// </summary>
    internal void LookAhead(int slice)
    {
        int window = _table.WindowSlices;
        int next = (slice | (window - 1)) + 1;
        int number = _table[slice].Tier;
        if (next - slice == 3 * window / 4 && next < _slices && IsNowhere(next) && SlicesAhead.RoomOf(_tiers[number]) >= window
            && TryTakeSlot(_tiers[number], out uint slot))
        {
            AllocateAhead(next, number, slot).Forget();
        }
    }

    /// <summary>Enters slices that have a place ahead of their first write as written, unless they are changing it.</summary>
    internal async LaneTask<Nothing> Confirm(List<int> slices)
    {
        List<int> staying = slices.FindAll(slice => moves.Of(slice) is null && !_table.IsUncertain(slice) && _allocating.Add(slice));
        if (staying.Count > 0)
        {
            await _table.EnterAgain(staying.ConvertAll(slice =>
                new SliceChange(slice, new SliceEntry(_table[slice].Tier, _table[slice].Slot, SliceReason.FirstWrite, _lane.UtcNow.UtcTicks))));
        }

        staying.ForEach(slice => _allocating.Remove(slice));
        _status.PlaceChanged.NotifyAll();
        return default;
    }

    /// <summary>Gives a slot that was taken room in a thin tier.</summary>
    internal static LaneTask<IoError> MakeRoom(StorageTierStore tier, uint slot) =>
        tier.IsThin ? tier.Space.Reserve((int)(slot / tier.RowSlots)) : LaneTask.FromResult(IoError.None);

    /// <summary>Makes a slot that was taken read as zeros, durably, and gives it room in a thin tier.</summary>
    private async LaneTask<IoError> Prepare(StorageTierStore tier, uint slot)
    {
        IoError error = await MakeRoom(tier, slot);
        if (error == IoError.None && !tier.Slots.IsClean(slot))
        {
            error = await Clean(tier, slot);
        }

        tier.Slots.SetClean(slot, error != IoError.None && tier.Slots.IsClean(slot));
        return error;
    }

    private async LaneTask<IoError> Clean(StorageTierStore tier, uint slot)
    {
        IoError error = await _io.IsZero(tier, slot) ? IoError.None : await tier.Space.Unmap(tier.Address(slot), _tiers.Grid.Size);
        return error == IoError.None ? await tier.Space.Flush() : error;   // zeros that are there already may not be durable yet
    }

    // The fastest tier that has room. While slots are being vacated, allocation waits for them.
    private async LaneTask<IoError> Allocate(int slice)
    {
        while (true)
        {
            IoError error = _table.TryGetUncertain(slice, out SliceEntry entry)
                ? await _table.Enter([new SliceChange(slice, entry)]) : await AllocateNew(slice);
            bool mayHelp = error == IoError.NoSpace && !_table.IsUncertain(slice) && (vacator.IsRunning || moves.Any);
            if (!mayHelp || _status.IsStopping)
            {
                return error;
            }

            await _status.SlotsFreed.Wait();
        }
    }

    // If every tier holds as much as it may while moves are under way, a slot meant for moves is taken. The store itself takes none that a slice of
    // the disk may need.
    private async LaneTask<IoError> AllocateNew(int slice)
    {
        IoError error = IoError.NoSpace;
        ImmutableArray<int> order = _tiers.Order;
        for (int i = 0; i < 2 * order.Length && error == IoError.NoSpace && !_table.IsUncertain(slice); i++)
        {
            int number = order[i % order.Length];
            StorageTierStore tier = _tiers[number];
            bool takesSpare = i >= order.Length;
            while (!HasRoom(slice, tier, takesSpare) && !_status.IsStopping && await ahead.GiveBack(number))
            {
                await AwaitVacated(slice, tier, takesSpare);
            }

            if (HasRoom(slice, tier, takesSpare) && tier.Slots.TryTake(out uint slot))
            {
                error = await AllocateAt(slice, number, slot);
            }
        }

        return error;
    }

    private static bool HasRoom(int slice, StorageTierStore tier, bool takesSpare) =>
        slice >= SlicesMapped.SystemSlices ? tier.HasRoomBeside : tier.Users < tier.SizeSlices || takesSpare;

    private async LaneTask<Nothing> AwaitVacated(int slice, StorageTierStore tier, bool takesSpare)
    {
        while (vacator.IsRunning && !HasRoom(slice, tier, takesSpare))
        {
            await _status.SlotsFreed.Wait();
        }

        return default;
    }

    private async LaneTask<IoError> AllocateAt(int slice, int number, uint slot, SliceReason reason = SliceReason.FirstWrite)
    {
        StorageTierStore tier = _tiers[number];
        tier.Hold(slot, slice, 1);
        IoError error = await Prepare(tier, slot);
        if (error != IoError.None)
        {
            Release(tier, slot, slice);
            return error;
        }

        long now = _lane.UtcNow.UtcTicks;
        List<SliceChange> changes = [new SliceChange(slice, new SliceEntry(number, slot, reason, now))];
        List<int> neighbours = NeighboursOf(slice, tier, _table.WindowSlices);
        neighbours.ForEach(neighbour => _allocating.Add(neighbour));
        List<uint> slots = neighbours.Count > 0 ? await TakeZeroSlots(tier, neighbours) : [];
        for (int i = 0; i < slots.Count; i++)
        {
            changes.Add(new SliceChange(neighbours[i], new SliceEntry(number, slots[i], SliceReason.Ahead, now)));
        }

        List<int> early = [.. changes.Where(static change => change.Entry.Reason == SliceReason.Ahead).Select(static change => change.Slice)];
        _early.UnionWith(early);
        error = await _table.Enter(changes);
        if (error == IoError.None && early.Count > 0)
        {
            ahead.Add(early);
        }

        _early.ExceptWith(early);
        neighbours.ForEach(neighbour => _allocating.Remove(neighbour));
        if (reason == SliceReason.FirstWrite)
        {
            tier.Counters.NoteAllocated(slice);
        }

        return error;
    }

    /// <summary>The slices of the aligned window of a slice that may get a place with it: first those behind it.</summary>
    private List<int> NeighboursOf(int slice, StorageTierStore tier, int window)
    {
        List<int> neighbours = [];
        long room = slice < SlicesMapped.SystemSlices && window > 1 ? Math.Min(SlicesAhead.RoomOf(tier), window - 1) : 0;
        int start = slice & ~(window - 1);
        for (int i = 1; i < window && neighbours.Count < room; i++)
        {
            int neighbour = start + ((slice - start + i) & (window - 1));
            if (neighbour < _slices && IsNowhere(neighbour))
            {
                neighbours.Add(neighbour);
            }
        }

        return neighbours;
    }

    /// <summary>Takes slots for slices, the first of them, that read as zeros, durably, and are in a row that is there.</summary>
    private async LaneTask<List<uint>> TakeZeroSlots(StorageTierStore tier, List<int> slices)
    {
        List<uint> slots = [];
        while (slots.Count < slices.Count && TryTakeSlot(tier, out uint slot))
        {
            slots.Add(slot);
            tier.Hold(slot, slices[0], 1);
        }

        List<uint> unclean = slots.FindAll(slot => !tier.Slots.IsClean(slot));
        List<LaneTask<bool>> looks = unclean.ConvertAll(slot => _io.IsZero(tier, slot));   // side by side: a rotating disk goes there once
        List<uint> used = [];
        for (int i = 0; i < looks.Count; i++)
        {
            if (!await looks[i])
            {
                used.Add(unclean[i]);
            }
        }

        if (used.Count < unclean.Count && await tier.Space.Flush() != IoError.None)   // zeros that are there already may not be durable yet
        {
            used = unclean;
        }

        used.ForEach(slot => Release(tier, slot, slices[0]));
        slots.RemoveAll(used.Contains);
        slots.ForEach(slot => tier.Slots.SetClean(slot, false));
        return slots;
    }

    private async LaneTask AllocateAhead(int slice, int number, uint slot)
    {
        _allocating.Add(slice);
        vacator.Begin();   // the store is closed after it
        await AllocateAt(slice, number, slot, SliceReason.Ahead);
        vacator.End();
        _allocating.Remove(slice);
        _status.PlaceChanged.NotifyAll();
    }

    private bool IsNowhere(int slice) =>
        !_table[slice].IsMapped && moves.Of(slice) is null && !_table.IsUncertain(slice) && !_allocating.Contains(slice);

    /// <summary>Takes a slot in a row that is there.</summary>
    private static bool TryTakeSlot(StorageTierStore tier, out uint slot)
    {
        bool isThere = tier.Slots.TryTake(out slot);
        if (isThere && tier.IsThin && !tier.Space.IsReserved(tier.RowOf(slot)))
        {
            tier.Slots.Release(slot);
            return false;
        }

        return isThere;
    }

    private static void Release(StorageTierStore tier, uint slot, int slice)
    {
        tier.Hold(slot, slice, -1);
        tier.Slots.Release(slot);
    }
}
