using TierSpaces.Bench.Tables;

namespace TierSpaces.Bench.Charts;

/// <summary>One bar: a median with its range, and where it has to reach.</summary>
internal sealed record ChartBar(string Name, Spread Value, double? Required);

/// <summary>Ratios as bars that begin at 1, on a scale of powers of two; above 1 to the right, below 1 to the left.</summary>
internal sealed record BarChart(string Title, string ValueLabel, IReadOnlyList<ChartBar> Bars)
{
    private const int Left = 20;
    private const int Right = 60;
    private const int Top = 30;
    private const int Bottom = 44;
    private const int RowHeight = 44;
    private const int Thickness = 14;
    private const string Reached = "#3a7d44";
    private const string Missed = "#b3402e";
    private const string Neutral = "#4a6fa5";

    internal int Height => Top + (Bars.Count * RowHeight) + Bottom;

    /// <summary>Draws it into the canvas, <paramref name="top"/> pixels below its upper edge, as wide as the canvas.</summary>
    internal void Draw(SvgCanvas canvas, int top)
    {
        double least = Bars.Select(bar => Math.Min(bar.Value.Least, bar.Required ?? 1)).Append(1).Min();
        double greatest = Bars.Select(bar => Math.Max(bar.Value.Greatest, bar.Required ?? 1)).Append(1).Max();
        Axis along = Axis.Logarithmic(Math.Max(least, 1e-6), greatest);
        double X(double value) => Left + (along.Share(value) * (canvas.Width - Left - Right));
        int floor = top + Top + (Bars.Count * RowHeight);

        canvas.Text(Left, top + 18, Title, isBold: true);
        foreach (double tick in along.Ticks)
        {
            canvas.Line(X(tick), top + Top, X(tick), floor, tick == 1 ? "#222" : "#ddd");
            canvas.Text(X(tick), floor + 16, LineChart.Label(tick), TextAnchor.Middle);
        }

        canvas.Text((Left + canvas.Width - Right) / 2.0, floor + 36, ValueLabel, TextAnchor.Middle);
        for (int index = 0; index < Bars.Count; index++)
        {
            DrawBar(canvas, Bars[index], top + Top + (index * RowHeight), X);
        }
    }

    private static void DrawBar(SvgCanvas canvas, ChartBar bar, int top, Func<double, double> x)
    {
        double one = x(1);
        double end = x(bar.Value.Median);
        double middle = top + 20 + (Thickness / 2.0);
        string color = bar.Required is not { } required ? Neutral : bar.Value.Median >= required ? Reached : Missed;
        canvas.Text(Left + 4, top + 14, bar.Name);
        canvas.Bar(Math.Min(one, end), top + 20, Math.Max(1, Math.Abs(end - one)), Thickness, color);
        canvas.Line(x(bar.Value.Least), middle, x(bar.Value.Greatest), middle, "#222", 1.5);
        double label = Math.Round(bar.Value.Median, bar.Value.Median < 0.1 ? 3 : 2);
        canvas.Text(Math.Max(Math.Max(one, end), x(bar.Value.Greatest)) + 6, middle + 4, LineChart.Label(label));
        if (bar.Required is { } needed)
        {
            canvas.Line(x(needed), top + 16, x(needed), top + 24 + Thickness, "#222", 2, dashed: true);
        }
    }
}
