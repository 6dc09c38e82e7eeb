using TierSpaces.Engine.Primitives;

namespace TierSpaces.Engine.Lanes;

/// <summary>Spans of work that is awaited, see <see cref="RequestTrace"/>. Called only while requests are traced.</summary>
internal static class LaneTraces
{
    /// <summary>Awaits work of the current request and adds its time to a layer.</summary>
    /// <param name="lane">Lane of the request.</param>
    /// <param name="layer">The layer.</param>
    /// <param name="startNs">Time before the work was begun, on the clock of the lane.</param>
    /// <param name="work">The work.</param>
    internal static async LaneTask<T> Trace<T>(this ILane lane, TraceLayer layer, long startNs, LaneTask<T> work)
    {
        T result = await work;
        RequestTrace.Add(RequestTrace.Current, layer, startNs, lane.NowNs);
        return result;
    }
}
