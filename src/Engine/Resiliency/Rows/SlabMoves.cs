using TierSpaces.Engine.Primitives;
using TierSpaces.Engine.Resiliency.Layouts;

namespace TierSpaces.Engine.Resiliency;

// A slab moves to another disk: the one primitive behind rebuilding, draining and rebalancing.
//
//  1. The target joins: every write goes to source and target; nothing is read from the target.
//  2. Region by region, chunk by chunk under its range lock, the data is copied from good positions: the source, or where that
//     is missing or stale, the others. Several chunks are in flight while no client is at work.
//  3. With the group locked and no writeback running: its pages, as logged, to the target; flush; read back; the map is
//     committed; the target is the slab from here on.
//  4. When every request that may have seen the source has ended, the source is the caller's to free. So is the target of a move that was stopped or
//     failed: until then clients' writes may still be on their way to it, and another row would get them.
//
// The map names the source untouched or the target complete and flushed, at every instant. A crash before the commit leaves a
// free slab; joining is in memory only.

/// <summary>Moves slabs and ring copies of a space.</summary>
internal sealed class SlabMoves(SpaceContext space, StaleMap stale, SpaceRepair repair, PageWriteback writeback, SpaceFlusher flusher,
    StretchCopier stretches, PageCopier pages)
{
    private const long DrainPollNs = 100_000;

    private readonly ILayout _layout = space.Layout;
    private readonly RowTable _rows = space.Rows;

    /// <summary>See <see cref="Space.Move"/>.</summary>
    internal async LaneTask<RepairEnd> Move(
        int index, int position, SlabPlace source, SlabPlace target, Func<LaneTask<IoError>> commit, IWorkPacer pacer)
    {
        if (!await repair.Mutex.LockUnless(() => space.Status.IsStopping))
        {
            return RepairEnd.Stopped;
        }

        RepairEnd end = _rows[index] switch
        {
            null => RepairEnd.Incomplete,
            { } row when row.Places[position] != source => RepairEnd.Incomplete,   // it was moved, or given back and made again, since that was found
            { IsInitialized: false } row => await MoveUnused(row, position, target, commit),
            { } row => await MoveUsed(row, position, target, commit, pacer),
        };
        repair.Mutex.Unlock();
        return end;
    }

    /// <summary>Moves a copy of a ring to other places, one disk's; the former ones are free when it is done.</summary>
    internal async LaneTask<RepairEnd> MoveRing(RingMedium? ring, int copy, SlabPlace[] places, Func<LaneTask<IoError>> commit, IWorkPacer pacer)
    {
        if (ring is not { HasSource: true } || !await repair.Mutex.LockUnless(() => space.Status.IsStopping))
        {
            return RepairEnd.Stopped;
        }

        RepairEnd end = await space.Rings.Move(ring, copy, places, commit, bytes => stretches.Pace(pacer, bytes));
        repair.Mutex.Unlock();
        return end;
    }

    /// <summary>A fixed disk's row before its first write holds nothing: only the map changes.</summary>
    private async LaneTask<RepairEnd> MoveUnused(SpaceRow row, int position, SlabPlace target, Func<LaneTask<IoError>> commit)
    {
        if (!_rows.TryBeginChange(row.Index))
        {
            return RepairEnd.Incomplete;   // it is being made ready right now
        }

        IoError error = await space.Rings.Decide(commit);
        if (error == IoError.None)
        {
            TakePlace(row, position, target);
        }

        _rows.EndChange(row.Index);
        space.Status.Changed.NotifyAll();
        return error == IoError.None ? RepairEnd.Done : RepairEnd.Incomplete;
    }

    private async LaneTask<RepairEnd> MoveUsed(SpaceRow row, int position, SlabPlace target, Func<LaneTask<IoError>> commit, IWorkPacer pacer)
    {
        if (!space.Redundancy.HasSources(row, position))
        {
            return RepairEnd.Incomplete;
        }

        row.BeginJoining(position, target);
        (RepairEnd end, _) = await stretches.Copy(row, position, ushort.MaxValue, target, 0, pacer);
        end = end == RepairEnd.Done ? await TakeOver(row, position, target, commit) : end;
        row.EndJoining();
        await AwaitUsers(row);
        if (end == RepairEnd.Done)
        {
            space.Counters.Rows.NoteMoved();
        }

        return end;
    }

    /// <summary>Waits until every request has ended that may have seen the slab which the move leaves unused: the source, or a target not taken.</summary>
    private async LaneTask<Nothing> AwaitUsers(SpaceRow row)
    {
        int generation = row.NextGeneration();
        while (row.UsersOf(generation) > 0)
        {
            await space.Lane.Delay(DrainPollNs);
        }

        return default;
    }

    private async LaneTask<RepairEnd> TakeOver(SpaceRow row, int position, SlabPlace target, Func<LaneTask<IoError>> commit)
    {
        long start = _layout.LockKey(row.Index, position / _layout.GroupSize, 0);
        await space.Locks.Acquire(start, start + space.Shape.SlabSize);
        await writeback.HoldWriteback();
        IoError error = _rows[row.Index] != row || row.JoiningFailed ? IoError.Io
            : space.Shape.Checksums ? await pages.WritePages(row, position, ushort.MaxValue, target)
            : await flusher.FlushTarget(target);
        error = error == IoError.None && (row.JoiningFailed || !space.Redundancy.HasSources(row, position)) ? IoError.Io : error;
        error = error == IoError.None ? await space.Rings.Decide(commit) : error;
        if (error == IoError.None)
        {
            TakePlace(row, position, target);
        }

        row.EndJoining();
        writeback.ReleaseWriteback();
        space.Locks.Release(start, start + space.Shape.SlabSize);
        return error == IoError.None ? RepairEnd.Done : RepairEnd.Incomplete;
    }

    // Should the target have left the view while the map was committed, nothing is stale there: it was flushed with the group locked, so
    // it misses nothing yet. Later misses are recorded like everything else.
    private void TakePlace(SpaceRow row, int position, SlabPlace target)
    {
        row.Places[position] = target;
        row.Stale[position] = 0;
        stale.Lacks.Forget(row, position, ushort.MaxValue);
        space.Members.NoteChange();
    }
}
