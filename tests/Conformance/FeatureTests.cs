using TierSpaces.Contracts;

namespace TierSpaces.Conformance;

/// <summary>The tables of features and of absent cmdlets against the page, the verbs and the documented cmdlets.</summary>
public sealed class FeatureTests
{
    [Fact]
    public void The_page_has_the_table_of_the_shell()
    {
        string[] rows = [.. File.ReadLines(Path.Combine(HelpTests.RepositoryRoot(), "docs", "features.md"))
            .Where(static line => line.StartsWith("| ", StringComparison.Ordinal)).Skip(1)];
        Assert.Equal(
            StorageFeatures.All.Select(static feature => $"| {feature.Name} | {feature.State} | {feature.Difference} | {feature.Remedy} |"), rows);
    }

    [Fact]
    public void A_feature_is_whole_and_listed_once()
    {
        Assert.Equal(StorageFeatures.All.Count, StorageFeatures.All.Select(static feature => feature.Name).Distinct(StringComparer.OrdinalIgnoreCase).Count());
        Assert.All(StorageFeatures.All, static feature =>
        {
            Assert.Contains(feature.State, StorageFeatures.States);
            Assert.EndsWith(".", feature.Difference, StringComparison.Ordinal);
            Assert.NotEmpty(feature.Remedy);
        });
    }

    [Fact]
    public void A_cmdlet_that_is_here_is_not_listed_as_absent() =>
        Assert.Empty(AbsentCmdlets.All.Keys.Intersect(VerbDescription.All.Select(static verb => verb.Name), StringComparer.OrdinalIgnoreCase));

    [Fact]
    public void An_absent_cmdlet_has_a_reason_and_a_remedy_and_is_found_in_any_case()
    {
        Assert.All(AbsentCmdlets.All.Values, static row =>
        {
            Assert.Matches("^[A-Z][A-Za-z]+-[A-Z][A-Za-z0-9]+$", row.Name);
            Assert.EndsWith(".", row.Reason, StringComparison.Ordinal);
            Assert.Matches(@"^Use .+\.$", row.Remedy);
        });
        Assert.Equal("New-MaskingSet", AbsentCmdlets.Find("new-maskingset")!.Name);
        Assert.Null(AbsentCmdlets.Find("Get-Content"));
    }

    [Fact]
    public void Cmdlets_that_a_remedy_names_are_not_absent_themselves() => Assert.All(AbsentCmdlets.All.Values, static row => Assert.DoesNotContain(
        row.Remedy.Split(' ', ',', ';', '.'), static word => AbsentCmdlets.Find(word) is not null));
}
