using TierSpaces.Engine.Primitives;
using TierSpaces.Engine.Resiliency;

namespace TierSpaces.Engine.Jobs;

/// <summary>Makes stale copies of a space whole whose disks are there. What it has done the metadata says; its cursor only counts pieces.</summary>
public sealed class ResyncStep(Space space) : IJobStep
{
    private const long PieceBytes = 1 << 20;

    private long _total = -1;
    private long _done;
    private long _doneBefore;   // the job began again

    /// <inheritdoc/>
    public string Name => "Resync";

    /// <inheritdoc/>
    public long BytesTotal => _total >= 0 ? Math.Max(_total, _done - _doneBefore) : space.BytesToResync;

    /// <inheritdoc/>
    public string Outcome => _total + _done <= 0 ? ""
        : space.BytesToResync == 0 ? $"{_done} bytes of stale copies brought up to date"
        : $"{_done} bytes of stale copies gone through; some have no good copy to be made from, or their disk failed";

    /// <inheritdoc/>
    public void Reset()
    {
        _doneBefore = _done;
        _total = -1;
    }

    /// <inheritdoc/>
    public async LaneTask<JobAdvance> Advance(long cursor)
    {
        _total = _total >= 0 ? _total : space.BytesToResync;
        Piece piece = new();
        RepairEnd end = await space.Resync(piece);
        _done += piece.Bytes;
        return space.Fault == IoError.None
            ? new JobAdvance(cursor + 1, piece.Bytes, end != RepairEnd.Stopped)
            : new JobAdvance(cursor, piece.Bytes, false, space.Fault, space.FaultReason);
    }

    /// <summary>Stops the work when a piece of it is done.</summary>
    internal sealed class Piece : IWorkPacer
    {
        internal long Bytes { get; private set; }

        public LaneTask<bool> Done(long bytes)
        {
            Bytes += bytes;
            return LaneTask.FromResult(Bytes < PieceBytes);
        }
    }
}
