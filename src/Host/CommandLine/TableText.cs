using System.Globalization;
using System.Reflection;
using System.Text.Json;
using TierSpaces.Contracts;

namespace TierSpaces.Host.CommandLine;

/// <summary>
/// Prints objects as a table with the default columns of their class: headings, dashes, numbers to the right, everything else to
/// the left, columns as wide as their contents. No objects, no output. Of a list in pages the first decides how wide columns are, until a later
/// one needs more.
/// </summary>
/// <param name="type">Type of the objects; carries the columns.</param>
/// <param name="output">Writer of the output.</param>
internal sealed class TableText(Type type, TextWriter output)
{
    private readonly Column[] _columns = [.. type.GetCustomAttribute<WindowsClassAttribute>()!.Columns.Select(Column.Read)];
    private int[] _widths = [];
    private bool[] _right = [];

    /// <summary>Prints a table of one page, with an empty line after it.</summary>
    /// <param name="type">Type of the objects; carries the columns.</param>
    /// <param name="objects">An array of objects.</param>
    /// <param name="output">Writer of the output.</param>
    public static void Print(Type type, JsonElement objects, TextWriter output)
    {
        TableText table = new TableText(type, output);
        table.Print(objects);
        table.End();
    }

    /// <summary>Prints a page.</summary>
    /// <param name="objects">An array of objects.</param>
    public void Print(JsonElement objects)
    {
        if (objects.GetArrayLength() == 0)
        {
            return;
        }

        Cell[][] rows = objects.EnumerateArray().Select(item => _columns.Select(column => column.Cell(item)).ToArray()).ToArray();
        bool isFirst = _widths.Length == 0;
        int[] least = isFirst ? _columns.Select(column => column.Heading.Length).ToArray() : _widths;
        _widths = _columns.Select((_, i) => Math.Max(least[i], rows.Max(row => row[i].Text.Length))).ToArray();
        if (isFirst)
        {
            _right = _columns.Select((_, i) => rows.All(row => row[i].IsNumber)).ToArray();
            PrintLine(output, _columns.Select(column => column.Heading), _widths, _right);
            PrintLine(output, _columns.Select(column => new string('-', column.Heading.Length)), _widths, _right);
        }

        foreach (Cell[]? row in rows)
        {
            PrintLine(output, row.Select(cell => cell.Text), _widths, _right);
        }
    }

    /// <summary>Ends the table: an empty line, if there was anything.</summary>
    public void End()
    {
        if (_widths.Length > 0)
        {
            output.WriteLine();
        }
    }

    private static void PrintLine(TextWriter output, IEnumerable<string> cells, int[] widths, bool[] right) =>
        output.WriteLine(
            string.Join(' ', cells.Select((cell, i) => right[i] ? cell.PadLeft(widths[i]) : cell.PadRight(widths[i]))).TrimEnd());

    private readonly record struct Cell(string Text, bool IsNumber);

    /// <summary>A column as <see cref="WindowsClassAttribute"/> writes it.</summary>
    private sealed record Column(string Heading, string Property, string Divisor, bool InBytes, bool IsAuto)
    {
        public static Column Read(string text)
        {
            bool inBytes = text.EndsWith(":bytes", StringComparison.Ordinal);
            bool isAuto = text.EndsWith(":auto", StringComparison.Ordinal);
            string spec = inBytes ? text[..^":bytes".Length] : isAuto ? text[..^":auto".Length] : text;
            int equals = spec.IndexOf('=');
            string source = spec[(equals + 1)..];
            int slash = source.IndexOf('/');
            return slash < 0
                ? new Column(equals < 0 ? source : spec[..equals], source, "", inBytes, isAuto)
                : new Column(spec[..equals], source[..slash], source[(slash + 1)..], inBytes, isAuto);
        }

        public Cell Cell(JsonElement item)
        {
            if (!item.TryGetProperty(Property, out JsonElement value))
            {
                return new Cell("", false);
            }

            if (IsAuto && value.ValueKind == JsonValueKind.Null)
            {
                return new Cell("Auto", true);   // a column of numbers is to the right
            }

            return Divisor.Length > 0 ? Percent(value, item.GetProperty(Divisor))
                : InBytes && value.ValueKind == JsonValueKind.Number ? new Cell(SizeText.Format(value.GetUInt64()), true)
                : new Cell(Text(value), value.ValueKind == JsonValueKind.Number);
        }

        private static Cell Percent(JsonElement part, JsonElement whole)
        {
            if (part.ValueKind != JsonValueKind.Number || whole.ValueKind != JsonValueKind.Number || whole.GetUInt64() == 0)
            {
                return new Cell("", true);
            }

            double percent = 100.0 * part.GetUInt64() / whole.GetUInt64();
            return new Cell(percent.ToString("0.00", CultureInfo.InvariantCulture) + "%", true);
        }

        private static string Text(JsonElement value) => value.ValueKind switch
        {
            JsonValueKind.Null => "",
            JsonValueKind.True => "True",
            JsonValueKind.False => "False",
            JsonValueKind.String => value.GetString()!,
            JsonValueKind.Array => string.Join(", ", value.EnumerateArray().Select(Text)),
            _ => value.GetRawText(),
        };
    }
}
