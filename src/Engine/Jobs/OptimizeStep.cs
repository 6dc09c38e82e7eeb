using TierSpaces.Engine.Formats;
using TierSpaces.Engine.Lanes;
using TierSpaces.Engine.Pools;
using TierSpaces.Engine.Primitives;
using TierSpaces.Engine.Resiliency;
using TierSpaces.Engine.VirtualDisks;

namespace TierSpaces.Engine.Jobs;

/// <summary>
/// Evens out how full the disks of a pool are. A piece is one slab. Source and target are planned again for each slab, so the step may be
/// interrupted anywhere. The metadata records what has moved; the cursor only counts.
/// </summary>
/// <param name="pool">The pool.</param>
/// <param name="disks">Its open virtual disks and their lanes, now.</param>
public sealed class OptimizeStep(Pool pool, Func<IReadOnlyList<(OpenVirtualDisk Disk, ILane Lane)>> disks) : IJobStep
{
    private readonly HashSet<(Guid Disk, SlabMove Move, DiskNumber To)> _failed = [];
    private readonly LaneSignal _moveEnded = new();
    private bool _isMoving;
    private int _moved;

    /// <inheritdoc/>
    public string Name => "Rebalance";

    /// <inheritdoc/>
    public JobBreaks Breaks { get; } = new();

    /// <inheritdoc/>
    public long BytesTotal => (_moved + RebalancePlanner.Surplus(pool)) * pool.Slabs.DataBytes;

    /// <inheritdoc/>
    public string Outcome => (_moved, _failed.Count) switch
    {
        (0, 0) => "the disks are as evenly full as they can be",
        (_, 0) => $"{CountText.Of(_moved, "slab")} moved",
        _ => $"{CountText.Of(_moved, "slab")} moved, {_failed.Count} could not",
    };

    /// <summary>Completes when no move is under way, so that a virtual disk that is not listed any more is not touched any more.</summary>
    public async LaneTask<Nothing> WaitForMove()
    {
        while (_isMoving)
        {
            await _moveEnded.Wait();
        }

        return default;
    }

    /// <inheritdoc/>
    public async LaneTask<JobAdvance> Advance(long cursor)
    {
        IReadOnlyList<(OpenVirtualDisk Disk, ILane Lane)> all = disks();
        VirtualDiskDescription[] open = [.. all.Select(static one => one.Disk.Description)];
        if (RebalancePlanner.Next(pool, open, (disk, move, to) => !_failed.Contains((disk.Id.Value, move, to))) is not var (disk, move, to))
        {
            return new JobAdvance(cursor, 0, true);
        }

        _isMoving = true;
        (OpenVirtualDisk moved, ILane lane) = all[Array.IndexOf(open, disk)];
        RepairEnd end = await new SlabMover(pool, moved).Move(move, [to], Breaks.On(lane));
        _isMoving = false;
        _moveEnded.NotifyAll();
        if (end == RepairEnd.Done)
        {
            _moved++;
        }
        else
        {
            _failed.Add((disk.Id.Value, move, to));
        }

        return pool.HasLostQuorum
            ? new JobAdvance(cursor, 0, false, IoError.Io, pool.StatusReason)
            : new JobAdvance(cursor + 1, end == RepairEnd.Done ? pool.Slabs.DataBytes : 0, false);
    }
}
