using TierSpaces.Engine.Primitives;
using TierSpaces.Engine.Resiliency.Layouts;

namespace TierSpaces.Engine.Resiliency;

// Verifies a space, a stride at a time, beside everything else that happens in it.
//
// Invariants
//  1. Nothing waits for a lock while counted among the users of a row: what frees the row holds the lock and waits for them.
//  2. The cursor names a place of the space, not work in flight: a stride repeated does no harm.

/// <summary>Verifies a space.</summary>
internal sealed class SpaceScrub(SpaceContext space, SpaceLog log, RegionMap regions, PageScrub pages, PageWriteback writeback, ILayoutEngine engine)
{
    private const int StrideMax = 256 << 10;

    private readonly ILayout _layout = space.Layout;
    private readonly SpaceShape _shape = space.Shape;
    private readonly SpaceStatus _status = space.Status;
    private readonly RowTable _rows = space.Rows;

    /// <summary>Bytes that a whole pass goes over: those of the groups of all rows with something in them.</summary>
    internal long Bytes
    {
        get
        {
            int count = 0;
            foreach (SpaceRow? row in _rows)
            {
                count += row is { IsInitialized: true } ? 1 : 0;
            }

            return count * RowKeys;
        }
    }

    private long RowKeys => (long)_layout.Groups * _shape.SlabSize;

    /// <summary>See <see cref="Space.Scrub"/>.</summary>
    internal async LaneTask<ScrubStride> Verify(long cursor, ScrubFindings findings)
    {
        int stride = Math.Min(StrideMax, Math.Min(_shape.RegionSize, _shape.PageSpan));
        cursor = Math.Max(0, cursor) / stride * stride;
        while (cursor / RowKeys < _rows.Count && _rows[(int)(cursor / RowKeys)] is not { IsInitialized: true })
        {
            cursor = ((cursor / RowKeys) + 1) * RowKeys;
        }

        if (cursor / RowKeys >= _rows.Count || _status.Fault != IoError.None)
        {
            if (log.Exists && _status.Fault == IoError.None)
            {
                await writeback.Writeback();   // what the log holds is on verified pages now: rot in old blocks of the ring is no loss
            }

            return new ScrubStride(cursor, 0, _status.Fault == IoError.None, _status.Fault);
        }

        long slab = cursor / _shape.SlabSize;
        int column = FirstColumnOf((int)(slab % _layout.Groups));
        StripPiece stretch = new((int)(slab / _layout.Groups), column, (int)(cursor % _shape.SlabSize), stride);
        IoError error = await Verify(stretch, findings);
        return new ScrubStride(cursor + stride, error == IoError.None ? stride : 0, false, error);
    }

    private int FirstColumnOf(int group)
    {
        int column = 0;
        while (_layout.GroupOf(column) != group)
        {
            column++;
        }

        return column;
    }

    private async LaneTask<IoError> Verify(StripPiece stretch, ScrubFindings findings)
    {
        IoError error = IoError.None;
        if (_rows[stretch.Row] is { IsInitialized: true } row && row.RegionOf(stretch.Column, stretch.SlabOffset) is var region
            && row.Regions[region].IsUnresolved)
        {
            error = await regions.Resolve(row, region, stretch.SlabOffset, stretch.Length);
        }

        for (int column = stretch.Column;
             error == IoError.None && _shape.Checksums && stretch.SlabOffset % _shape.PageSpan == 0 && column < _layout.Columns
                 && _layout.GroupOf(column) == _layout.GroupOf(stretch.Column);
             column++)
        {
            await pages.Verify(stretch.Row, column, stretch.SlabOffset / _shape.PageSpan, findings);
        }

        return _status.Fault != IoError.None ? _status.Fault
            : error != IoError.None ? error
            : await IsAsItShouldBe(stretch, findings) ? IoError.None
            : await VerifyLocked(stretch, findings);
    }

    private async LaneTask<bool> IsAsItShouldBe(StripPiece stretch, ScrubFindings findings)
    {
        if (_rows[stretch.Row] is not { IsInitialized: true } row)
        {
            return true;
        }

        int generation = row.Enter();
        bool matches = await engine.Verify(row, stretch, findings);
        row.Leave(generation);
        return matches;
    }

    private async LaneTask<IoError> VerifyLocked(StripPiece stretch, ScrubFindings findings)
    {
        long key = _layout.LockKey(stretch.Row, _layout.GroupOf(stretch.Column), stretch.SlabOffset);
        await space.Locks.Acquire(key, key + stretch.Length);
        IoError error = IoError.None;
        if (_rows[stretch.Row] is { IsInitialized: true } row)
        {
            int generation = row.Enter();
            error = await engine.VerifyLocked(row, stretch, findings);
            row.Leave(generation);
        }

        space.Locks.Release(key, key + stretch.Length);
        return error;
    }
}
