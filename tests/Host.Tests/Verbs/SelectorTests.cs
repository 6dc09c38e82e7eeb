using TierSpaces.Contracts;
using TierSpaces.Host.Verbs;

namespace TierSpaces.Host.Tests.Verbs;

public class SelectorTests
{
    private static readonly Item[] s_items = [new("1", "alpha"), new("2", "beta"), new("3", "Beta2"), new("alpha", "odd"), new("5", "a[1]")];
    private readonly Selector<Item> _selector = new("MSFT_StoragePool", s_items, item => item.Id, item => item.Name);
    private readonly List<StorageErrorInfo> _errors = [];

    [Theory]
    [InlineData("alpha", "1")]
    [InlineData("ALPHA", "1")]
    [InlineData("b*", "2,3")]
    [InlineData("beta?", "3")]
    [InlineData("[ab]*a", "1,2")]
    [InlineData("a`[1]", "5")]
    [InlineData("*", "1,2,3,alpha,5")]
    [InlineData("zzz*", "")]
    [InlineData("beta2,b*", "3,2")]
    public void By_name(string patterns, string ids)
    {
        List<Item> found = _selector.ByFriendlyName(patterns.Split(','), _errors.Add);
        Assert.Equal(ids, string.Join(",", found.Select(item => item.Id)));
        Assert.Empty(_errors);
    }

    [Fact]
    public void A_name_that_fits_nothing_is_an_error_and_the_others_are_found()
    {
        List<Item> found = _selector.ByFriendlyName(["absent", "beta"], _errors.Add);
        Assert.Equal("2", Assert.Single(found).Id);
        StorageErrorInfo error = Assert.Single(_errors);
        Assert.Equal(
            "No MSFT_StoragePool objects found with property 'FriendlyName' equal to 'absent'.  "
            + "Verify the value of the property and retry.",
            error.Message);
        Assert.Equal("CmdletizationQuery_NotFound_FriendlyName", error.ErrorId);
        Assert.Equal("ObjectNotFound", error.Category);
    }

    [Fact]
    public void An_identifier_wins_over_a_name_in_a_reference() => Assert.Equal("odd", _selector.One("alpha").Name);

    [Fact]
    public void The_property_that_an_object_is_not_found_by_is_the_one_that_was_given()
    {
        string id = Guid.NewGuid().ToString("B");
        string plain = Guid.NewGuid().ToString("N");
        Assert.Contains($"property 'UniqueId' equal to '{id}'", Assert.Throws<StorageException>(() => _selector.One(id)).Message);
        Assert.Contains($"property 'UniqueId' equal to '{plain}'", Assert.Throws<StorageException>(() => _selector.One(plain)).Message);
        Assert.Contains("property 'FriendlyName' equal to 'absent'", Assert.Throws<StorageException>(() => _selector.One("absent")).Message);
        Assert.Contains("property 'UniqueId' equal to 'x*'", Assert.Throws<StorageException>(() => _selector.SelectOne(null, "x*", null, null)).Message);
        Assert.Contains("property 'Name' equal to 'x*'", Assert.Throws<StorageException>(() => _selector.SelectOne(null, null, "x*", null)).Message);
        Assert.Contains("property 'FriendlyName' equal to 'x*'", Assert.Throws<StorageException>(() => _selector.SelectOne("x*", null, null, null)).Message);
    }

    [Fact]
    public void One_object_is_meant_or_an_error_names_them()
    {
        Assert.Equal("3", _selector.One("beta2").Id);
        Assert.Contains("fits 2 MSFT_StoragePool objects: beta, Beta2", Assert.Throws<StorageException>(() => _selector.One("b*")).Message);
        Assert.Contains("equal to 'x*'", Assert.Throws<StorageException>(() => _selector.One("x*")).Message);
        Assert.Equal(StorageErrors.InvalidParameter.Code, Assert.Throws<StorageException>(() => _selector.One("[z-a]")).Error.Code);
    }

    [Theory]
    [InlineData("[a-cx-]et?", "BETA", true)]
    [InlineData("[a-c", "[a-c", true)]
    [InlineData("a]*", "a]b", true)]
    [InlineData("*a*b*c", "aabbccd", false)]
    [InlineData("``*", "`", true)]
    [InlineData("x`", "x`", true)]
    [InlineData("", "", true)]
    [InlineData("?", "", false)]
    public void Patterns_fit_as_in_PowerShell(string pattern, string text, bool fits) => Assert.Equal(fits, new WildcardPattern(pattern).Fits(text));

    // A search that goes back to every star would take longer than the universe is old.
    [Fact]
    public void Many_stars_take_no_time()
    {
        string pattern = string.Concat(Enumerable.Repeat("*a", 100)) + "*b";
        Assert.False(new WildcardPattern(pattern).Fits(new string('a', 256)));
    }

    private sealed record Item(string Id, string Name);
}
