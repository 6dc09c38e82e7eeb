using System.Collections.Immutable;
using TierSpaces.Engine.Formats;
using TierSpaces.Engine.Lanes;
using TierSpaces.Engine.Primitives;

namespace TierSpaces.Engine.Tiering;

// A slice that was never written is nowhere and reads as zeros. Its first write gives it a slot of the fastest tier that has room.
//
// Invariants
//  1. A slot is entered in the map only when it reads as zeros, durably.
//  2. Nothing is acknowledged in a slice before the map that says where it is is durable.
//  3. One task gives a slice its place. A slice has one place at a time that is or may become its own: a commit that may still be applied is
//     repeated, not replaced.

/// <summary>Gives slices their first place.</summary>
internal sealed class SliceAllocator(
    ILane lane, TierSet tiers, SliceTable table, MovingSlices moves, SlotVacator vacator, SliceIo io, TieredStatus status)
{
    private readonly HashSet<int> _allocating = [];   // slices that are being given a place

    /// <summary>Whether a slice has a place that requests may use.</summary>
    internal bool IsSettled(int slice) => table[slice].IsMapped && moves.Of(slice) is not { IsGoing: true } && !table.IsUncertain(slice);

    /// <summary>Whether a slice is being given a place.</summary>
    internal bool IsAllocating(int slice) => _allocating.Contains(slice);

    /// <summary>Does a step towards a slice having a place that stays: gives it one, or waits for the task that changes it.</summary>
    internal async LaneTask<IoError> Settle(int slice)
    {
        if (status.Fault is not IoError.None and var fault)
        {
            return fault;
        }

        if (moves.Of(slice) is { IsGoing: true } || !_allocating.Add(slice))
        {
            await status.PlaceChanged.Wait();
            return IoError.None;
        }

        IoError error = table[slice].IsMapped && !table.IsUncertain(slice) ? IoError.None : await Allocate(slice);
        _allocating.Remove(slice);
        status.PlaceChanged.NotifyAll();
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

        return error;
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
        IoError error = await io.IsZero(tier, slot) ? IoError.None : await tier.Space.Unmap(tier.Address(slot), tiers.Grid.Size);
        return error == IoError.None ? await tier.Space.Flush() : error;   // zeros that are there already may not be durable yet
    }

    // The fastest tier that has room. While slots are being vacated, allocation waits for them.
    private async LaneTask<IoError> Allocate(int slice)
    {
        while (true)
        {
            IoError error = table.TryGetUncertain(slice, out SliceEntry entry) ? await table.Enter(slice, entry) : await AllocateNew(slice);
            bool mayHelp = error == IoError.NoSpace && !table.IsUncertain(slice) && (vacator.IsRunning || moves.Any);
            if (!mayHelp || status.IsStopping)
            {
                return error;
            }

            await status.SlotsFreed.Wait();
        }
    }

    // If every tier holds as much as it may while moves are under way, a slot meant for moves is taken. The store itself takes none that a slice of
    // the disk may need.
    private async LaneTask<IoError> AllocateNew(int slice)
    {
        IoError error = IoError.NoSpace;
        ImmutableArray<int> order = tiers.Order;
        for (int i = 0; i < 2 * order.Length && error == IoError.NoSpace && !table.IsUncertain(slice); i++)
        {
            int number = order[i % order.Length];
            StorageTierStore tier = tiers[number];
            bool hasRoom = slice >= SlicesMapped.SystemSlices ? tier.HasRoomBeside : tier.Users < tier.SizeSlices || i >= order.Length;
            if (hasRoom && tier.Slots.TryTake(out uint slot))
            {
                error = await AllocateAt(slice, number, slot);
            }
        }

        return error;
    }

    private async LaneTask<IoError> AllocateAt(int slice, int number, uint slot)
    {
        StorageTierStore tier = tiers[number];
        tier.Hold(slot, slice, 1);
        IoError error = await Prepare(tier, slot);
        if (error != IoError.None)
        {
            tier.Hold(slot, slice, -1);
            tier.Slots.Release(slot);
            return error;
        }

        tier.Counters.NoteAllocated(slice);
        return await table.Enter(slice, new SliceEntry(number, slot, SliceReason.FirstWrite, lane.UtcNow.UtcTicks));
    }
}
