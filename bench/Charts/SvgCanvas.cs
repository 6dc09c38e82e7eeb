using System.Globalization;
using System.Security;
using System.Text;

namespace TierSpaces.Bench.Charts;

/// <summary>Position of a text relative to its point.</summary>
internal enum TextAnchor
{
    Start,
    Middle,
    End,
}

/// <summary>The few shapes that charts are made of, written as SVG. Units are pixels, from the upper left corner.</summary>
internal sealed class SvgCanvas(int width, int height)
{
    private readonly StringBuilder _shapes = new();

    internal int Width { get; } = width;

    internal int Height { get; } = height;

    internal void Line(double x1, double y1, double x2, double y2, string color, double stroke = 1, bool dashed = false) => Add(
        $"<line x1=\"{x1:0.#}\" y1=\"{y1:0.#}\" x2=\"{x2:0.#}\" y2=\"{y2:0.#}\" stroke=\"{color}\" stroke-width=\"{stroke:0.#}\"{(dashed ? " stroke-dasharray=\"4 3\"" : "")}/>");

    internal void Bar(double x, double y, double width, double height, string color) => Add(
        $"<rect x=\"{x:0.#}\" y=\"{y:0.#}\" width=\"{width:0.#}\" height=\"{height:0.#}\" fill=\"{color}\"/>");

    internal void Path(IEnumerable<(double X, double Y)> points, string color) => Add(
        $"<polyline points=\"{string.Join(' ', points.Select(point => string.Create(CultureInfo.InvariantCulture, $"{point.X:0.#},{point.Y:0.#}")))}\" fill=\"none\" stroke=\"{color}\" stroke-width=\"2\"/>");

    internal void Text(double x, double y, string text, TextAnchor anchor = TextAnchor.Start, bool isBold = false) => Add(
        $"<text x=\"{x:0.#}\" y=\"{y:0.#}\" text-anchor=\"{Name(anchor)}\"{(isBold ? " font-weight=\"bold\"" : "")}>{SecurityElement.Escape(text)}</text>");

    /// <summary>A text that is read from below to above.</summary>
    internal void TextUpwards(double x, double y, string text) => Add(
        $"<text transform=\"translate({x:0.#} {y:0.#}) rotate(-90)\" text-anchor=\"middle\">{SecurityElement.Escape(text)}</text>");

    /// <summary>The whole picture, on white so that it is read on any page.</summary>
    public override string ToString() => string.Create(CultureInfo.InvariantCulture, $"""
        <svg xmlns="http://www.w3.org/2000/svg" width="{Width}" height="{Height}" viewBox="0 0 {Width} {Height}" font-family="sans-serif" font-size="12" fill="#222">
        <rect width="{Width}" height="{Height}" fill="#fff"/>
        {_shapes}</svg>

        """);

    private static string Name(TextAnchor anchor) => anchor switch { TextAnchor.Middle => "middle", TextAnchor.End => "end", _ => "start" };

    private void Add(FormattableString shape) => _shapes.Append(shape.ToString(CultureInfo.InvariantCulture)).Append('\n');
}
