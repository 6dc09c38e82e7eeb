using System.Text.RegularExpressions;

namespace TierSpaces.Cmdlets.Help;

/// <summary>A part of a page under a heading of its own.</summary>
/// <param name="Title">The heading.</param>
/// <param name="Lines">The lines below it.</param>
internal sealed record HelpSection(string Title, IReadOnlyList<string> Lines);

/// <summary>One example of a page.</summary>
/// <param name="Title">Subject of the example.</param>
/// <param name="Code">The commands.</param>
/// <param name="Remarks">The paragraphs around them.</param>
internal sealed record HelpExample(string Title, string Code, IReadOnlyList<string> Remarks);

/// <summary>
/// A page of docs/cmdlets: the hand-written text about a cmdlet, split by its headings. The page also has generated parts between
/// marks, for readers. They are printed from the request records and never read back.
/// </summary>
internal sealed partial class HelpPage
{
    private const string Begin = "<!-- generated from the request record, do not edit by hand -->";
    private const string End = "<!-- end of generated -->";
    private readonly IReadOnlyList<HelpSection> _sections;

    private HelpPage(string title, IReadOnlyList<HelpSection> sections) => (Title, _sections) = (title, sections);

    /// <summary>The first heading.</summary>
    internal string Title { get; }

    /// <summary>Headings below it.</summary>
    internal IEnumerable<string> Headings => _sections.Select(section => section.Title);

    /// <summary>The paragraphs about single parameters, by name without the dash.</summary>
    internal IReadOnlyDictionary<string, IReadOnlyList<string>> Parameters => Below("Parameters")
        .ToDictionary(part => part.Title.TrimStart('-'), part => PlainText.Paragraphs(part.Lines), StringComparer.OrdinalIgnoreCase);

    /// <summary>Its examples.</summary>
    internal IReadOnlyList<HelpExample> Examples => [.. Below("Examples").Select(Example)];

    /// <summary>Takes a page apart.</summary>
    internal static HelpPage Parse(string text)
    {
        IReadOnlyList<HelpSection> parts = Split(Generated().Replace(text, "").Split('\n'), "# ");
        return parts is [var only] ? new HelpPage(only.Title, Split(only.Lines, "## ")) : throw new FormatException("A page has one title.");
    }

    /// <summary>The paragraphs of a section; none when it is not there.</summary>
    internal IReadOnlyList<string> Paragraphs(string section) => PlainText.Paragraphs(Lines(section));

    /// <summary>Returns the page with its generated parts renewed: one below the title, one at the end.</summary>
    internal static string Renew(string page, string head, string tail)
    {
        string own = Generated().Replace(page, "");
        int title = own.IndexOf('\n', StringComparison.Ordinal);
        string[] parts = [own[..title], Marked(head), own[title..].Trim('\n'), Marked(tail)];
        return string.Join("\n\n", parts.Where(part => part.Length > 0)) + "\n";
    }

    private static string Marked(string text) => text.Length == 0 ? "" : $"{Begin}\n{text.Trim('\n')}\n{End}";

    private IReadOnlyList<string> Lines(string section) =>
        _sections.FirstOrDefault(part => part.Title.Equals(section, StringComparison.OrdinalIgnoreCase))?.Lines ?? [];

    private IReadOnlyList<HelpSection> Below(string section) => Split(Lines(section), "### ");

    private static HelpExample Example(HelpSection part)
    {
        List<string> code = [], remarks = [];
        bool inCode = false;
        foreach (string line in part.Lines)
        {
            if (line.StartsWith("```", StringComparison.Ordinal))
            {
                inCode = !inCode;
            }
            else
            {
                (inCode ? code : remarks).Add(line);
            }
        }

        return new HelpExample(part.Title, string.Join('\n', code), PlainText.Paragraphs(remarks));
    }

    /// <summary>Cuts at headings of one depth; a line of code that begins with # is none.</summary>
    private static List<HelpSection> Split(IEnumerable<string> lines, string mark)
    {
        List<HelpSection> parts = [];
        List<string> below = [];
        bool inCode = false;
        foreach (string line in lines)
        {
            inCode ^= line.StartsWith("```", StringComparison.Ordinal);
            if (!inCode && line.StartsWith(mark, StringComparison.Ordinal))
            {
                below = [];
                parts.Add(new HelpSection(line[mark.Length..].Trim(), below));
            }
            else
            {
                below.Add(line);
            }
        }

        return parts;
    }

    [GeneratedRegex($"{Begin}.*?{End}\n*", RegexOptions.Singleline)]
    private static partial Regex Generated();
}
