using TierSpaces.Engine.Primitives;

namespace TierSpaces.Engine.Tiering;

/// <summary>
/// The heat of the slices of a virtual disk at one time, for long computations on another thread: 4 bytes for each slice
/// of the pages that were touched. It does not change once it is made.
/// </summary>
internal sealed class HeatCopy
{
    private readonly float[]?[] _pages;

    private HeatCopy(long slices) => _pages = new float[]?[(slices + HeatMap.PageSlices - 1) / HeatMap.PageSlices];

    /// <summary>Heat of a slice, in requests.</summary>
    internal double this[long slice] => _pages[slice / HeatMap.PageSlices] is { } page ? page[slice % HeatMap.PageSlices] : 0;

    /// <summary>Copies a map piece by piece; again when another took its place meanwhile, so that all pieces are of one.</summary>
    /// <param name="heat">The map, which may be added to meanwhile.</param>
    /// <param name="nowNs">The time.</param>
    /// <param name="rest">Called after each piece of a fraction of a millisecond.</param>
    internal static async LaneTask<HeatCopy> Make(HeatMap heat, long nowNs, Func<LaneTask> rest)
    {
        while (true)
        {
            int generation = heat.Generation;
            HeatCopy copy = await MakeOnce(heat, nowNs, rest);
            if (heat.Generation == generation)
            {
                return copy;
            }
        }
    }

    private static async LaneTask<HeatCopy> MakeOnce(HeatMap heat, long nowNs, Func<LaneTask> rest)
    {
        const int pagesAtOnce = 256;
        HeatCopy copy = new(heat.Slices);
        long slices = heat.Slices;
        int copied = 0;
        for (long slice = heat.NextTouched(0); slice < slices; slice = heat.NextTouched(slice + HeatMap.PageSlices))
        {
            float[] page = new float[HeatMap.PageSlices];
            heat.CopyTo(page, slice, nowNs);
            copy._pages[slice / HeatMap.PageSlices] = page;
            if (++copied % pagesAtOnce == 0)
            {
                await rest();
            }
        }

        return copy;
    }
}
