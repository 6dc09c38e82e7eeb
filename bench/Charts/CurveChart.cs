namespace TierSpaces.Bench.Charts;

/// <summary>One curve of a chart: its points from left to right, all above 0. One without a name is explained by another one of its color.</summary>
internal sealed record ChartCurve(string Name, string Color, IReadOnlyList<(double X, double Y)> Points);

/// <summary>Values over what was varied, both on scales of powers of two: what grows in proportion is a straight line.</summary>
internal sealed record CurveChart(string Title, string AlongLabel, string ValueLabel, IReadOnlyList<ChartCurve> Curves)
{
    private const int KeyWidth = 260;     // of one entry of the key
    private const int KeyHeight = 18;
    private const int KeysInRow = 3;
    private const int Left = 70;
    private const int Right = 20;
    private const int Bottom = 44;
    private const int Plot = 260;
    private const int PointSize = 6;

    internal const int Height = 360;

    private const int Top = Height - Bottom - Plot;

    /// <summary>Draws it into the canvas, <paramref name="top"/> pixels below its upper edge, as wide as the canvas.</summary>
    internal void Draw(SvgCanvas canvas, int top)
    {
        (double X, double Y)[] points = [.. Curves.SelectMany(curve => curve.Points)];
        Axis up = Axis.Logarithmic(points.Min(point => point.Y), points.Max(point => point.Y));
        Axis along = Axis.Logarithmic(points.Min(point => point.X), points.Max(point => point.X));
        double X(double value) => Left + (along.Share(value) * (canvas.Width - Left - Right));
        double Y(double value) => top + Height - Bottom - (up.Share(value) * Plot);

        canvas.Text(Left, top + 18, Title, isBold: true);
        foreach (double tick in up.Ticks)
        {
            canvas.Line(Left, Y(tick), canvas.Width - Right, Y(tick), tick == 1 ? "#222" : "#ddd");
            canvas.Text(Left - 6, Y(tick) + 4, LineChart.Label(tick), TextAnchor.End);
        }

        foreach (double tick in along.Ticks)
        {
            canvas.Line(X(tick), top + Top, X(tick), top + Height - Bottom, "#ddd");
            canvas.Text(X(tick), top + Height - Bottom + 17, LineChart.Label(tick), TextAnchor.Middle);
        }

        canvas.Text((Left + canvas.Width - Right) / 2.0, top + Height - 8, AlongLabel, TextAnchor.Middle);
        canvas.TextUpwards(16, top + Top + (Plot / 2.0), ValueLabel);
        foreach (ChartCurve curve in Curves)
        {
            DrawCurve(canvas, curve, X, Y);
        }

        ChartCurve[] named = [.. Curves.Where(curve => curve.Name.Length > 0)];
        for (int index = 0; index < named.Length; index++)
        {
            DrawKey(canvas, named[index], Left + (index % KeysInRow * KeyWidth), top + 28 + (index / KeysInRow * KeyHeight));
        }
    }

    private static void DrawKey(SvgCanvas canvas, ChartCurve curve, int left, int top)
    {
        canvas.Line(left, top, left + 18, top, curve.Color, 3);
        canvas.Text(left + 24, top + 4, curve.Name);
    }

    private static void DrawCurve(SvgCanvas canvas, ChartCurve curve, Func<double, double> x, Func<double, double> y)
    {
        canvas.Path(curve.Points.Select(point => (x(point.X), y(point.Y))), curve.Color);
        foreach ((double along, double up) in curve.Points)
        {
            canvas.Bar(x(along) - (PointSize / 2.0), y(up) - (PointSize / 2.0), PointSize, PointSize, curve.Color);
        }
    }
}
