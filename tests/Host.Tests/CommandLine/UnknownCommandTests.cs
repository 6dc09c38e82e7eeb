using TierSpaces.Host.CommandLine;

namespace TierSpaces.Host.Tests.CommandLine;

public class UnknownCommandTests
{
    [Theory]
    [InlineData("Get-StoragePol", "Get-StoragePool")]
    [InlineData("get-virtualdisks", "Get-VirtualDisk")]
    [InlineData("Create-VirtualDisk", "Get-VirtualDisk")]
    [InlineData("NewStoragePool", "New-StoragePool")]
    [InlineData("strat", "start")]
    [InlineData("extrakt", "extract")]
    public void The_nearest_commands_are_named(string word, string near) => Assert.Contains(near, UnknownCommand.Near(word));

    [Theory]
    [InlineData("Get-Foo")]
    [InlineData("x")]
    public void A_word_like_no_command_has_none_near(string word) => Assert.Empty(UnknownCommand.Near(word));

    [Theory]
    [InlineData("extract", false)]
    [InlineData("--version", false)]
    [InlineData("", false)]
    [InlineData("extrakt", true)]
    public void An_option_is_no_command(string word, bool isUnknown) => Assert.Equal(isUnknown, UnknownCommand.Is(word, ["extract"]));

    [Fact]
    public void A_cmdlet_of_Windows_that_is_not_here_is_answered_by_its_name()
    {
        StringWriter error = new();
        Assert.Equal(1, UnknownCommand.Report("new-virtualdisksnapshot", error));
        Assert.StartsWith("tierspaces: New-VirtualDiskSnapshot is not in this version. Virtual disks have no snapshots", error.ToString(), StringComparison.Ordinal);
        Assert.Single(error.ToString().TrimEnd().Split('\n'));
    }

    [Fact]
    public void An_unknown_command_is_answered_in_three_lines_and_a_known_one_is_run()
    {
        using Scratch scratch = new();
        foreach (string word in OwnCommands.Names)
        {
            Assert.DoesNotContain("is not a command", scratch.Run(word, "--help").Error);
        }

        foreach (string word in new[] { "Get-StoragePol", "Get-Foo" })
        {
            Scratch.Answer answer = scratch.Run(word);
            Assert.Equal((1, ""), (answer.ExitCode, answer.Output));
            Assert.InRange(answer.Error.TrimEnd('\n').Split('\n').Length, 2, 3);
            Assert.Contains($"'{word}' is not a command.", answer.Error);
            Assert.Contains("tierspaces --help", answer.Error);
        }
    }
}
