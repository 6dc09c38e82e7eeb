using FsCheck;
using FsCheck.Fluent;
using TierSpaces.Host.CommandLine;

namespace TierSpaces.Host.Tests.CommandLine;

public class ListTextTests
{
    [Theory]
    [InlineData("a", "a")]
    [InlineData("a,b,c", "a|b|c")]
    [InlineData("a, b ,c", "a|b|c")]
    [InlineData("'a,b',c", "a,b|c")]
    [InlineData("\"it''s\",'it''s'", "it''s|it's")]
    [InlineData("a'b,c", "a'b|c")]
    [InlineData("'a'", "'a'")]
    [InlineData("\"a", "\"a")]
    [InlineData(" ", " ")]
    [InlineData("'a,b'", "a,b")]
    public void Takes_a_list_apart(string text, string expected) => Assert.Equal(expected.Split('|'), ListText.Split(text));

    [Fact]
    public void One_item_is_the_same_for_a_list_as_for_one_value() =>
        Prop.ForAll(ArbMap.Default.ArbFor<NonNull<string>>(), item => ListText.Split(ListText.Quote(item.Get)).SequenceEqual([item.Get]))
            .QuickCheckThrowOnFailure();

    [Theory]
    [InlineData("a,,b")]
    [InlineData("a,")]
    [InlineData(",a")]
    [InlineData("'a,b")]
    [InlineData("'a'b,c")]
    public void Refuses_a_broken_list(string text) => Assert.Throws<UsageException>(() => ListText.Split(text));

    [Fact]
    public void Quoted_items_come_back_whatever_they_hold() =>
        Prop.ForAll(ArbMap.Default.ArbFor<NonNull<string>[]>().Filter(items => items.Length > 0), items =>
        {
            string[] texts = items.Select(item => item.Get).ToArray();
            string list = string.Join(",", texts.Select(text => $"'{text.Replace("'", "''")}'"));
            return !list.Contains(',') || ListText.Split(list).SequenceEqual(texts);
        }).QuickCheckThrowOnFailure();
}
