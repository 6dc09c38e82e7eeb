using TierSpaces.Engine.Primitives;
using TierSpaces.Engine.Resiliency.Layouts;

namespace TierSpaces.Engine.Resiliency;

/// <summary>Copies the data of a region of a position to a slab, chunk by chunk under its range lock, while reads and writes go on.</summary>
internal sealed class StretchCopier(SpaceContext space, RegionMap regions, ILayoutEngine engine)
{
    private const int ChunkMax = 256 << 10;

    private readonly ILayout _layout = space.Layout;
    private readonly SpaceShape _shape = space.Shape;

    internal async LaneTask<bool> Pace(IWorkPacer pacer, long bytes) => await pacer.Done(bytes) && !space.Status.IsStopping;

    /// <summary>
    /// Copies a region of a group, from an offset on, to a place that takes every write of it already. Returns the offset that it reached.
    /// </summary>
    internal async LaneTask<(RepairEnd End, int Reached)> CopyRegion(SpaceRow row, int position, int region, SlabPlace target, int from, IWorkPacer pacer)
    {
        int group = position / _layout.GroupSize;
        int number = (group * SpaceShape.RegionsPerSlab) + region;
        if (row.Regions[number].IsUnresolved && await regions.Resolve(row, number) != IoError.None)
        {
            return (RepairEnd.Incomplete, from);
        }

        int start = region * _shape.RegionSize;
        int chunk = Math.Min(ChunkMax, Math.Min(_shape.RegionSize, _shape.PageSpan));
        IoBuffer buffer = space.Lane.Buffers.Rent(chunk);
        RepairEnd end = RepairEnd.Done;
        int at = from;
        for (; at < _shape.RegionSize && end == RepairEnd.Done; at += chunk)
        {
            IoError error = await CopyChunk(row, position, start + at, target, buffer);
            end = error is not IoError.None and not IoError.Cancelled ? RepairEnd.Incomplete : await Pace(pacer, chunk) ? RepairEnd.Done : RepairEnd.Stopped;
        }

        space.Lane.Buffers.Return(buffer);
        return (end, end == RepairEnd.Incomplete ? 0 : at);
    }

    private async LaneTask<IoError> CopyChunk(SpaceRow row, int position, int slabOffset, SlabPlace target, IoBuffer buffer)
    {
        int group = position / _layout.GroupSize;
        long key = _layout.LockKey(row.Index, group, slabOffset);
        await space.Locks.Acquire(key, key + buffer.Length);
        IoError error = IoError.Cancelled;   // the row was given back meanwhile: nothing is left to copy
        if (space.Rows[row.Index] == row)
        {
            int generation = row.Enter();
            error = await engine.Rebuild(row, position, new StripPiece(row.Index, _layout.ColumnOf(position), slabOffset, buffer.Length), target, buffer);
            row.Leave(generation);
        }

        space.Locks.Release(key, key + buffer.Length);
        return error;
    }
}
