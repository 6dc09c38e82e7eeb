using TierSpaces.Engine.Management;

namespace TierSpaces.Host.Verbs.StorageTiers;

/// <summary>
/// Heat and tiers of a range of slices as lines of characters. The scale is the same for every disk and every day, so that two pictures compare.
/// </summary>
/// <param name="first">The first slice.</param>
/// <param name="slices">Slices of the range.</param>
/// <param name="tiers">Tiers of the virtual disk.</param>
/// <param name="width">Characters in a line.</param>
/// <param name="lines">Lines at most.</param>
internal sealed class HeatPicture(long first, long slices, int tiers, int width, int lines)
{
    private const string Scale = ".:-=+*#%@";   // no heat, below 1, 3, 7 … 63 requests, and above 127

    private readonly double[] _hottest = new double[Cells(slices, width, lines)];
    private readonly int[] _mapped = new int[Cells(slices, width, lines) * tiers];

    /// <summary>Slices behind a character.</summary>
    public long SlicesPerCharacter { get; } = Math.Max(1, ((slices - 1) / ((long)width * lines)) + 1);

    /// <summary>Takes a slice.</summary>
    public void Add(SliceStatus slice)
    {
        long cell = (slice.Slice - first) / SlicesPerCharacter;
        _hottest[cell] = Math.Max(_hottest[cell], slice.Heat);
        if (slice.Entry.IsMapped)
        {
            _mapped[(cell * tiers) + slice.Entry.Tier]++;
        }
    }

    /// <summary>The lines: first slice, heat, tiers.</summary>
    public IEnumerable<(long Slice, string Heat, string Tier)> Lines()
    {
        int cells = (int)(((slices - 1) / SlicesPerCharacter) + 1);
        for (int at = 0; at < cells; at += width)
        {
            int[] line = Enumerable.Range(at, Math.Min(width, cells - at)).ToArray();
            yield return (first + (at * SlicesPerCharacter), string.Concat(line.Select(HeatOf)), string.Concat(line.Select(TierOf)));
        }
    }

    private static int Cells(long slices, int width, int lines) => (int)Math.Min(slices, (long)width * lines);

    private char HeatOf(int cell) => _hottest[cell] > 0 ? Scale[Math.Min(Scale.Length - 1, 1 + (int)Math.Log2(1 + _hottest[cell]))]
        : TierOf(cell) == ' ' ? ' ' : Scale[0];

    private char TierOf(int cell)
    {
        Span<int> on = _mapped.AsSpan(cell * tiers, tiers);
        int most = 0;
        for (int tier = 1; tier < tiers; tier++)
        {
            most = on[tier] > on[most] ? tier : most;
        }

        return on[most] == 0 ? ' ' : "123456789ABCDEF"[most];
    }
}
