using TierSpaces.Engine.Primitives;

namespace TierSpaces.Engine.Lanes;

/// <summary>
/// Runs the blocking calls of one owner off its lane, one after another. A call that hangs holds up the calls of the same owner and nothing else.
/// </summary>
public interface ILaneWorker
{
    /// <summary>Runs a call after those that came before it and completes on the lane.</summary>
    /// <param name="call">The call. It throws nothing, and shares no mutable state with the lane.</param>
    LaneTask Run(Action call);
}
