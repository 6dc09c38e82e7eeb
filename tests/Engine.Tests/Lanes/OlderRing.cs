using TierSpaces.Engine.Lanes;
using TierSpaces.Engine.Lanes.Uring;

namespace TierSpaces.Engine.Tests.Lanes;

/// <summary>Rings as older kernels set them up, on this one: they hand completions over in other ways, and lanes have to hear of all.</summary>
public static class OlderRing
{
    /// <param name="way">1: as before kernel 6.1, 2: before 6.0, 3: before 5.19.</param>
    public static LaneOptions Options(int way) => new() { RingSetups = [UringProbe.Setups[way]] };
}
