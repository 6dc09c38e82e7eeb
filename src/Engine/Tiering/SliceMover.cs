using TierSpaces.Engine.Formats;
using TierSpaces.Engine.Lanes;
using TierSpaces.Engine.Primitives;
using TierSpaces.Engine.Resiliency;

namespace TierSpaces.Engine.Tiering;

// Slices that go to another tier while requests go on, several at a time:
//
//  1. A slot of the target that reads as zeros is taken. From here on writes go to both places, under the lock of their range.
//  2. Requests that began before have ended.
//  3. Range by range, under its lock: read from the source, write to the target. Never-written blocks are not copied.
//  4. The spaces of the targets are flushed.
//  5. The map is committed.
//  6. Requests begin at the target only; those that began before have ended; the source is vacated.
//
// A crash before 5 is durable leaves the source, untouched but for writes that it took as well; after it the target, whole and flushed.
//
// Invariants
//  1. A slot of the target is entered in the map only when it holds all of its slice, flushed.
//  2. A slice whose target missed a copy or a write stays at its source.

/// <summary>Moves slices to other tiers.</summary>
internal sealed class SliceMover(
    ILane lane, TierSet tiers, SliceTable table, MovingSlices moves, GracePeriods periods, SlotVacator vacator, SliceAllocator allocator, SliceFreer freer,
    SliceIo io,
    TieredStatus status)
{
    /// <summary>Slices that move at a time.</summary>
    internal const int AtOnce = 8;

    private const int CopyBytes = 256 << 10;

    /// <summary>Whether moves run.</summary>
    internal bool IsRunning { get; private set; }

    /// <summary>Slices moved since the store was opened.</summary>
    internal long SlicesMoved { get; private set; }

    /// <summary>Called before each step of a move begins, with its number above.</summary>
    internal Action<int>? StepBegins { get; set; }

    /// <summary>Moves slices, in order; see <see cref="TieredStore.Move"/>.</summary>
    internal async LaneTask<RepairEnd> Move(IReadOnlyList<SliceOrder> orders, IWorkPacer pacer)
    {
        bool isWhole = true;
        MovePace pace = new(pacer);
        IsRunning = true;
        for (int at = 0; at < orders.Count && GoesOn(pace);)
        {
            List<SliceMove> batch = [];
            for (bool hasSlot = true; hasSlot && at < orders.Count && batch.Count < AtOnce; at += hasSlot ? 1 : 0)
            {
                SliceMove? move = IsPossible(orders[at]) ? await Join(orders[at]) : null;
                hasSlot = move is not null || !IsPossible(orders[at]);
                if (move is not null)
                {
                    batch.Add(move);
                }
            }

            if (batch.Count > 0)
            {
                bool isBatchWhole = await MoveBatch(batch, pace);
                isWhole &= isBatchWhole;
            }
            else if (at < orders.Count && !await AwaitVacated())
            {
                isWhole = false;   // no slot is coming
                at++;
            }
        }

        IsRunning = false;
        status.SlotsFreed.NotifyAll();
        return !GoesOn(pace) && status.Fault == IoError.None ? RepairEnd.Stopped
            : isWhole && status.Fault == IoError.None ? RepairEnd.Done : RepairEnd.Incomplete;
    }

    private bool GoesOn(MovePace pace) => !pace.IsStopped && !status.IsStopping;

    private bool IsPossible(SliceOrder order) => table[order.Slice] is { IsMapped: true } entry && entry.Tier != order.Tier
        && moves.Of(order.Slice) is null && !allocator.IsAllocating(order.Slice) && !table.IsUncertain(order.Slice);

    /// <summary>Waits for slots that are being vacated; false: none is.</summary>
    private async LaneTask<bool> AwaitVacated()
    {
        if (!vacator.IsRunning)
        {
            return false;
        }

        await status.SlotsFreed.Wait();
        return true;
    }

    /// <summary>Does step 1; null: there is no slot, or no room for it.</summary>
    private async LaneTask<SliceMove?> Join(SliceOrder order)
    {
        StepBegins?.Invoke(1);
        StorageTierStore tier = tiers[order.Tier];
        if (!tier.Slots.TryTake(out uint slot))
        {
            return null;
        }

        tier.Hold(slot, order.Slice, 1);
        IoError error = await allocator.Prepare(tier, slot);
        if (error != IoError.None || !IsPossible(order))
        {
            tier.Slots.SetClean(slot, error == IoError.None);
            tier.Hold(slot, order.Slice, -1);
            tier.Slots.Release(slot);
            return null;
        }

        SliceMove move = new(order.Slice, table[order.Slice], new SliceEntry(order.Tier, slot, order.Reason, lane.UtcNow.UtcTicks));
        moves.Add(order.Slice, move);
        return move;
    }

    private async LaneTask<bool> MoveBatch(List<SliceMove> batch, MovePace pace)
    {
        StepBegins?.Invoke(2);
        await periods.Drain();
        StepBegins?.Invoke(3);
        foreach (SliceMove move in batch)
        {
            await Copy(move, pace);
        }

        StepBegins?.Invoke(4);
        for (int tier = 0; tier < tiers.Count; tier++)
        {
            List<SliceMove> here = batch.FindAll(move => move.Target.Tier == tier);
            if (here.Exists(static move => !move.HasFailed) && await tiers[tier].Space.Flush() != IoError.None)
            {
                here.ForEach(static move => move.Fail());
            }
        }

        await Switch(batch);
        return batch.TrueForAll(static move => !move.HasFailed);
    }

    private async LaneTask<Nothing> Copy(SliceMove move, MovePace pace)
    {
        IoBuffer buffer = lane.Buffers.Rent(Math.Min(CopyBytes, tiers.Grid.Size));
        for (int at = 0; at < tiers.Grid.Size && !move.HasFailed; at += buffer.Length)
        {
            IoError error = await io.Copy(move, at, buffer);
            if (error != IoError.None || !await pace.Done(buffer.Length) || !GoesOn(pace))
            {
                move.Fail();
            }
        }

        lane.Buffers.Return(buffer);
        return default;
    }

    private async LaneTask<Nothing> Switch(List<SliceMove> batch)
    {
        List<SliceMove> whole = batch.FindAll(static move => !move.HasFailed);
        whole.ForEach(static move => move.BeginCommit());
        StepBegins?.Invoke(5);
        if (!await table.CommitSurely(whole.ConvertAll(static move => new SliceChange(move.Slice, move.Target))))
        {
            return default;   // either place may be the true one: the store has failed
        }

        StepBegins?.Invoke(6);
        foreach (SliceMove move in whole)
        {
            tiers[move.Source.Tier].Counters.NoteMovedOut();
            tiers[move.Target.Tier].Counters.NoteMovedIn();
            SlicesMoved++;
        }

        batch.ForEach(move => moves.Remove(move.Slice));
        status.PlaceChanged.NotifyAll();
        vacator.Start(batch.ConvertAll(static move => move.Slice), batch.ConvertAll(static move => move.HasFailed ? move.Target : move.Source));
        batch.ForEach(move => freer.FreeDeferred(move.Slice));
        return default;
    }

    /// <summary>Remembers that the pacer stopped the work.</summary>
    private sealed class MovePace(IWorkPacer pacer)
    {
        internal bool IsStopped { get; private set; }

        internal async LaneTask<bool> Done(long bytes)
        {
            if (!await pacer.Done(bytes))
            {
                IsStopped = true;
            }

            return !IsStopped;
        }
    }
}
