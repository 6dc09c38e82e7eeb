using TierSpaces.Engine.Primitives;
using TierSpaces.Engine.Resiliency.Layouts;

namespace TierSpaces.Engine.Resiliency;

// A slab moves to another disk: the one primitive behind rebuilding, draining and rebalancing.
//
//  1. The target joins: every write goes to source and target; nothing is read from the target.
//  2. Region by region, chunk by chunk under its range lock, the data is copied from good copies: the source, or where that
//     is missing or stale, the others.
//  3. With the column locked and no writeback running: its pages, as logged, to the target; flush; read back; the map is
//     committed; the target is the slab from here on.
//  4. When every request that may have seen the source has ended, the source is the caller's to free.
//
// The map names the source untouched or the target complete and flushed, at every instant. A crash before the commit leaves a
// free slab; joining is in memory only.

public sealed partial class Space
{
    /// <summary>Whether every byte of a position could be copied to another place now.</summary>
    public bool CanMove(int index, int position) => _rows[index] is { } row && (!row.IsInitialized || HasSources(row, position));

    /// <summary>
    /// Moves the slab of a position to a place that nothing uses. <paramref name="commit"/> makes the new map durable. Done: the former
    /// slab is used by nobody any more. Otherwise the target is not used, unless the commit itself failed half way.
    /// </summary>
    public async LaneTask<RepairEnd> Move(int index, int position, SlabPlace target, Func<LaneTask<IoError>> commit, IWorkPacer pacer)
    {
        if (!await _repairs.Begin(() => IsRepairStopping))
        {
            return RepairEnd.Stopped;
        }

        RepairEnd end = _rows[index] switch
        {
            null => RepairEnd.Incomplete,
            { IsInitialized: false } row => await MoveUnused(row, position, target, commit),
            { } row => await MoveUsed(row, position, target, commit, pacer),
        };
        _repairs.End();
        return end;
    }

    /// <summary>Moves a copy of the integrity log to other places, one disk's; the former ones are free when it is done.</summary>
    public LaneTask<RepairEnd> MoveLog(int copy, SlabPlace[] places, Func<LaneTask<IoError>> commit, IWorkPacer pacer) =>
        MoveRing(_logMedium, copy, places, commit, pacer);

    private async LaneTask<RepairEnd> MoveRing(RingMedium? ring, int copy, SlabPlace[] places, Func<LaneTask<IoError>> commit, IWorkPacer pacer)
    {
        if (ring is not { HasSource: true } || !await _repairs.Begin(() => IsRepairStopping))
        {
            return RepairEnd.Stopped;
        }

        RepairEnd end = await _rings.Move(ring, copy, places, commit, bytes => Pace(pacer, bytes));
        _repairs.End();
        return end;
    }

    private bool HasSources(SpaceRow row, int position)
    {
        int own = _members.IsLive(row.Places[position].Disk) ? ~row.Stale[position] : 0;
        return (ushort)(own | GoodElsewhere(row, position)) == ushort.MaxValue;
    }

    /// <summary>A fixed disk's row before its first write holds nothing: only the map changes.</summary>
    private async LaneTask<RepairEnd> MoveUnused(SpaceRow row, int position, SlabPlace target, Func<LaneTask<IoError>> commit)
    {
        if (!_rowsChanging.Add(row.Index))
        {
            return RepairEnd.Incomplete;   // it is being made ready right now
        }

        IoError error = await _rings.Decide(commit);
        if (error == IoError.None)
        {
            TakePlace(row, position, target);
        }

        _rowsChanging.Remove(row.Index);
        _regionsChanged.NotifyAll();
        return error == IoError.None ? RepairEnd.Done : RepairEnd.Incomplete;
    }

    private async LaneTask<RepairEnd> MoveUsed(SpaceRow row, int position, SlabPlace target, Func<LaneTask<IoError>> commit, IWorkPacer pacer)
    {
        if (!HasSources(row, position))
        {
            return RepairEnd.Incomplete;
        }

        row.Joining = target;
        row.JoiningFailed = false;
        row.JoiningPosition = position;
        int column = position / _shape.Copies;
        RepairEnd end = RepairEnd.Done;
        for (int i = 0; i < SpaceShape.RegionsPerSlab && end == RepairEnd.Done && !row.JoiningFailed; i++)
        {
            (end, _) = await CopyRegion(row, (column * SpaceShape.RegionsPerSlab) + i, target, 0, pacer);
        }

        end = end == RepairEnd.Done ? await TakeOver(row, position, target, commit) : end;
        row.JoiningPosition = -1;
        if (end == RepairEnd.Done)
        {
            int turn = row.NextTurn();
            while (row.UsersOf(turn) > 0)
            {
                await _lane.Delay(DrainPollNs);
            }

            Counters.SlabsMoved++;
        }

        return end;
    }

    private async LaneTask<RepairEnd> TakeOver(SpaceRow row, int position, SlabPlace target, Func<LaneTask<IoError>> commit)
    {
        int column = position / _shape.Copies;
        long start = StripeGeometry.LockKey(_shape, row.Index, column, 0);
        await _locks.Acquire(start, start + _shape.SlabSize);
        await HoldWriteback();
        IoError error = _rows[row.Index] != row || row.JoiningFailed ? IoError.Io
            : _shape.Checksums ? await WritePages(row, column, ushort.MaxValue, target)
            : await FlushTarget(target);
        error = error == IoError.None && (row.JoiningFailed || !HasSources(row, position)) ? IoError.Io : error;
        error = error == IoError.None ? await _rings.Decide(commit) : error;
        if (error == IoError.None)
        {
            TakePlace(row, position, target);
        }

        row.JoiningPosition = -1;
        ReleaseWriteback();
        _locks.Release(start, start + _shape.SlabSize);
        return error == IoError.None ? RepairEnd.Done : RepairEnd.Incomplete;
    }

    // Should the target have left the view while the map was committed, nothing is stale there: it was flushed with the column locked, so
    // it misses nothing yet. What it misses from here on is recorded like everything else.
    private void TakePlace(SpaceRow row, int position, SlabPlace target)
    {
        row.Places[position] = target;
        row.Stale[position] = 0;
        _members.Version++;
    }
}
