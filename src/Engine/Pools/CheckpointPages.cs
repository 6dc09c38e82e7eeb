using TierSpaces.Engine.Formats;

namespace TierSpaces.Engine.Pools;

/// <summary>How a state is cut into checkpoint pages.</summary>
internal static class CheckpointPages
{
    /// <summary>Bytes of records that a page holds.</summary>
    internal const int Capacity = 3900;

    private const int RowsMappedOverhead = 22;

    /// <summary>Rows whose records fit in a page whatever the rows hold.</summary>
    internal static int RowsPerPage(int positions) =>
        Math.Max(1, Capacity / (RowMapping.LargestBytes(positions) + RowsMappedOverhead));
}
