using System.Globalization;
using System.Xml.Linq;
using TierSpaces.Bench.Charts;
using TierSpaces.Bench.Tables;

namespace TierSpaces.Bench.Tests;

/// <summary>A picture says what the figures say: places and lengths are read back out of the SVG.</summary>
public sealed class ChartTests
{
    private static readonly XNamespace s_svg = "http://www.w3.org/2000/svg";

    [Theory]
    [InlineData(10, 6, 2)]
    [InlineData(7, 5, 2)]
    [InlineData(0.9, 6, 0.2)]
    [InlineData(30, 7, 5)]
    public void A_linear_axis_has_round_steps_from_0(double greatest, int ticks, double step)
    {
        Axis axis = Axis.Linear(greatest);

        Assert.Equal(ticks, axis.Ticks.Count);
        Assert.All(axis.Ticks.Select((tick, index) => (tick, index)), pair => Assert.Equal(pair.index * step, pair.tick, 1e-9));
        Assert.True(axis.Ticks[^1] >= greatest);
        Assert.Equal(0.5, axis.Share(axis.Ticks[^1] / 2), 1e-9);
    }

    [Fact]
    public void A_logarithmic_axis_runs_over_powers_of_two()
    {
        Axis axis = Axis.Logarithmic(0.9, 11.44);

        Assert.Equal([0.5, 1, 2, 4, 8, 16], axis.Ticks);
        Assert.Equal(0, axis.Share(0.5));
        Assert.Equal(1, axis.Share(16));
        Assert.Equal(0.2, axis.Share(1), 1e-9);
        Assert.Equal(0, axis.Share(0));
        Assert.Equal(1, axis.Share(1000));
    }

    [Fact]
    public void A_line_has_a_point_for_each_second_and_rises_where_values_rise()
    {
        XElement picture = Drawn(new LineChart("Title <&>", "value", [new ChartLine("a", "#111111", [1, 4, 2]), new ChartLine("b", "#222222", [8, 8])]));

        double[][] first = Points(picture, "#111111");
        Assert.Equal(3, first.Length);
        Assert.True(first[0][0] < first[1][0] && first[1][0] < first[2][0]);
        Assert.True(first[1][1] < first[2][1] && first[2][1] < first[0][1]);   // up is less
        Assert.Equal(2, Points(picture, "#222222").Length);
        Assert.Contains(picture.Descendants(s_svg + "text"), text => text.Value == "Title <&>");
        Assert.Contains(picture.Descendants(s_svg + "text"), text => text.Value == "seconds");
    }

    [Fact]
    public void Bars_begin_at_1_and_are_judged_by_what_is_required()
    {
        XElement picture = Drawn(new BarChart("Bars", "ratio",
        [
            new ChartBar("reached", new Spread(4, 2, 8), 2), new ChartBar("missed", new Spread(0.5, 0.25, 1), 0.9),
            new ChartBar("reported", new Spread(2, 2, 2), null),
        ]));

        XElement[] bars = [.. picture.Descendants(s_svg + "rect").Skip(1)];   // the first is the ground
        Assert.Equal(3, bars.Length);
        Assert.Equal(3, bars.Select(bar => bar.Attribute("fill")!.Value).Distinct().Count());
        double one = Number(bars[0], "x");
        Assert.Equal(one, Number(bars[1], "x") + Number(bars[1], "width"), 0.2);
        Assert.Equal(one, Number(bars[2], "x"), 0.2);
        Assert.Equal(2 * Number(bars[2], "width"), Number(bars[0], "width"), 0.4);
        Assert.Equal(2, picture.Descendants(s_svg + "line").Count(line => line.Attribute("stroke-dasharray") is not null));
    }

    [Fact]
    public void A_curve_of_what_grows_in_proportion_is_a_straight_line()
    {
        SvgCanvas canvas = new(600, CurveChart.Height);
        ChartCurve[] curves = [new("linear", "#111111", [(1, 1), (2, 2), (4, 4)]), new("flat", "#222222", [(1, 1), (4, 1)])];
        new CurveChart("Curves", "disks", "rate", curves).Draw(canvas, 0);
        XElement picture = XElement.Parse(canvas.ToString());

        double[][] linear = Points(picture, "#111111");
        Assert.Equal(linear[1][0] - linear[0][0], linear[2][0] - linear[1][0], 0.2);
        Assert.Equal(linear[1][1] - linear[0][1], linear[2][1] - linear[1][1], 0.2);
        Assert.True(linear[2][1] < linear[0][1]);   // up is less
        double[][] flat = Points(picture, "#222222");
        Assert.Equal(flat[0][1], flat[1][1]);
        Assert.Equal([linear[0][0], linear[2][0]], flat.Select(point => point[0]));
    }

    [Fact]
    public void Figures_have_points_in_every_language()
    {
        CultureInfo before = CultureInfo.CurrentCulture;
        CultureInfo.CurrentCulture = WithCommas();
        try
        {
            XElement picture = Drawn(new BarChart("Bars", "ratio", [new ChartBar("x", new Spread(0.57, 0.5, 0.6), 0.75)]));
            Assert.DoesNotContain(picture.DescendantsAndSelf().Attributes(), attribute => attribute.Value.Contains(',', StringComparison.Ordinal));
            Assert.Contains(picture.Descendants(s_svg + "text"), text => text.Value == "0.57");
        }
        finally
        {
            CultureInfo.CurrentCulture = before;
        }
    }

    private static CultureInfo WithCommas()
    {
        CultureInfo culture = (CultureInfo)CultureInfo.InvariantCulture.Clone();
        culture.NumberFormat.NumberDecimalSeparator = ",";
        return culture;
    }

    private static XElement Drawn(LineChart chart)
    {
        SvgCanvas canvas = new(600, LineChart.Height);
        chart.Draw(canvas, 0);
        return XElement.Parse(canvas.ToString());
    }

    private static XElement Drawn(BarChart chart)
    {
        SvgCanvas canvas = new(600, chart.Height);
        chart.Draw(canvas, 0);
        return XElement.Parse(canvas.ToString());
    }

    private static double[][] Points(XElement picture, string color) =>
    [
        .. picture.Descendants(s_svg + "polyline").Single(line => line.Attribute("stroke")!.Value == color).Attribute("points")!.Value.Split(' ')
            .Select(point => point.Split(',').Select(part => double.Parse(part, CultureInfo.InvariantCulture)).ToArray()),
    ];

    private static double Number(XElement element, string attribute) => double.Parse(element.Attribute(attribute)!.Value, CultureInfo.InvariantCulture);
}
