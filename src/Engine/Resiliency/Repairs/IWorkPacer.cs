using TierSpaces.Engine.Primitives;

namespace TierSpaces.Engine.Resiliency;

/// <summary>Paces long work over a space: repair, moves. Used on the space's lane.</summary>
public interface IWorkPacer
{
    /// <summary>
    /// Whether clients are at work: then pieces of the work are in flight in bursts and batches are small. Otherwise several pieces may be in flight.
    /// </summary>
    bool IsYielding { get; }

    /// <summary>Pieces that are in flight together while clients are at work, followed by one pause; at least 1.</summary>
    int Burst => 1;

    /// <summary>
    /// Told of bytes that are done with; completes when the next piece may begin. Called with no lock held, one call at a time. False: the work stops after
    /// what it has begun, and can be taken up again at any time.
    /// </summary>
    LaneTask<bool> Done(long bytes);
}

/// <summary>Result of a repair or a move.</summary>
public enum RepairEnd
{
    /// <summary>All of it is done.</summary>
    Done,

    /// <summary>The pacer or the closing of the space stopped it; what was done stays done.</summary>
    Stopped,

    /// <summary>Something could not be read, written or placed; the rest was done.</summary>
    Incomplete,
}
