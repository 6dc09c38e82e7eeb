using TierSpaces.Engine.Lanes;
using TierSpaces.Engine.Primitives;

namespace TierSpaces.Engine.Jobs;

/// <summary>The lane of the virtual disk that a job works on. The job itself is on the control lane.</summary>
public interface IDiskLane
{
    /// <summary>The lane.</summary>
    ILane Lane { get; }

    /// <summary>Runs an action on the lane and returns its result on the control lane.</summary>
    LaneTask<T> Run<T>(Func<LaneTask<T>> action);
}
