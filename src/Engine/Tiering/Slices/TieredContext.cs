using TierSpaces.Engine.Lanes;
using TierSpaces.Engine.Primitives;

namespace TierSpaces.Engine.Tiering;

/// <summary>Context that the parts of one tiered store share: its lane, its tiers, the map of its slices, the access to them, and its state.</summary>
internal sealed class TieredContext
{
    internal TieredContext(ILane lane, ISliceHost host, TierSet tiers)
    {
        Lane = lane;
        Tiers = tiers;
        Status = new TieredStatus(tiers);
        Table = new SliceTable(lane, host, Status);
        Io = new SliceIo(tiers);
    }

    internal ILane Lane { get; }

    internal TierSet Tiers { get; }

    internal TieredStatus Status { get; }

    internal SliceTable Table { get; }

    internal SliceIo Io { get; }
}
