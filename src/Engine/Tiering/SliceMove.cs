using TierSpaces.Engine.Formats;

namespace TierSpaces.Engine.Tiering;

/// <summary>An order to bring a slice to another tier.</summary>
/// <param name="Slice">The slice.</param>
/// <param name="Tier">Number of the tier.</param>
/// <param name="Reason">Why.</param>
public readonly record struct SliceOrder(int Slice, int Tier, SliceReason Reason);

/// <summary>A slice whose place is being changed.</summary>
internal sealed class SliceMove(int slice, SliceEntry source, SliceEntry target)
{
    /// <summary>A slice that is being given back: nothing begins in it until that has ended.</summary>
    internal static SliceMove Going { get; } = new(-1, SliceEntry.None, SliceEntry.None);

    internal int Slice => slice;

    /// <summary>Where it is as long as the map says so.</summary>
    internal SliceEntry Source => source;

    /// <summary>Where it will be.</summary>
    internal SliceEntry Target => target;

    internal bool IsGoing => !target.IsMapped;

    /// <summary>Something could not be copied or written to the target: the slice stays where it is.</summary>
    internal bool HasFailed { get; set; }

    /// <summary>The change of the map is on its way: which of the two places is true is not known.</summary>
    internal bool IsCommitting { get; set; }
}
