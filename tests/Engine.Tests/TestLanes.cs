using TierSpaces.Engine.Lanes;

namespace TierSpaces.Engine.Tests;

/// <summary>Lanes of virtual disks that the tests of management use.</summary>
internal static class TestLanes
{
    /// <summary>Number of data lanes, from the environment; without it virtual disks are on the lane of their pools.</summary>
    internal static int Count { get; } =
        Environment.GetEnvironmentVariable(LaneFactory.CountVariable) is { Length: > 0 } text ? LaneFactory.ParseCount(text) : 0;
}
