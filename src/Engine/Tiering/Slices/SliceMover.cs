using TierSpaces.Engine.Formats;
using TierSpaces.Engine.Lanes;
using TierSpaces.Engine.Primitives;
using TierSpaces.Engine.Resiliency;

namespace TierSpaces.Engine.Tiering;

// Slices that go to another tier while requests go on, several at a time:
//
//  1. A slot of the target is taken. From here on writes go to both places, under the lock of their range.
//  2. Requests that began before have ended.
//  3. Range by range, under its lock: read from the source, write to the target. Never-written blocks are not copied where the slot reads as zeros, and
//     are zeroed where it may not.
//  4. The spaces of the targets are flushed.
//  5. The map is committed.
//  6. Requests begin at the target only; those that began before have ended; the source is vacated.
//
// A crash before 5 is durable leaves the source, untouched but for writes that it took as well; after it the target, whole and flushed.
//
// Steps 1 to 3 are done for groups of slices. While no client is at work a batch takes further groups before step 4, so that a flush and a commit, which
// cost a rotating disk turns of its platters, are paid for once for many slices; copies of several ranges are in flight (WorkWindow). While clients are at
// work a batch is one group and one range is copied at a time. Orders are carried out as slots become free: one whose target is full waits while
// others make room.
//
// Invariants
//  1. A slot of the target is entered in the map only when it holds all of its slice, flushed.
//  2. A slice whose target missed a copy or a write stays at its source.

/// <summary>Moves slices to other tiers.</summary>
internal sealed class SliceMover(
    TieredContext store, MovingSlices moves, GracePeriods periods, SlotVacator vacator, SliceAllocator allocator, SlicesAhead ahead, SliceFreer freer)
{
    /// <summary>Slices that join at a time.</summary>
    internal const int AtOnce = 8;

    /// <summary>Most slices of a batch.</summary>
    internal const int BatchMax = 64;

    private const int BatchBytesMax = 64 << 20;
    private const int CopyBytes = 256 << 10;

    private readonly ILane _lane = store.Lane;
    private readonly TierSet _tiers = store.Tiers;
    private readonly SliceTable _table = store.Table;
    private readonly SliceIo _io = store.Io;
    private readonly TieredStatus _status = store.Status;

    /// <summary>Whether moves run.</summary>
    internal bool IsRunning { get; private set; }

    /// <summary>Slices moved since the store was opened.</summary>
    internal long SlicesMoved { get; private set; }

    /// <summary>Called before each step of a move begins, with its number above.</summary>
    internal event Action<int>? StepBegins;

    private int SlicesOfBatch => Math.Clamp(BatchBytesMax / _tiers.Grid.Size, AtOnce, BatchMax);

    /// <summary>Moves slices, in order where there is room; see <see cref="TieredStore.Move"/>.</summary>
    internal async LaneTask<RepairEnd> Move(IReadOnlyList<SliceOrder> orders, IWorkPacer pacer)
    {
        bool isWhole = true;
        List<SliceOrder> waiting = [.. orders.Chunk(BatchMax).SelectMany(part => part.OrderBy(order => _table[order.Slice].Slot))];   // few long seeks
        WorkWindow window = new(pacer, () => _status.IsStopping);
        IsRunning = true;
        while (waiting.Count > 0 && window.GoesOn && !_status.IsStopping)
        {
            List<SliceMove> batch = await CopyBatch(waiting, window, pacer);
            if (batch.Count > 0)
            {
                isWhole &= await Complete(batch);
            }
            else if (waiting.Count > 0 && !await AwaitVacated())
            {
                isWhole = false;   // no slot is coming
                waiting.RemoveAt(0);
            }
        }

        IsRunning = false;
        _status.SlotsFreed.NotifyAll();
        bool isStopped = window.IsStopped || _status.IsStopping;
        return isStopped && _status.Fault == IoError.None ? RepairEnd.Stopped
            : isWhole && _status.Fault == IoError.None ? RepairEnd.Done : RepairEnd.Incomplete;
    }

    private bool IsPossible(SliceOrder order) => _table[order.Slice] is { IsMapped: true } entry && entry.Tier != order.Tier
        && moves.Of(order.Slice) is null && !allocator.IsAllocating(order.Slice) && !_table.IsUncertain(order.Slice) && !ahead.Contains(order.Slice);

    /// <summary>Waits for slots that are being vacated; false: none is.</summary>
    private async LaneTask<bool> AwaitVacated()
    {
        if (!vacator.IsRunning)
        {
            return false;
        }

        await _status.SlotsFreed.Wait();
        return true;
    }

    /// <summary>Does steps 1 to 3 for a batch of the orders, which are taken off the list. A move whose copy is not whole has failed.</summary>
    private async LaneTask<List<SliceMove>> CopyBatch(List<SliceOrder> waiting, WorkWindow window, IWorkPacer pacer)
    {
        List<SliceMove> batch = [];
        List<SliceMove> group;
        do
        {
            group = await JoinGroup(waiting, Math.Min(AtOnce, SlicesOfBatch - batch.Count));
            batch.AddRange(group);
            if (group.Count > 0)
            {
                await CopyGroup(group, window, pacer);
            }
        }
        while (group.Count > 0 && batch.Count < SlicesOfBatch && window.GoesOn && !pacer.IsYielding);
        await window.Drain();
        batch.FindAll(move => move.Copied < _tiers.Grid.Size).ForEach(static move => move.Fail());
        return batch;
    }

    /// <summary>
    /// Does step 1 for the first orders to one tier that has slots: a rotating disk is read or written then, not both in turns. They, and those that are not
    /// possible any more, are taken off the list.
    /// </summary>
    private async LaneTask<List<SliceMove>> JoinGroup(List<SliceOrder> waiting, int most)
    {
        List<SliceMove> group = [];
        int full = 0;   // bit per tier
        for (int at = 0; at < waiting.Count && group.Count < most;)
        {
            SliceOrder order = waiting[at];
            bool isPossible = IsPossible(order);
            bool isNext = isPossible && (full >> order.Tier & 1) == 0 && (group.Count == 0 || order.Tier == group[0].Target.Tier);
            SliceMove? move = isNext ? await Join(order) : null;
            if (move is not null)
            {
                group.Add(move);
            }
            else if (isPossible && IsPossible(order))
            {
                full |= isNext ? 1 << order.Tier : 0;
                at++;
                continue;
            }

            waiting.RemoveAt(at);
        }

        return group;
    }

    /// <summary>Does step 1; null: there is no slot, or no room for it, or the move is not possible any more.</summary>
    private async LaneTask<SliceMove?> Join(SliceOrder order)
    {
        StepBegins?.Invoke(1);
        StorageTierStore tier = _tiers[order.Tier];
        if (!tier.Slots.TryTake(out uint slot))
        {
            return null;
        }

        tier.Hold(slot, order.Slice, 1);
        IoError error = await SliceAllocator.MakeRoom(tier, slot);
        if (error != IoError.None || !IsPossible(order))
        {
            tier.Hold(slot, order.Slice, -1);
            tier.Slots.Release(slot);
            return null;
        }

        SliceEntry target = new(order.Tier, slot, order.Reason, _lane.UtcNow.UtcTicks);
        SliceMove move = new(order.Slice, _table[order.Slice], target, tier.Slots.IsClean(slot));
        tier.Slots.SetClean(slot, false);
        moves.Add(order.Slice, move);
        return move;
    }

    private async LaneTask<Nothing> CopyGroup(List<SliceMove> group, WorkWindow window, IWorkPacer pacer)
    {
        StepBegins?.Invoke(2);
        await periods.Drain();
        StepBegins?.Invoke(3);
        if (!pacer.IsYielding)
        {
            await _io.LoadEntries(group);
        }

        int length = Math.Min(CopyBytes, _tiers.Grid.Size);
        foreach (SliceMove move in group)
        {
            for (int at = 0; at < _tiers.Grid.Size && !move.HasFailed && await window.Room(); at += length)
            {
                window.Add(CopyRange(move, at, length), length);
            }
        }

        return default;
    }

    /// <summary>Copies a range. An error fails the move, not the others.</summary>
    private async LaneTask<IoError> CopyRange(SliceMove move, int at, int length)
    {
        IoBuffer buffer = _lane.Buffers.Rent(length);
        if (!move.HasFailed && await _io.Copy(move, at, buffer) == IoError.None)
        {
            move.NoteCopied(length);
        }
        else
        {
            move.Fail();
        }

        _lane.Buffers.Return(buffer);
        return IoError.None;
    }

    private async LaneTask<bool> Complete(List<SliceMove> batch)
    {
        StepBegins?.Invoke(4);
        LaneTask<Nothing>[] flushes = [.. Enumerable.Range(0, _tiers.Count).Select(tier => Flush(tier, batch.FindAll(move => move.Target.Tier == tier)))];
        foreach (LaneTask<Nothing> flush in flushes)
        {
            await flush;
        }

        await Switch(batch);
        return batch.TrueForAll(static move => !move.HasFailed);
    }

    private async LaneTask<Nothing> Flush(int tier, List<SliceMove> here)
    {
        if (here.Exists(static move => !move.HasFailed) && await _tiers[tier].Space.Flush() != IoError.None)
        {
            here.ForEach(static move => move.Fail());
        }

        return default;
    }

    private async LaneTask<Nothing> Switch(List<SliceMove> batch)
    {
        List<SliceMove> whole = batch.FindAll(static move => !move.HasFailed);
        whole.ForEach(static move => move.BeginCommit());
        StepBegins?.Invoke(5);
        if (!await _table.CommitSurely(whole.ConvertAll(static move => new SliceChange(move.Slice, move.Target))))
        {
            return default;   // either place may be the true one: the store has failed
        }

        StepBegins?.Invoke(6);
        foreach (SliceMove move in whole)
        {
            _tiers[move.Source.Tier].Counters.NoteMovedOut();
            _tiers[move.Target.Tier].Counters.NoteMovedIn();
            SlicesMoved++;
        }

        batch.ForEach(move => moves.Remove(move.Slice));
        _status.PlaceChanged.NotifyAll();
        vacator.Start(batch.ConvertAll(static move => move.Slice), batch.ConvertAll(static move => move.HasFailed ? move.Target : move.Source));
        batch.ForEach(move => freer.FreeDeferred(move.Slice));
        return default;
    }
}
