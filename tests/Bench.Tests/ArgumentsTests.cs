namespace TierSpaces.Bench.Tests;

/// <summary>Options as the tasks of build.sh pass them on.</summary>
public sealed class ArgumentsTests
{
    [Theory]
    [InlineData("-Name", "x")]
    [InlineData("--name", "x")]
    [InlineData("-Long", "-Name", "x")]
    [InlineData("-Name", "x", "-Long")]
    public void One_dash_or_two_name_an_option_with_its_value(params string[] given)
    {
        Arguments arguments = new(given);

        Assert.Equal("x", arguments.Text("name"));
        Assert.Equal(given.Contains("-Long"), arguments.Flag("Long"));
        arguments.ThrowIfUnused();
    }

    [Fact]
    public void An_unknown_option_is_named() =>
        Assert.Contains("Nome", Assert.Throws<ArgumentException>(() => new Arguments(["-Nome", "x"]).ThrowIfUnused()).Message, StringComparison.Ordinal);

    [Fact]
    public void Sizes_have_units() => Assert.Equal(2L << 30, new Arguments(["-Size", "2G"]).Number("size", 0, 1, 1L << 40));
}
