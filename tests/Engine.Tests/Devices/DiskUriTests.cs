using TierSpaces.Engine.Devices;

namespace TierSpaces.Engine.Tests.Devices;

public class DiskUriTests
{
    [Theory]
    [InlineData("/var/disk.img", "file:/var/disk.img")]
    [InlineData("/a b/100% sure?.img", "file:/a b/100%25 sure%3F.img")]
    [InlineData("/größe/磁盘.img", "file:/größe/磁盘.img")]
    [InlineData("/line\nbreak", "file:/line%0Abreak")]
    public void Paths_come_back_from_their_URI(string path, string uri)
    {
        Assert.Equal(uri, DiskUri.ForFile(path).ToString());
        Assert.Equal(new DiskUri(DiskKind.File, path, ""), DiskUri.Parse(uri));
    }

    [Fact]
    public void An_emulated_disk_carries_its_profile()
    {
        DiskUri uri = DiskUri.Parse("emulated:/x/y?profile=HDD10K");
        Assert.Equal(new DiskUri(DiskKind.Emulated, "/x/y", "HDD10K"), uri);
        Assert.Equal("emulated:/x/y?profile=HDD10K", uri.ToString());
    }
}
