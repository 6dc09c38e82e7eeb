using TierSpaces.Engine.Primitives;
using TierSpaces.Engine.Resiliency;
using TierSpaces.Engine.VirtualDisks;

namespace TierSpaces.Engine.Jobs;

/// <summary>
/// Moves the slabs of a virtual disk off disks that are to be left: from the disk itself while it is there, else from the other copies. A piece is
/// one slab. The metadata records which slabs have moved; the cursor of the step only counts. It runs on the lane of the job; moves are on that of the virtual
/// disk.
/// </summary>
/// <param name="mover">Moves the slabs of the virtual disk.</param>
/// <param name="fault">Error for which the virtual disk takes no requests, or None, and the same in words.</param>
/// <param name="slabBytes">Bytes of data of a slab.</param>
public sealed class RegenerateStep(SlabMover mover, Func<(IoError Error, string Reason)> fault, long slabBytes) : IJobStep
{
    private readonly HashSet<SlabMove> _failed = [];
    private long _total = -1;
    private int _moved;
    private bool _givesUpMissing;

    /// <summary>Bytes of slabs that are to be moved now.</summary>
    public long BytesToMove => mover.Plan(GivesUpMissing).Count * slabBytes;

    /// <inheritdoc/>
    public string Name => "Regenerate";

    /// <inheritdoc/>
    public JobBreaks Breaks { get; } = new();

    /// <summary>Whether missing disks are given up at once where the pool's policy allows it; otherwise only retired disks are left.</summary>
    public bool GivesUpMissing
    {
        get => _givesUpMissing;
        init => _givesUpMissing = value;
    }

    /// <inheritdoc/>
    public long BytesTotal => _total;

    /// <inheritdoc/>
    public long Measure() => _total >= 0 ? _total : BytesToMove;

    /// <inheritdoc/>
    public string Outcome => (_moved, _failed.Count) switch
    {
        (0, 0) => "",
        (_, 0) => $"{CountText.Of(_moved, "slab")} moved to other disks",
        _ => $"{CountText.Of(_moved, "slab")} moved to other disks, {_failed.Count} could not: there is no disk with room that fits, or no good copy",
    };

    /// <summary>Missing disks are given up from now on, where the pool's policy allows it.</summary>
    internal void GiveUpMissing() => _givesUpMissing = true;

    /// <inheritdoc/>
    public void Reset()
    {
        _failed.Clear();
        _total = -1;
    }

    /// <inheritdoc/>
    public async LaneTask<JobAdvance> Advance(long cursor)
    {
        List<SlabMove> moves = mover.Plan(GivesUpMissing);
        _total = _total >= 0 ? _total : moves.Count * slabBytes;
        int next = moves.FindIndex(move => !_failed.Contains(move));
        if (next < 0)
        {
            return new JobAdvance(cursor, 0, true);
        }

        RepairEnd end = await mover.Move(moves[next], [], Breaks);
        if (end == RepairEnd.Done)
        {
            _moved++;
        }
        else
        {
            _failed.Add(moves[next]);
        }

        (IoError error, string reason) = fault();
        return error == IoError.None ? new JobAdvance(cursor + 1, slabBytes, false) : new JobAdvance(cursor, 0, false, error, reason);
    }
}
