using TierSpaces.Engine.Primitives;
using TierSpaces.Engine.Resiliency;

namespace TierSpaces.Engine.Jobs;

/// <summary>
/// The breaks of a job within a piece: a step whose pieces are long, such as a slab, gives it to what does the piece, and so is held back, or
/// told to give up, every few hundred kilobytes. Without a job it holds nothing back.
/// </summary>
public sealed class JobBreaks : IWorkPacer
{
    /// <summary>Holds the job back after so many bytes of a piece; false when it is to stop.</summary>
    internal Func<long, LaneTask<bool>> OnBytes { get; set; } = static _ => LaneTask.FromResult(true);

    /// <summary>Whether the job yields to clients now.</summary>
    internal Func<bool> Yields { get; set; } = static () => false;

    /// <inheritdoc/>
    public bool IsYielding => Yields();

    /// <inheritdoc/>
    public LaneTask<bool> Done(long bytes) => OnBytes(bytes);
}
