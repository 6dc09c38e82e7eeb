using TierSpaces.Contracts;
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

    [Fact]
    public void Every_command_is_known_and_an_unknown_one_is_answered_in_three_lines()
    {
        Assert.All(VerbDescription.All.Select(static verb => verb.Name).Concat(OwnCommands.AllNames), static name => Assert.False(UnknownCommand.Is(name)));
        Assert.False(UnknownCommand.Is("--help"));
        using Scratch scratch = new();
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
