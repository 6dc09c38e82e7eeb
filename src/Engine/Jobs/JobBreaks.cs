using TierSpaces.Engine.Lanes;
using TierSpaces.Engine.Primitives;
using TierSpaces.Engine.Resiliency;

namespace TierSpaces.Engine.Jobs;

/// <summary>
/// The breaks of a job within a piece: a step whose pieces are long, such as a slab, gives it to what does the piece, and so is held back, or
/// told to give up, every few hundred kilobytes. Without a job it holds nothing back. It is used on the lane that the piece runs on.
/// </summary>
public sealed class JobBreaks : IWorkPacer
{
    private JobPiece? _piece;
    private ILane? _lane;   // that the pieces run on

    /// <inheritdoc/>
    public bool IsYielding => _piece is { IsYielding: true };

    /// <inheritdoc/>
    public int Burst => _piece?.Burst ?? 1;

    /// <inheritdoc/>
    public LaneTask<bool> Done(long bytes) => _piece is { } piece ? piece.Break(_lane!, bytes) : LaneTask.FromResult(true);

    /// <summary>Returns the same breaks for a piece that runs on a certain lane.</summary>
    internal IWorkPacer On(ILane lane) => new JobBreaks { _piece = _piece, _lane = lane };

    /// <summary>A job begins: its pieces run on a lane.</summary>
    internal void Follow(JobPiece piece, ILane lane) => (_piece, _lane) = (piece, lane);
}
