namespace TierSpaces.Acceptance;

/// <summary>Closed member images are explained and read without a host, and not a byte of them changes.</summary>
public class OfflineTests
{
    private static readonly string[] s_members = ["d1.img", "d2.img", "d3.img", "d4.img"];

    [Fact]
    public void A_virtual_disk_is_extracted_from_its_images_and_from_fewer_of_them()
    {
        Tool.Find("nbdcopy");
        using Home home = new();
        home.NewPool();
        home.NewMirror("Data", "64MB");
        string image = TestFiles.WriteImage(home.PathOf("image"), 64 << 20, 8);
        Tool.Run("nbdcopy", "--flush", image, home.UriOf("Data"));
        Answer open = home.Try("inspect", home.PathOf("d1.img"));
        Assert.NotEqual(0, open.ExitCode);
        Assert.Contains("in use", open.Error, StringComparison.Ordinal);

        home.Run("stop");
        string[] before = Array.ConvertAll(s_members, member => Hash(home.PathOf(member)));
        string explained = home.Run(["inspect", .. s_members.Select(home.PathOf)]);
        Assert.Contains("virtual disk Data: 67108864 bytes, Mirror, 2 columns, 2 copies", explained, StringComparison.Ordinal);
        home.Run(["extract", "--disk", "data", "--to", home.PathOf("whole"), .. s_members.Select(home.PathOf)]);
        home.Run(["extract", "--disk", "Data", "--to", home.PathOf("fewer"), .. s_members.Skip(1).Select(home.PathOf)]);
        Assert.Equal(Hash(image), Hash(home.PathOf("whole")));
        Assert.Equal(Hash(image), Hash(home.PathOf("fewer")));
        Assert.Equal(before, Array.ConvertAll(s_members, member => Hash(home.PathOf(member))));

        Answer few = home.Try("extract", "--disk", "Data", "--to", home.PathOf("none"), home.PathOf("d1.img"));
        Assert.NotEqual(0, few.ExitCode);
        Assert.False(File.Exists(home.PathOf("none")));
    }

    /// <summary>In a mount namespace of its own, the folder of the images is mounted read-only: not even root may write to them.</summary>
    [Fact]
    public void Images_on_a_read_only_mount_are_explained_and_extracted()
    {
        Tool.Find("nbdcopy");
        using Home home = new();
        home.NewPool();
        home.NewMirror("Data", "64MB");
        string image = TestFiles.WriteImage(home.PathOf("image"), 64 << 20, 9);
        Tool.Run("nbdcopy", "--flush", image, home.UriOf("Data"));
        home.Run("stop");
        string target = Directory.CreateTempSubdirectory("tierspaces-extract").FullName;
        try
        {
            string images = string.Join(' ', s_members.Select(member => $"'{home.PathOf(member)}'"));
            string program = $"'{Executable.Path}'";
            string readOnly = $"mount --bind '{home.Root}' '{home.Root}' && mount -o remount,bind,ro '{home.Root}'";
            if (Tool.TryRun("unshare", "--mount", "sh", "-c", readOnly).ExitCode != 0)
            {
                Assert.Skip("This user cannot mount a folder read-only.");
            }

            Answer rejected = Tool.TryRun("unshare", "--mount", "sh", "-c", $"{readOnly} && touch '{home.PathOf("d1.img")}'");
            Assert.NotEqual(0, rejected.ExitCode);
            string explained = Tool.Run("unshare", "--mount", "sh", "-c", $"{readOnly} && {program} inspect {images}");
            Assert.Contains("virtual disk Data: 67108864 bytes", explained, StringComparison.Ordinal);
            Tool.Run("unshare", "--mount", "sh", "-c", $"{readOnly} && {program} extract --disk Data --to '{target}/data' {images}");
            Assert.Equal(Hash(image), Hash($"{target}/data"));
        }
        finally
        {
            Directory.Delete(target, recursive: true);
        }
    }

    /// <summary>By a tool that does not ask for the lock a dying host may still hold.</summary>
    private static string Hash(string path) => Tool.Run("sha256sum", path).Split(' ')[0];
}
