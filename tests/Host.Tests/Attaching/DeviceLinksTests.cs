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

    [Theory]
    [InlineData(256, 'x')]
    [InlineData(256, '\u5009')]
    [InlineData(67, '\u5009')]
    [InlineData(250, '.')]
    public void A_link_of_the_longest_names_can_be_made_and_removed(int letters, char letter)
    {
        string folder = Directory.CreateTempSubdirectory("ts").FullName;
        try
        {
            DeviceLinks links = new DeviceLinks(folder);
            (string? first, string? second) = (new string(letter, letters - 1) + "1", new string(letter, letters - 1) + "2");
            Assert.Equal("/dev/null", File.ResolveLinkTarget(links.Set(first, "/dev/null"), returnFinalTarget: false)!.FullName);
            Assert.NotEqual(links.PathOf(first), links.Set(second, "/dev/zero"));
            Assert.InRange(DeviceLinks.Encode(first).Length, 1, DeviceLinks.LengthMax);
            links.Remove(first);
            Assert.Equal([links.PathOf(second)], Directory.GetFileSystemEntries(folder));
        }
        finally
        {
            Directory.Delete(folder, recursive: true);
        }
    }

    [Fact]
    public void The_first_home_has_the_common_link_of_a_name_until_its_device_is_gone()
    {
        string root = Directory.CreateTempSubdirectory("ts").FullName;
        try
        {
            string common = Path.Combine(root, "common"), link = Path.Combine(common, "my%20disk");
            DeviceLinks one = new DeviceLinks(Path.Combine(root, "1"), common), two = new DeviceLinks(Path.Combine(root, "2"), common);
            string first = one.Set("my disk", "/dev/null");
            string second = two.Set("my disk", "/dev/zero");
            Assert.Equal(first, new FileInfo(link).LinkTarget);
            Assert.Equal("/dev/zero", new FileInfo(second).LinkTarget);
            one.Set("my disk", "/dev/full");   // another device of the same disk
            Assert.Equal("/dev/full", new FileInfo(link).ResolveLinkTarget(returnFinalTarget: true)!.FullName);
            two.Remove("my disk");
            Assert.Equal(first, new FileInfo(link).LinkTarget);
            one.Remove("my disk");
            Assert.Empty(Directory.GetFileSystemEntries(common));

            one.Set("my disk", Path.Combine(root, "gone"));   // what a machine that starts again leaves
            two.Set("my disk", "/dev/zero");
            Assert.Equal(second, new FileInfo(link).LinkTarget);
            Directory.CreateDirectory(Path.Combine(common, "other"));
            Assert.Equal("/dev/zero", new FileInfo(one.Set("other", "/dev/zero")).LinkTarget);   // it cannot be had, and that is no error
        }
        finally
        {
            Directory.Delete(root, recursive: true);
        }
    }

    [Fact]
    public void No_two_names_share_a_link_and_none_leaves_the_folder() =>
        Prop.ForAll(ArbMap.Default.ArbFor<NonNull<string>>(), ArbMap.Default.ArbFor<NonNull<string>>(), (a, b) =>
        {
            (string? one, string? two) = (DeviceLinks.Encode(Valid(a.Get)), DeviceLinks.Encode(Valid(b.Get)));
            return (one == two) == (Valid(a.Get) == Valid(b.Get)) && !one.Contains('/') && !one.StartsWith('.');
        }).QuickCheckThrowOnFailure();

    /// <summary>Halves of surrogate pairs have no bytes of their own.</summary>
    private static string Valid(string text) => new(text.Where(c => !char.IsSurrogate(c)).ToArray());
}
