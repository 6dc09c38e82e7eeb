using TierSpaces.Engine.Formats;
using TierSpaces.Engine.Primitives;
using TierSpaces.Engine.Resiliency;

namespace TierSpaces.Engine.Tiering;

// Slices that go to another tier while requests go on, several at a time:
//
//  1. A slot of the target that reads as zeros is taken. From here on writes go to both places, under the lock of their range.
//  2. Requests that began before have ended.
//  3. Range by range, under its lock: read from the source, write to the target. What was never written is not copied.
//  4. The spaces of the targets are flushed.
//  5. The map is committed.
//  6. Requests begin at the target only; those that began before have ended; the source is vacated.
//
// A crash before 5 is durable leaves the source, untouched but for writes that it took as well; after it the target, whole and flushed.

public sealed partial class TieredStore
{
    private const int MovesAtOnce = 8;
    private const int CopyBytes = 256 << 10;

    private bool _isMoving;

    /// <summary>Slices moved since it was opened.</summary>
    public long SlicesMoved { get; private set; }

    /// <summary>Told of each step of a move, by its number above, before it begins.</summary>
    internal Action<int>? StepBegins { get; set; }

    /// <summary>
    /// Moves slices, in order; <paramref name="pacer"/> is told of bytes between two ranges. An order whose slice is gone or is there already is
    /// passed over. One call at a time.
    /// </summary>
    public async LaneTask<RepairEnd> Move(IReadOnlyList<SliceOrder> orders, IWorkPacer pacer)
    {
        bool isWhole = true;
        MovePace pace = new(pacer);
        _isMoving = true;
        for (int at = 0; at < orders.Count && Goes(pace);)
        {
            List<SliceMove> batch = [];
            for (bool hasSlot = true; hasSlot && at < orders.Count && batch.Count < MovesAtOnce; at += hasSlot ? 1 : 0)
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
                isWhole &= await MoveBatch(batch, pace);
            }
            else if (at < orders.Count && !await AwaitVacated())
            {
                isWhole = false;   // no slot is coming
                at++;
            }
        }

        _isMoving = false;
        _vacated.NotifyAll();
        return !Goes(pace) && Fault == IoError.None ? RepairEnd.Stopped : isWhole && Fault == IoError.None ? RepairEnd.Done : RepairEnd.Incomplete;
    }

    private bool Goes(MovePace pace) => !pace.IsStopped && !_closing && Fault == IoError.None;

    private bool IsPossible(SliceOrder order) =>
        _map[order.Slice] is { IsMapped: true } entry && entry.Tier != order.Tier && MoveOf(order.Slice) is null && !_allocating.Contains(order.Slice) && !IsUncertain(order.Slice);

    /// <summary>Waits for slots that are being vacated; false: none is.</summary>
    private async LaneTask<bool> AwaitVacated()
    {
        if (_vacating == 0)
        {
            return false;
        }

        await _vacated.Wait();
        return true;
    }

    /// <summary>Step 1; null: there is no slot, or no room for it.</summary>
    private async LaneTask<SliceMove?> Join(SliceOrder order)
    {
        StepBegins?.Invoke(1);
        StorageTierStore tier = _tiers[order.Tier];
        if (!tier.Slots.TryTake(out uint slot))
        {
            return null;
        }

        tier.Hold(slot, order.Slice, 1);
        IoError error = await Prepare(tier, slot);
        if (error != IoError.None || !IsPossible(order))
        {
            tier.Slots.SetClean(slot, error == IoError.None);
            tier.Hold(slot, order.Slice, -1);
            tier.Slots.Release(slot);
            return null;
        }

        SliceMove move = new(order.Slice, _map[order.Slice], new SliceEntry(order.Tier, slot, order.Reason, _lane.UtcNow.UtcTicks));
        _moves.Add(order.Slice, move);
        return move;
    }

    private async LaneTask<bool> MoveBatch(List<SliceMove> batch, MovePace pace)
    {
        StepBegins?.Invoke(2);
        await Drain();
        StepBegins?.Invoke(3);
        foreach (SliceMove move in batch)
        {
            await Copy(move, pace);
        }

        StepBegins?.Invoke(4);
        for (int tier = 0; tier < _tiers.Length; tier++)
        {
            bool isTarget = batch.Exists(move => move.Target.Tier == tier && !move.HasFailed);
            if (isTarget && await _tiers[tier].Space.Flush() != IoError.None)
            {
                batch.ForEach(move => move.HasFailed |= move.Target.Tier == tier);
            }
        }

        await Switch(batch);
        return batch.TrueForAll(static move => !move.HasFailed);
    }

    private async LaneTask<Nothing> Switch(List<SliceMove> batch)
    {
        List<SliceMove> whole = batch.FindAll(static move => !move.HasFailed);
        whole.ForEach(static move => move.IsCommitting = true);
        StepBegins?.Invoke(5);
        if (!await CommitSurely(whole.ConvertAll(static move => new SliceChange(move.Slice, move.Target))))
        {
            return default;   // either place may be the true one: the store has failed
        }

        StepBegins?.Invoke(6);
        foreach (SliceMove move in whole)
        {
            _tiers[move.Source.Tier].Counters.SlicesMovedOut++;
            _tiers[move.Target.Tier].Counters.SlicesMovedIn++;
            SlicesMoved++;
        }

        batch.ForEach(move => _moves.Remove(move.Slice));
        _changed.NotifyAll();
        StartVacating(batch.ConvertAll(static move => move.Slice), batch.ConvertAll(static move => move.HasFailed ? move.Target : move.Source));
        batch.ForEach(move => LeaveNow(move.Slice));
        return default;
    }

    private async LaneTask<Nothing> Copy(SliceMove move, MovePace pace)
    {
        IoBuffer buffer = _lane.Buffers.Rent(Math.Min(CopyBytes, _sliceSize));
        long start = (long)move.Slice << _sliceShift;
        for (int at = 0; at < _sliceSize && !move.HasFailed; at += buffer.Length)
        {
            await _locks.Acquire(start + at, start + at + buffer.Length);
            IoError error = await CopyRange(move, at, buffer);
            _locks.Release(start + at, start + at + buffer.Length);
            bool goesOn = error == IoError.None && await pace.Done(buffer.Length) && Goes(pace);
            move.HasFailed |= !goesOn;   // looked at after the pause: the target may have missed a write meanwhile
        }

        _lane.Buffers.Return(buffer);
        return default;
    }

    private async LaneTask<IoError> CopyRange(SliceMove move, int at, IoBuffer buffer)
    {
        Space source = _tiers[move.Source.Tier].Space;
        Space target = _tiers[move.Target.Tier].Space;
        long from = AddressOf(move.Source, at);
        long to = AddressOf(move.Target, at);
        List<StoreExtent> extents = [];
        IoError error = await source.Status(from, buffer.Length, extents);
        long done = 0;
        foreach (StoreExtent extent in extents)
        {
            if (error == IoError.None && (extent.State & ExtentState.Zero) == 0)
            {
                IoBuffer part = buffer.Slice((int)done, (int)extent.Length);
                error = await source.Read(from + done, part);
                error = error == IoError.None ? await target.Write(to + done, part, WriteFlags.None) : error;
            }

            done += extent.Length;
        }

        return error;
    }

    /// <summary>A write into a slice that moves.</summary>
    private async LaneTask<IoError> WriteBoth(SliceMove move, long offset, IoBuffer source, WriteFlags flags)
    {
        await _locks.Acquire(offset, offset + source.Length);
        LaneTask<IoError> first = _tiers[move.Source.Tier].Space.Write(AddressOf(move.Source, offset), source, flags);
        LaneTask<IoError> second = _tiers[move.Target.Tier].Space.Write(AddressOf(move.Target, offset), source, flags);
        IoError error = Outcome(move, await first, await second);
        _locks.Release(offset, offset + source.Length);
        return error;
    }

    private async LaneTask<IoError> ZeroBoth(SliceMove move, long offset, long length, WriteFlags flags, bool isUnmap)
    {
        await _locks.Acquire(offset, offset + length);
        IoError first = await ZeroAt(move.Source, offset, length, flags, isUnmap);
        IoError error = Outcome(move, first, await ZeroAt(move.Target, offset, length, flags, isUnmap));
        _locks.Release(offset, offset + length);
        return error;
    }

    private async LaneTask<IoError> PoisonBoth(SliceMove move, long offset, long length)
    {
        await _locks.Acquire(offset, offset + length);
        IoError first = await PoisonAt(move.Source, offset, length);
        IoError error = Outcome(move, first, await PoisonAt(move.Target, offset, length));
        _locks.Release(offset, offset + length);
        return error;
    }

    /// <summary>What both places make of a request: what the target misses ends the move, or, when it may be the true one already, the request.</summary>
    private static IoError Outcome(SliceMove move, IoError source, IoError target)
    {
        if (target == IoError.None || move.IsCommitting)
        {
            return source == IoError.None ? target : source;
        }

        move.HasFailed = true;
        return source;
    }

    /// <summary>Remembers that the pacer has said no.</summary>
    private sealed class MovePace(IWorkPacer pacer)
    {
        internal bool IsStopped { get; private set; }

        internal async LaneTask<bool> Done(long bytes)
        {
            IsStopped |= !await pacer.Done(bytes);
            return !IsStopped;
        }
    }
}
