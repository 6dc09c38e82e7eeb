using System.Text.RegularExpressions;

namespace TierSpaces.Host.CommandLine;

/// <summary>A value of a table as it is shown.</summary>
/// <param name="Text">The text.</param>
/// <param name="IsNumber">Whether it is a number, which is never cut.</param>
internal readonly record struct Cell(string Text, bool IsNumber);

/// <summary>
/// The rule by which a table fits into a terminal. The first of these that is narrow enough is taken:
/// 1. columns as wide as their contents and their headings;
/// 2. headings broken at their words (Resiliency, Setting, Name), one word above the other where the values are narrow;
/// 3. texts cut with an ellipsis, the widest first, to no fewer than <see cref="TextMin"/> characters; numbers are never cut;
/// 4. a list of properties for each object.
/// </summary>
internal sealed partial class TableFit
{
    private const int TextMin = 8;

    private readonly int _width;
    private readonly int[] _widths;
    private readonly bool[] _right;

    /// <summary>Decides the widths from the first page.</summary>
    /// <param name="headings">The headings.</param>
    /// <param name="rows">The first page.</param>
    /// <param name="width">Columns of the terminal.</param>
    internal TableFit(string[] headings, Cell[][] rows, int width)
    {
        _width = width;
        _right = [.. headings.Select((_, i) => rows.All(row => row[i].IsNumber))];
        Headings = [.. headings.Select(static heading => (IReadOnlyList<string>)[heading])];
        _widths = [.. headings.Select((heading, i) => Math.Max(heading.Length, Widest(rows, i)))];
        if (Total > width)
        {
            Headings = [.. headings.Select((heading, i) => Broken(heading, Widest(rows, i)))];
            _widths = [.. Headings.Select((heading, i) => Math.Max(heading.Max(static word => word.Length), Widest(rows, i)))];
            Cut();
        }

        IsList = Total > width;
    }

    /// <summary>The lines of each heading.</summary>
    internal IReadOnlyList<string>[] Headings { get; }

    /// <summary>Lines of the tallest heading.</summary>
    internal int HeadingLines => Headings.Max(static heading => heading.Count);

    /// <summary>Whether the objects are shown as lists.</summary>
    internal bool IsList { get; }

    private int Total => _widths.Sum() + _widths.Length - 1;

    /// <summary>Makes columns wider for a later page where the terminal has room.</summary>
    internal void Grow(Cell[][] rows)
    {
        for (int i = 0; i < _widths.Length; i++)
        {
            long room = Math.Max(0L, (long)_width - Total);
            _widths[i] += (int)Math.Min(room, Math.Max(0, Widest(rows, i) - _widths[i]));
        }
    }

    /// <summary>Returns a text as wide as its column.</summary>
    internal string Place(string text, int column)
    {
        int width = _widths[column];
        return _right[column] ? text.PadLeft(width) : (text.Length > width ? text[..(width - 1)] + "…" : text).PadRight(width);
    }

    private static int Widest(Cell[][] rows, int column) => rows.Max(row => row[column].Text.Length);

    // A line of a heading takes as many words as are no wider than the values and the longest word.
    private static List<string> Broken(string heading, int values)
    {
        string[] words = [.. Word().Matches(heading).Select(static match => match.Value)];
        int room = Math.Max(values, words.Max(static word => word.Length));
        List<string> lines = [""];
        foreach (string word in words)
        {
            if (lines[^1].Length + word.Length > room)
            {
                lines.Add("");
            }

            lines[^1] += word;
        }

        return [.. lines.Select(static line => line.Trim())];
    }

    private void Cut()
    {
        int[] least = [.. _widths.Select((width, i) => _right[i] ? width
            : Math.Min(width, Math.Max(TextMin, Headings[i].Max(static word => word.Length))))];
        while (Total > _width)
        {
            int widest = Enumerable.Range(0, _widths.Length).MaxBy(i => _widths[i] > least[i] ? _widths[i] : 0);
            if (_widths[widest] <= least[widest])
            {
                return;
            }

            _widths[widest]--;
        }
    }

    [GeneratedRegex("[^a-z ]+[a-z]* ?|[a-z]+ ?")]
    private static partial Regex Word();
}
