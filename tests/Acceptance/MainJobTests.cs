using System.Diagnostics;
using System.Globalization;

namespace TierSpaces.Acceptance;

/// <summary>
/// The main job: image files, pool, mirror of two columns, device, file system, files; the host killed under load; everything
/// killed, started again, and every byte found. On three rungs, the highest of which needs root and FUSE.
/// </summary>
public class MainJobTests
{
    private const int Seconds = 6;
    private static readonly bool s_isLong = Environment.GetEnvironmentVariable("TIERSPACES_TEST_LONG") == "1";

    [Theory]
    [InlineData("ext4")]
    [InlineData("xfs")]
    public void Mounted_file_system(string type)
    {
        Assert.SkipUnless(s_isLong || type == "ext4", "Kills under FUSE devices cover xfs in the short run.");
        Tool.NeedDevices();
        Tool.Find($"mkfs.{type}");
        using Home home = new();
        home.NewPool();
        home.NewMirror("Data", "400MB");
        string device = home.DeviceOf("Data");
        Tool.Run($"mkfs.{type}", "-q", device);
        string mount = home.Mount(device);
        Dictionary<string, string> sums = TestFiles.Write(mount, 1);

        TimeSpan pause = KillUnderLoad(home, mount, sums);
        Tool.Run("sync", "-f", mount);
        home.KillEverything();
        home.Unmount(mount, "-l");

        home.Run("start");
        Assert.Equal("Healthy", home.VirtualDisk("Data").GetProperty("HealthStatus").GetString());
        device = home.DeviceOf("Data");
        mount = home.Mount(device);
        TestFiles.Check(mount, sums);
        home.Unmount(mount);
        FileSystem.Check(type, device);
        Console.WriteLine(string.Create(CultureInfo.InvariantCulture,
            $"main job, rung mounted ({type}): every byte found; host back {pause.TotalSeconds:F2} s after kill -9 under fio"));
    }

    [Fact]
    public void Mkfs_and_fsck_through_the_export()
    {
        Tool.Find("fusermount3");
        Assert.SkipUnless(File.Exists("/dev/fuse"), "there is no /dev/fuse here (docker: --device /dev/fuse --cap-add SYS_ADMIN)");
        using Home home = new();
        home.NewPool();
        home.NewMirror("Data", "256MB");
        Dictionary<string, string> sums = TestFiles.Write(home.PathOf("files"), 2, count: 20);
        FileSystem.WithExport(home, "Data", file => Tool.Run("mkfs.ext4", "-q", "-d", home.PathOf("files"), file));

        home.KillEverything();
        home.Run("start");
        string back = Directory.CreateDirectory(home.PathOf("back")).FullName;
        FileSystem.WithExport(home, "Data", file =>
        {
            FileSystem.Check("ext4", file);
            Tool.Run("debugfs", "-R", $"rdump / {back}", file);
        });
        TestFiles.Check(back, sums);
        Console.WriteLine("main job, rung export: mkfs and fsck through nbdfuse, every byte found after kill -9 of everything");
    }

    [Fact]
    public void Nbdcopy_there_and_back()
    {
        Tool.Find("nbdcopy");
        using Home home = new();
        home.NewPool();
        home.NewMirror("Data", "128MB");
        string image = TestFiles.WriteImage(home.PathOf("image"), 128 << 20, 3);
        Tool.Run("nbdcopy", "--flush", image, home.UriOf("Data"));

        home.KillEverything();
        home.Run("start");
        Tool.Run("nbdcopy", home.UriOf("Data"), home.PathOf("back"));
        Assert.Equal(TestFiles.SumOf(image), TestFiles.SumOf(home.PathOf("back")));
        Console.WriteLine("main job, rung nbdcopy: there, kill -9 of everything, and back: identical");
    }

    /// <summary>kill -9 of the host in the middle of a verified load, while files are written beside it.</summary>
    private static TimeSpan KillUnderLoad(Home home, string mount, Dictionary<string, string> sums)
    {
        using Process load = Fio.StartOnFiles(mount, Seconds);
        Thread.Sleep(TimeSpan.FromSeconds(Seconds / 2.0));
        Assert.False(load.HasExited, "fio ended before the kill");
        int victim = home.Host;
        TimeSpan pause = home.KillHost(victim);
        foreach ((string name, string sum) in TestFiles.Write(mount, 4, count: 10))
        {
            sums.Add(name, sum);
        }

        Assert.True(Fio.Check(Tool.End(load), 2) > 0);
        Assert.NotEqual(victim, home.Host);
        return pause;
    }
}
