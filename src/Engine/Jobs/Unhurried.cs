using TierSpaces.Engine.Primitives;
using TierSpaces.Engine.Resiliency;

namespace TierSpaces.Engine.Jobs;

/// <summary>Lets others have the lane between two chunks of a slab, and goes on.</summary>
internal sealed class Unhurried(Func<LaneTask> yield) : IWorkPacer
{
    public async LaneTask<bool> Done(long bytes)
    {
        await yield();
        return true;
    }
}
