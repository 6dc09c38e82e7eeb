using FsCheck;
using FsCheck.Fluent;
using TierSpaces.Host.Attaching;

namespace TierSpaces.Host.Tests.Attaching;

public class DeviceLinksTests
{
    [Theory]
    [InlineData("data", "data")]
    [InlineData("my disk", "my%20disk")]
    [InlineData("../etc/passwd", "%2E.%2Fetc%2Fpasswd")]
    [InlineData("Größe", "Gr%C3%B6%C3%9Fe")]
    [InlineData("50%", "50%25")]
    public void Encodes_names(string name, string expected) => Assert.Equal(expected, DeviceLinks.Encode(name));

    [Fact]
    public void No_two_names_share_a_link_and_none_leaves_the_folder() =>
        Prop.ForAll(ArbMap.Default.ArbFor<NonNull<string>>(), ArbMap.Default.ArbFor<NonNull<string>>(), (a, b) =>
        {
            var (one, two) = (DeviceLinks.Encode(Valid(a.Get)), DeviceLinks.Encode(Valid(b.Get)));
            return (one == two) == (Valid(a.Get) == Valid(b.Get)) && !one.Contains('/') && !one.StartsWith('.');
        }).QuickCheckThrowOnFailure();

    /// <summary>Halves of surrogate pairs have no bytes of their own.</summary>
    private static string Valid(string text) => new(text.Where(c => !char.IsSurrogate(c)).ToArray());
}
