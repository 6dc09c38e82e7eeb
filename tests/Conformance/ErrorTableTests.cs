using System.Globalization;
using System.Text;
using System.Text.RegularExpressions;
using TierSpaces.Contracts;

namespace TierSpaces.Conformance;

/// <summary>
/// Prints the table of errors into docs/errors.md and compares: a difference on purpose is made with TIERSPACES_UPDATE_SNAPSHOTS=1 and
/// committed. Whether an error occurs is read from the sources, and what occurs is named by a test.
/// </summary>
public sealed class ErrorTableTests
{
    private const string Begin = "<!-- table: printed by ErrorTableTests, do not edit by hand -->";
    private const string End = "<!-- end of table -->";

    private static readonly string s_root = RepositoryRoot();
    private static readonly string s_sources = Texts("src", "*.cs");
    private static readonly string s_tests = Texts("tests", "*.cs") + Texts("tests", "*.ps1") + Texts("tests", "*.txt");

    public static TheoryData<string> Words => [.. StorageErrors.All.Select(kind => kind.Word)];

    [Fact]
    public void The_document_shows_the_table()
    {
        string path = Path.Combine(s_root, "docs", "errors.md");
        string text = File.ReadAllText(path);
        int begin = text.IndexOf(Begin, StringComparison.Ordinal) + Begin.Length;
        int end = text.IndexOf(End, StringComparison.Ordinal);
        Assert.True(begin >= Begin.Length && end >= begin, $"{path} lacks the marks around its table.");
        string table = Print();
        if (Environment.GetEnvironmentVariable("TIERSPACES_UPDATE_SNAPSHOTS") == "1")
        {
            File.WriteAllText(path, text[..begin] + table + text[end..]);
            return;
        }

        Assert.Equal(table, text[begin..end]);
    }

    [Theory]
    [MemberData(nameof(Words))]
    public void What_occurs_has_a_test(string word)
    {
        StorageErrorKind kind = StorageErrors.All.Single(kind => kind.Word == word);
        string expected = $@"\b(StorageErrors|ManagementError)\.{word}\b|[""']{word}[""']|StorageWMI {kind.Code} {word}\b";
        bool sharesItsCode = kind.Code == StorageErrors.InvalidParameter.Code && word != StorageErrors.InvalidParameter.Word;
        bool isExpected = Regex.IsMatch(s_tests, sharesItsCode ? expected : $@"{expected}|StorageWMI {kind.Code}\b");

        Assert.True(!Occurs(word) || isExpected, $"No test expects {word} ({kind.Code}).");
    }

    private static string Print()
    {
        StringBuilder to = new("\n| Code | Word | What went wrong | Category | Exit code | HTTP | |\n|---|---|---|---|---|---|---|\n");
        foreach (StorageErrorKind kind in StorageErrors.All.OrderBy(kind => kind.Code))
        {
            to.Append(CultureInfo.InvariantCulture,
                $"| {kind.Code} | {kind.Word} | {kind.Message} | {kind.Category} | 1 | {Status(kind)} | {(Occurs(kind.Word) ? "" : "never")} |\n");
        }

        return to.ToString();
    }

    // Errors of the client itself have no status; a caller who may not manage gets one without a reply.
    private static string Status(StorageErrorKind kind) =>
        kind == StorageErrors.HostUnreachable || kind == StorageErrors.AnswerLost ? "–" : kind == StorageErrors.AccessDenied ? "403, or 200"
        : kind == StorageErrors.HostVersion ? "426" : "200";

    private static bool Occurs(string word) => Regex.IsMatch(s_sources, $@"\b(StorageErrors|ManagementError)\.{word}\b");

    private static string Texts(string folder, string pattern) => string.Concat(
        Directory.EnumerateFiles(Path.Combine(s_root, folder), pattern, SearchOption.AllDirectories)
            .Where(file => !file.Contains("/obj/", StringComparison.Ordinal) && !file.Contains("/bin/", StringComparison.Ordinal)
                && !file.EndsWith("ErrorTableTests.cs", StringComparison.Ordinal))
            .Select(File.ReadAllText));

    private static string RepositoryRoot()
    {
        DirectoryInfo? folder = new(AppContext.BaseDirectory);
        while (folder is not null && !File.Exists(Path.Combine(folder.FullName, "TierSpaces.slnx")))
        {
            folder = folder.Parent;
        }

        return folder?.FullName ?? throw new DirectoryNotFoundException("The tests are not under the repository.");
    }
}
