using System.Globalization;

namespace TierSpaces.Bench.Tables;

/// <summary>Median, least and greatest of a few figures.</summary>
internal readonly record struct Spread(double Median, double Least, double Greatest)
{
    internal static Spread Of(IEnumerable<double> figures)
    {
        double[] sorted = [.. figures.Order()];
        double median = sorted.Length % 2 == 1 ? sorted[sorted.Length / 2] : (sorted[(sorted.Length / 2) - 1] + sorted[sorted.Length / 2]) / 2;
        return new Spread(median, sorted[0], sorted[^1]);
    }

    public override string ToString() =>
        string.Create(CultureInfo.InvariantCulture, $"{Median:F2} ({Least:F2}–{Greatest:F2})");
}
