using TierSpaces.Bench.Tables;

namespace TierSpaces.Bench.Tests;

/// <summary>The measured document: a section that is measured again takes the place of the old one.</summary>
public class PerformanceDocumentTests
{
    private const string Before = "# Performance\n\ntext\n\n## Clients\n\nold\n\n## Checksums\n\nrows\n";

    [Fact]
    public void A_section_replaces_the_old_one_and_leaves_the_others()
    {
        string first = PerformanceDocument.With(Before, "Clients", "\n## Clients\n\nnew\n");

        Assert.Equal("# Performance\n\ntext\n\n## Clients\n\nnew\n\n## Checksums\n\nrows\n", first);
        Assert.Equal(first, PerformanceDocument.With(first, "Clients", "## Clients\n\nnew\n"));
        Assert.Equal("# Performance\n\ntext\n\n## Clients\n\nold\n\n## Checksums\n\nlast\n",
            PerformanceDocument.With(Before, "Checksums", "## Checksums\n\nlast\n"));
    }

    [Fact]
    public void A_section_taken_out_and_put_into_another_document_is_the_same_there()
    {
        string section = PerformanceDocument.SectionOf(Before, "Clients");

        Assert.Equal("\n## Clients\n\nold\n", section);
        Assert.Equal("# New\n\n## Clients\n\nold\n", PerformanceDocument.With("# New\n", "Clients", section));
        Assert.Equal("", PerformanceDocument.SectionOf(Before, "Tiers"));
    }

    [Fact]
    public void A_section_that_is_not_there_yet_comes_last() =>
        Assert.Equal(Before + "\n## Tiers\n\nrows\n", PerformanceDocument.With(Before, "Tiers", "## Tiers\n\nrows\n"));
}
