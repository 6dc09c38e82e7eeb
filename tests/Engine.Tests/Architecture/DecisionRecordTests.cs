namespace TierSpaces.Engine.Tests.Architecture;

/// <summary>Decisions are referred to by number.</summary>
public sealed class DecisionRecordTests
{
    [Fact]
    public void Every_decision_has_a_number_of_its_own_and_its_heading_says_it()
    {
        string[] files = Directory.GetFiles(Path.Combine(SourceTree.Root(), "docs", "adr"), "*.md");

        Assert.Equal(files.Select(Number).Distinct().Count(), files.Length);
        Assert.All(files, static file => Assert.StartsWith($"# {Number(file)}. ", File.ReadLines(file).First()));
    }

    private static int Number(string file) => int.Parse(Path.GetFileName(file)[..4], System.Globalization.CultureInfo.InvariantCulture);
}
