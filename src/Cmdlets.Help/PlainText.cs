using System.Text.RegularExpressions;

namespace TierSpaces.Cmdlets.Help;

/// <summary>Text of a page for a console: paragraphs on one line each, without the marks of Markdown.</summary>
internal static partial class PlainText
{
    /// <summary>Paragraphs of some lines; an item of a list is a paragraph of its own.</summary>
    internal static IReadOnlyList<string> Paragraphs(IEnumerable<string> lines)
    {
        List<string> paragraphs = [];
        bool open = false;
        foreach (string line in lines.Select(line => line.Trim()))
        {
            if (line.Length == 0 || line.StartsWith("- ", StringComparison.Ordinal) || !open)
            {
                open = line.Length > 0;
                paragraphs.AddRange(open ? [line] : []);
            }
            else
            {
                paragraphs[^1] += " " + line;
            }
        }

        return [.. paragraphs.Select(WithoutMarks)];
    }

    private static string WithoutMarks(string text) => Link().Replace(text, "$1").Replace("**", "").Replace("`", "");

    [GeneratedRegex(@"\[([^\]]+)\]\([^)]*\)")]
    private static partial Regex Link();
}
