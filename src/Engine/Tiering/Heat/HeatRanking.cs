namespace TierSpaces.Engine.Tiering;

/// <summary>
/// The heats of the mapped slices of a virtual disk at one time, to rank each of them: 4 bytes for each slice that has heat.
/// The first query sorts them, on its own thread and not on the lane.
/// </summary>
/// <param name="nowNs">The time, as the lane's.</param>
/// <param name="heats">Heats above 0, in any order; they belong to this object.</param>
public sealed class HeatRanking(long nowNs, float[] heats)
{
    private readonly Lazy<float[]> _ascending = new(() =>
    {
        Array.Sort(heats);
        return heats;
    });

    /// <summary>Time of the lane at which the heats were copied: heat of this time is comparable with them.</summary>
    public long NowNs => nowNs;

    /// <summary>Returns the number of slices that are hotter.</summary>
    public int Hotter(double heat)
    {
        float[] ascending = _ascending.Value;
        int low = 0;
        for (int high = ascending.Length; low < high;)
        {
            int middle = low + ((high - low) / 2);
            (low, high) = ascending[middle] <= (float)heat ? (middle + 1, high) : (low, middle);
        }

        return ascending.Length - low;
    }
}
