using System.Text.Json;
using TierSpaces.Contracts;
using TierSpaces.Host.CommandLine;

namespace TierSpaces.Host.Tests.CommandLine;

public sealed class ReplyTextTests
{
    [Fact]
    public void What_is_a_text_is_printed_as_it_stands()
    {
        JsonElement reply = JsonDocument.Parse("""{"Objects":[{"Report":"one\ntwo\n"},{"Report":"three"}],"Warnings":[],"Errors":[]}""").RootElement;
        using StringWriter output = new(), error = new();
        Assert.Equal(0, ReplyText.Print(VerbDescription.Find("Optimize-StorageTier")!, reply, asJson: false, output, error));
        Assert.Equal("one\ntwo\n\nthree\n", output.ToString());
        Assert.Equal("", error.ToString());
    }
}
