using TierSpaces.Engine.Devices.Raw;

namespace TierSpaces.Engine.Tests.Devices;

/// <summary>Which backing files of loop devices are looked at: only those on the file system of the image.</summary>
public sealed class OtherPathsTests
{
    private static readonly string[] s_mounts =
    [
        "22 1 8:1 / / rw,relatime shared:1 - ext4 /dev/sda1 rw",
        "40 22 0:51 / /home/a\\040b/mnt rw,nosuid shared:7 - fuse.nbdfuse nbdfuse rw",
        "41 22 8:17 / /data rw - xfs /dev/sdb1 rw",
        "42 41 0:60 / /data/sub rw - btrfs /dev/sdc rw",
        "43 22 0:70 / /data rw - nfs server:/data rw",
    ];

    [Theory]
    [InlineData("/images/1.img", "8:1", true)]
    [InlineData("/images/1.img", "8:17", false)]
    [InlineData("/home/a b/mnt/disk", "8:1", false)]
    [InlineData("/home/a b/mnt/disk", "0:51", true)]
    [InlineData("/home/a b/mntx", "8:1", true)]
    [InlineData("/data/1.img", "0:70", true)]
    [InlineData("/data/1.img", "8:17", false)]
    [InlineData("/data/sub/1.img", "0:99", true)]
    public void A_path_is_on_the_file_system_that_is_mounted_above_it(string path, string device, bool expected) =>
        Assert.Equal(expected, OtherPaths.MayBeOn(s_mounts, path, device));
}
