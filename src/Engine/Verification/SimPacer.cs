using TierSpaces.Engine.Primitives;
using TierSpaces.Engine.Resiliency;

namespace TierSpaces.Engine.Verification;

/// <summary>Paces repair in a simulated world: waits a seeded time between pieces, and stops the work after some of them.</summary>
/// <param name="lane">The world's lane.</param>
/// <param name="stopAfter">Pieces after which to stop; 0: never.</param>
public sealed class SimPacer(SimLane lane, int stopAfter = 0) : IWorkPacer
{
    private int _pieces;

    /// <summary>Bytes done so far.</summary>
    public long Bytes { get; private set; }

    /// <inheritdoc/>
    public bool IsYielding => lane.Next(4) == 0;

    /// <inheritdoc/>
    public async LaneTask<bool> Done(long bytes)
    {
        Bytes += bytes;
        await lane.Delay(1 + lane.Next(50_000));
        return ++_pieces != stopAfter;
    }
}
