using System.Globalization;
using System.Text;
using System.Text.RegularExpressions;

namespace TierSpaces.Engine.Tests.Architecture;

// The language of the repository: one set of words in all that people read, and one width of lines. Words.txt has the words that are not used, each with its
// replacement; DialectUncovered.txt has the files that still break a rule. A file in that list that breaks none fails the test, so the list only gets shorter.

/// <summary>Words of comments, messages and documents, and the length of lines.</summary>
public sealed partial class DialectTests
{
    private const int LiteralMin = 60;

    private static readonly string s_folder = Path.Combine(SourceTree.Root(), "tests", "Engine.Tests", "Architecture");

    private static readonly ILookup<string, string> s_uncovered = Lines("DialectUncovered.txt")
        .Select(static line => line.Split(' ', 2))
        .ToLookup(static parts => parts[0], static parts => parts[1]);

    private static readonly Regex s_words = new(
        @"\b(" + string.Join('|', Lines("Words.txt").Select(static line => line.Split('\t')[0])) + @")\b",
        RegexOptions.IgnoreCase | RegexOptions.CultureInvariant);

    private static readonly string[] s_files =
    [
        .. new[] { "src", "tests", "bench",
            "docs" }.SelectMany(static folder => Directory.EnumerateFiles(Path.Combine(SourceTree.Root(), folder), "*", SearchOption.AllDirectories))
            .Concat(Directory.EnumerateFiles(SourceTree.Root(), "*.md"))
            .Where(static path => !BuildFolder().IsMatch(path)),
    ];

    [Fact]
    public void People_read_the_words_of_the_field() =>
        Check("words", s_files.Where(static path => Prose(path) is { } text && s_words.IsMatch(text)), static path =>
            string.Join(", ", s_words.Matches(Prose(path)!).Select(static match => match.Value).Distinct()));

    [Fact]
    public void The_subject_of_a_sentence_in_a_comment_is_no_clause() =>
        Check("subjects", s_files.Where(static path => Clauses(path).Any()), static path => string.Join(", ", Clauses(path)));

    [Fact]
    public void The_name_of_a_test_is_a_sentence() =>
        Check("names", s_files.Where(static path => OtherNames(path).Any()), static path => string.Join(", ", OtherNames(path)));

    [Fact]
    public void A_line_has_no_more_characters_than_the_editor_shows() =>
        Check("lines", s_files.Where(static path => path.EndsWith(".cs", StringComparison.Ordinal) && LongLines(path).Any()), static path =>
            $"line {LongLines(path).First()}");

    [Fact]
    public void A_word_that_is_not_used_is_found_in_comments_and_texts_and_not_in_names()
    {
        Assert.Contains("stands", Prose("a.cs", "int a; // it stands"), StringComparison.Ordinal);
        Assert.Contains("stands", Prose("a.cs", "Say(\"it stands\");"), StringComparison.Ordinal);
        Assert.DoesNotContain("stands", Prose("a.cs", "bool stands = true; char c = '\"';"), StringComparison.Ordinal);
        Assert.Contains("stands", Prose("a.md", "it stands"), StringComparison.Ordinal);
        Assert.DoesNotContain("stands", Prose("a.md", "the method `stands` and\n```\nstands\n```\n"), StringComparison.Ordinal);
    }

    private static void Check(string rule, IEnumerable<string> found, Func<string, string> describe)
    {
        string[] broken = [.. found.Select(static path => Path.GetRelativePath(SourceTree.Root(), path)).Order(StringComparer.Ordinal)];
        string[] news = [.. broken.Except(s_uncovered[rule])];
        string[] mended = [.. s_uncovered[rule].Except(broken)];
        Assert.True(news.Length == 0, $"{rule}: " + string.Join('\n', news.Select(path => $"{path}: {describe(Path.Combine(SourceTree.Root(), path))}")));
        Assert.True(mended.Length == 0, $"Keeps the rule '{rule}' now; take it out of DialectUncovered.txt: {string.Join(' ', mended)}");
    }

    private static IEnumerable<string> OtherNames(string path) => path.EndsWith(".cs", StringComparison.Ordinal)
        ? TestName().Matches(File.ReadAllText(path)).Select(static match => match.Groups["name"].Value).Where(static name => !name.Contains('_'))
        : [];

    // "What is kept is listed." has a clause for its subject; "A slab that is kept is listed." has a thing.
    private static IEnumerable<string> Clauses(string path) => path.EndsWith(".cs", StringComparison.Ordinal)
        ? CommentText().Matches(File.ReadAllText(path)).SelectMany(static line => ClauseStart().Matches(line.Value)).Select(static match => match.Value.Trim())
        : [];

    private static IEnumerable<string> Lines(string file) => File.ReadLines(Path.Combine(s_folder, file))
        .Where(static line => line.Length > 0 && line[0] != '#');

    private static string? Prose(string path) => Path.GetFileName(path) is "Words.txt" or "DialectTests.cs" or "DialectUncovered.txt" ? null
        : Path.GetExtension(path) is ".cs" or ".md" or ".ps1" or ".psm1" or ".psd1" or ".sh" ? Prose(path, File.ReadAllText(path)) : null;

    private static string Prose(string path, string text)
    {
        string extension = Path.GetExtension(path);
        StringBuilder prose = new();
        foreach (Match match in (extension == ".cs" ? CodeText() : extension == ".md" ? MarkdownText() : ShellText()).Matches(text))
        {
            prose.Append(match.Groups["text"].Value).Append('\n');
        }

        return prose.ToString();
    }

    // Texts are not cut: the inside of a raw literal is not looked at, and a line with another literal may be longer if that is long itself.
    private static IEnumerable<int> LongLines(string path)
    {
        string settings = File.ReadAllText(Path.Combine(SourceTree.Root(), ".editorconfig"));
        int most = int.Parse(EditorWidth().Match(settings).Groups["width"].Value, CultureInfo.InvariantCulture);
        string text = RawText().Replace(File.ReadAllText(path), static match => new string('\n', match.Value.Count(static character => character == '\n')));
        return text.Split('\n').Select(static (line, index) => (Line: line, Number: index + 1))
            .Where(line => line.Line.Length > most && !LiteralText().Matches(line.Line).Any(static match => match.Length >= LiteralMin))
            .Select(static line => line.Number);
    }

    [GeneratedRegex(@"[\\/](obj|bin)[\\/]")]
    private static partial Regex BuildFolder();

    [GeneratedRegex(@"max_line_length = (?<width>\d+)")]
    private static partial Regex EditorWidth();

    [GeneratedRegex("\"\"\"[\\s\\S]*?\"\"\"")]
    private static partial Regex RawText();

    [GeneratedRegex("\\$?\"(?:\\\\.|\\{[^{}]*(?:\\{[^{}]*\\}[^{}]*)*\\}|[^\"\\\\])*\"")]
    private static partial Regex LiteralText();

    [GeneratedRegex("\"\"\"(?<text>[\\s\\S]*?)\"\"\"|'(?:\\\\.|[^'\\\\])'|\"(?<text>(?:\\\\.|[^\"\\\\\\n])*)\"|//(?<text>[^\\n]*)")]
    private static partial Regex CodeText();

    [GeneratedRegex(@"\[(Fact|Theory)\b[^\n]*\]\n(\s*\[[^\n]*\n|\s*//[^\n]*\n|\s+[^\n\[]*\)\]\n)*\s*public ((async|static|override|virtual) )*[\w<>]+ (?<name>\w+)\(")]
    private static partial Regex TestName();

    [GeneratedRegex(@"^\s*//.*$|(?<=[;{}]\s+)//.*$", RegexOptions.Multiline)]
    private static partial Regex CommentText();

    [GeneratedRegex(@"(?:^\s*/{2,3}\s*|<[^>]*>|[.:] |\d\. +)(?:What|Who|Whoever|Whatever|Whichever|How|Those)[ ,][^.]{0,40}")]
    private static partial Regex ClauseStart();

    [GeneratedRegex("```[\\s\\S]*?```|`[^`\\n]*`|(?<text>[^`]+)")]
    private static partial Regex MarkdownText();

    [GeneratedRegex("#(?<text>[^\\n]*)|\"(?<text>[^\"\\n]*)\"|'(?<text>[^'\\n]*)'")]
    private static partial Regex ShellText();
}
