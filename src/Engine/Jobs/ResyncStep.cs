using TierSpaces.Engine.Primitives;
using TierSpaces.Engine.Resiliency;
using TierSpaces.Engine.VirtualDisks;

namespace TierSpaces.Engine.Jobs;

/// <summary>
/// Makes stale copies of a space, one part of a virtual disk, or of a write cache in another pool whole whose disks are there, all of them in one piece. What
/// it has done the metadata says; its cursor says nothing.
/// </summary>
public sealed class ResyncStep : IJobStep
{
    private readonly Func<IRepairable?> _find;   // called on the lane of the virtual disk; null: there is no such part any more
    private readonly string _part;
    private long _total = -1;
    private long _done;
    private long _doneBefore;   // the job began again
    private bool _isIncomplete;   // the last pass left something stale

    private ResyncStep(Func<IRepairable?> find, string part) => (_find, _part) = (find, part);

    /// <inheritdoc/>
    public string Name => _part.Length == 0 ? "Resync" : $"Resync {_part}";

    /// <inheritdoc/>
    public bool IsOnDiskLane => true;

    /// <inheritdoc/>
    public JobBreaks Breaks { get; } = new();

    /// <inheritdoc/>
    public long BytesTotal => _total >= 0 ? Math.Max(_total, _done - _doneBefore) : -1;

    /// <inheritdoc/>
    public string Outcome => _total + _done <= 0 ? ""
        : !_isIncomplete ? $"{ByteText.Exact(_done)} of stale copies brought up to date"
        : $"{ByteText.Exact(_done)} of stale copies gone through; some have no good copy to be made from, or their disk failed";

    /// <summary>A step over one part of a virtual disk.</summary>
    public static ResyncStep OfPart(OpenVirtualDisk disk, int number, string name = "") =>
        new(() => disk.Parts.First(part => part.Number == number).Space, name);

    /// <summary>A step over the remote write cache of a virtual disk.</summary>
    public static ResyncStep OfRemoteCache(OpenVirtualDisk disk, string name) => new(() => disk.Remote?.Rings, name);

    /// <inheritdoc/>
    public long Measure() => _total >= 0 ? BytesTotal : _find()?.BytesToResync ?? 0;

    /// <inheritdoc/>
    public void Reset()
    {
        _doneBefore = _done;
        _total = -1;
    }

    /// <inheritdoc/>
    public async LaneTask<JobAdvance> Advance(long cursor)
    {
        if (_find() is not { } space)
        {
            return new JobAdvance(cursor, 0, true);
        }

        _total = _total >= 0 ? _total : space.BytesToResync;
        Counted counted = new(Breaks);
        RepairEnd end = await space.Resync(counted);
        _done += counted.Bytes;
        _isIncomplete = end == RepairEnd.Incomplete;
        return space.Fault == IoError.None
            ? new JobAdvance(cursor, counted.Bytes, end != RepairEnd.Stopped)
            : new JobAdvance(cursor, counted.Bytes, false, space.Fault, space.FaultReason);
    }

    private sealed class Counted(JobBreaks breaks) : IWorkPacer
    {
        internal long Bytes { get; private set; }

        public bool IsYielding => breaks.IsYielding;

        public int Burst => breaks.Burst;

        public LaneTask<bool> Done(long bytes)
        {
            Bytes += bytes;
            return breaks.Done(bytes);
        }
    }
}
