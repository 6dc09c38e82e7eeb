using System.Globalization;

namespace TierSpaces.Bench.Charts;

/// <summary>One line of a chart: a value for each second.</summary>
internal sealed record ChartLine(string Name, string Color, IReadOnlyList<double> Values);

/// <summary>Lines over the seconds of a run.</summary>
internal sealed record LineChart(string Title, string ValueLabel, IReadOnlyList<ChartLine> Lines)
{
    internal const int Height = 300;

    private const int Left = 70;
    private const int Right = 20;
    private const int Top = 56;
    private const int Bottom = 44;

    /// <summary>Draws it into the canvas, <paramref name="top"/> pixels below its upper edge, as wide as the canvas.</summary>
    internal void Draw(SvgCanvas canvas, int top)
    {
        double[] values = [.. Lines.SelectMany(line => line.Values).Where(value => value > 0)];
        Axis up = Axis.Logarithmic(values.DefaultIfEmpty(1).Min(), values.DefaultIfEmpty(1).Max());
        Axis along = Axis.Linear(Math.Max(1, Lines.Max(line => line.Values.Count)));
        double X(double second) => Left + (along.Share(second) * (canvas.Width - Left - Right));
        double Y(double value) => top + Height - Bottom - (up.Share(value) * (Height - Top - Bottom));

        canvas.Text(Left, top + 18, Title, isBold: true);
        foreach (double tick in up.Ticks)
        {
            canvas.Line(Left, Y(tick), canvas.Width - Right, Y(tick), "#ddd");
            canvas.Text(Left - 6, Y(tick) + 4, Label(tick), TextAnchor.End);
        }

        foreach (double tick in along.Ticks)
        {
            canvas.Line(X(tick), top + Height - Bottom, X(tick), top + Height - Bottom + 4, "#222");
            canvas.Text(X(tick), top + Height - Bottom + 17, Label(tick), TextAnchor.Middle);
        }

        canvas.Line(Left, top + Height - Bottom, canvas.Width - Right, top + Height - Bottom, "#222");
        canvas.Text((Left + canvas.Width - Right) / 2.0, top + Height - 8, "seconds", TextAnchor.Middle);
        canvas.TextUpwards(16, top + ((Top + Height - Bottom) / 2.0), ValueLabel);
        DrawLines(canvas, top, X, Y);
    }

    private void DrawLines(SvgCanvas canvas, int top, Func<double, double> x, Func<double, double> y)
    {
        double at = Left;
        foreach (ChartLine line in Lines)
        {
            canvas.Path(line.Values.Select((value, second) => (x(second + 0.5), y(value))), line.Color);
            canvas.Line(at, top + 36, at + 18, top + 36, line.Color, 3);
            canvas.Text(at + 24, top + 40, line.Name);
            at += 48 + (7 * line.Name.Length);
        }
    }

    internal static string Label(double value) => value.ToString("0.###", CultureInfo.InvariantCulture);
}
