using System.Globalization;
using System.Reflection;
using System.Text.Json;
using TierSpaces.Contracts;

namespace TierSpaces.Host.CommandLine;

/// <summary>
/// Prints objects as a table with the default columns of their class: headings, dashes, numbers to the right, everything else to
/// the left, columns as wide as their contents. No objects, no output. Of a list in pages the first decides how wide columns are, until a later
/// one needs more.
///
/// A table is no wider than the terminal (<see cref="TableFit"/>): headings are broken at their words, then texts are cut with an ellipsis, and
/// where not even that fits the objects are lists of properties. Nothing is cut where the output is no terminal: scripts read all of it.
/// </summary>
/// <param name="type">Type of the objects; carries the columns.</param>
/// <param name="output">Writer of the output.</param>
/// <param name="width">Columns of the terminal; <see cref="int.MaxValue"/> where the output is none.</param>
internal sealed class TableText(Type type, TextWriter output, int width = int.MaxValue)
{
    private readonly Column[] _columns = [.. type.GetCustomAttribute<WindowsClassAttribute>()!.Columns.Select(Column.Read)];
    private TableFit? _fit;

    /// <summary>Prints a table of one page, with an empty line after it.</summary>
    /// <param name="type">Type of the objects; carries the columns.</param>
    /// <param name="objects">An array of objects.</param>
    /// <param name="output">Writer of the output.</param>
    /// <param name="width">Columns of the terminal; <see cref="int.MaxValue"/> where the output is none.</param>
    public static void Print(Type type, JsonElement objects, TextWriter output, int width = int.MaxValue)
    {
        TableText table = new TableText(type, output, width);
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
        if (_fit is null)
        {
            _fit = new TableFit([.. _columns.Select(static column => column.Heading)], rows, width);
            PrintHeadings(_fit);
        }

        _fit.Grow(rows);
        foreach (Cell[] row in rows)
        {
            if (_fit.IsList)
            {
                PrintList(row);
            }
            else
            {
                PrintLine(row.Select(cell => cell.Text), _fit);
            }
        }
    }

    /// <summary>Ends the table: an empty line, if there was anything.</summary>
    public void End()
    {
        if (_fit is { IsList: false })
        {
            output.WriteLine();
        }
    }

    private void PrintHeadings(TableFit fit)
    {
        if (fit.IsList)
        {
            return;
        }

        for (int line = 0; line < fit.HeadingLines; line++)
        {
            PrintLine(fit.Headings.Select(heading => heading.ElementAtOrDefault(line - (fit.HeadingLines - heading.Count)) ?? ""), fit);
        }

        PrintLine(fit.Headings.Select(static heading => new string('-', heading.Max(static word => word.Length))), fit);
    }

    // Name : value, and the value goes on below itself.
    private void PrintList(Cell[] row)
    {
        int names = _columns.Max(static column => column.Heading.Length);
        int room = Math.Max(1, width - names - " : ".Length);
        foreach ((Column column, Cell cell) in _columns.Zip(row))
        {
            string name = column.Heading.PadRight(names) + " : ";
            foreach (char[] part in cell.Text.DefaultIfEmpty(' ').Chunk(room))
            {
                output.WriteLine((name + new string(part)).TrimEnd());
                name = new string(' ', name.Length);
            }
        }

        output.WriteLine();
    }

    private void PrintLine(IEnumerable<string> cells, TableFit fit) => output.WriteLine(string.Join(' ', cells.Select(fit.Place)).TrimEnd());

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
