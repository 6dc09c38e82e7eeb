using System.Text.Json;

namespace TierSpaces.Acceptance;

/// <summary>An image file is taken away while the host is stopped: the mirror is degraded, and everything reads.</summary>
public class MissingDiskTests
{
    [Fact]
    public void Everything_on_a_file_system_reads()
    {
        Tool.NeedDevices();
        Tool.Find("mkfs.ext4");
        using Home home = new();
        home.NewPool();
        home.NewMirror("Data", "256MB");
        string device = home.DeviceOf("Data");
        Tool.Run("mkfs.ext4", "-q", device);
        string mount = home.Mount(device);
        Dictionary<string, string> sums = TestFiles.Write(mount, 5);
        home.Unmount(mount);
        home.Run("Disconnect-VirtualDisk", "-FriendlyName", "Data");
        StopAndLose(home, "d2.img");

        AssertDegraded(home);
        home.Run("Connect-VirtualDisk", "-FriendlyName", "Data");
        device = home.DeviceOf("Data");
        FileSystem.Check("ext4", device);
        mount = home.Mount(device);
        TestFiles.Check(mount, sums);
        Dictionary<string, string> more = TestFiles.Write(mount, 6, count: 5);
        home.Unmount(mount);
        mount = home.Mount(device);
        TestFiles.Check(mount, more);
        home.Unmount(mount);
    }

    [Theory]
    [InlineData("d1.img")]
    [InlineData("d4.img")]
    public void Everything_on_the_export_reads(string lost)
    {
        Tool.Find("nbdcopy");
        using Home home = new();
        home.NewPool();
        home.NewMirror("Data", "128MB");
        string image = TestFiles.WriteImage(home.PathOf("image"), 128 << 20, 7);
        Tool.Run("nbdcopy", "--flush", image, home.UriOf("Data"));
        StopAndLose(home, lost);

        AssertDegraded(home);
        Tool.Run("nbdcopy", home.UriOf("Data"), home.PathOf("back"));
        Assert.Equal(TestFiles.SumOf(image), TestFiles.SumOf(home.PathOf("back")));
    }

    private static void StopAndLose(Home home, string image)
    {
        home.Run("stop");
        File.Delete(home.PathOf(image));
        home.Run("start");
    }

    private static void AssertDegraded(Home home)
    {
        JsonElement disk = home.VirtualDisk("Data");
        Assert.Equal("Warning", disk.GetProperty("HealthStatus").GetString());
        string[] status = [.. disk.GetProperty("OperationalStatus").EnumerateArray().Select(word => word.GetString()!)];
        Assert.Contains(status, word => word is "Degraded" or "Incomplete" or "Detached");
        Assert.Contains(home.Objects("Get-PhysicalDisk"), member =>
            member.GetProperty("OperationalStatus").EnumerateArray().Any(word => word.GetString() == "Lost Communication"));
    }
}
