namespace TierSpaces.Bench.Charts;

/// <summary>Values along one direction of a chart: the position of each, and the values that have labels.</summary>
internal sealed class Axis
{
    private const int TicksWanted = 6;

    private readonly bool _isLogarithmic;
    private readonly double _least;
    private readonly double _greatest;

    private Axis(double least, double greatest, bool isLogarithmic, IReadOnlyList<double> ticks)
    {
        _least = Scaled(least, isLogarithmic);
        _greatest = Scaled(greatest, isLogarithmic);
        _isLogarithmic = isLogarithmic;
        Ticks = ticks;
    }

    /// <summary>The values that are named, rising.</summary>
    internal IReadOnlyList<double> Ticks { get; }

    /// <summary>From 0 to at least <paramref name="greatest"/>, in steps of 1, 2 or 5.</summary>
    internal static Axis Linear(double greatest)
    {
        double rough = Math.Max(greatest, 1e-9) / TicksWanted;
        double unit = Math.Pow(10, Math.Floor(Math.Log10(rough)));
        double step = unit * (rough <= unit ? 1 : rough <= 2 * unit ? 2 : rough <= 5 * unit ? 5 : 10);
        int count = (int)Math.Ceiling(Math.Max(greatest, 1e-9) / step);
        return new Axis(0, count * step, isLogarithmic: false, [.. Enumerable.Range(0, count + 1).Select(index => index * step)]);
    }

    /// <summary>Powers of two, from one at most <paramref name="least"/> to one at least <paramref name="greatest"/>; both above 0.</summary>
    internal static Axis Logarithmic(double least, double greatest)
    {
        int first = (int)Math.Floor(Math.Log2(least));
        int last = Math.Max((int)Math.Ceiling(Math.Log2(greatest)), first + 1);
        return new Axis(
            Math.Pow(2, first), Math.Pow(2, last), isLogarithmic: true, [.. Enumerable.Range(first, last - first + 1).Select(power => Math.Pow(2, power))]);
    }

    /// <summary>Returns the position of a value on the axis: 0 at its beginning, 1 at its end; values beyond are clamped.</summary>
    internal double Share(double value)
    {
        double scaled = _isLogarithmic && value <= 0 ? _least : Scaled(value, _isLogarithmic);
        return Math.Clamp((scaled - _least) / (_greatest - _least), 0, 1);
    }

    private static double Scaled(double value, bool isLogarithmic) => isLogarithmic ? Math.Log2(value) : value;
}
