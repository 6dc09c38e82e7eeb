using System.Text.RegularExpressions;
using TierSpaces.Contracts;

namespace TierSpaces.Acceptance;

/// <summary>Closed member images are explained and read without a host, and not a byte of them changes.</summary>
public class OfflineTests
{
    private const int Block = 4096;
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
        Assert.Contains("virtual disk Data: 64 MB, Mirror, 2 columns, 2 copies", explained, StringComparison.Ordinal);
        home.Run(["extract", "--disk", "data", "--to", home.PathOf("whole"), .. s_members.Select(home.PathOf)]);
        home.Run(["extract", "--disk", "Data", "--to", home.PathOf("fewer"), .. s_members.Skip(1).Select(home.PathOf)]);
        Assert.Equal(Hash(image), Hash(home.PathOf("whole")));
        Assert.Equal(Hash(image), Hash(home.PathOf("fewer")));
        Assert.Equal(before, Array.ConvertAll(s_members, member => Hash(home.PathOf(member))));

        Answer nothing = home.Try("extract", "--disk", "none", "--to", home.PathOf("none"), home.PathOf("d1.img"));
        Assert.NotEqual(0, nothing.ExitCode);
        Assert.False(File.Exists(home.PathOf("none")));
    }

    /// <summary>
    /// Two of four disks are no majority, and one of each pair of copies holds everything. Blocks that are not there are listed, and nothing else is missing
    /// or wrong.
    /// </summary>
    [Fact]
    public void A_virtual_disk_is_extracted_from_any_of_its_images_as_far_as_they_hold_it()
    {
        Assert.SkipUnless(Environment.GetEnvironmentVariable("TIERSPACES_TEST_LONG") == "1", "The short run extracts from fewer images elsewhere.");
        Tool.Find("nbdcopy");
        using Home home = new();
        home.NewPool();
        home.NewMirror("Data", "16MB");
        byte[] data = File.ReadAllBytes(TestFiles.WriteImage(home.PathOf("image"), 16 << 20, 10));
        Tool.Run("nbdcopy", "--flush", home.PathOf("image"), home.UriOf("Data"));
        home.Run("stop");
        string[] before = Array.ConvertAll(s_members, member => Hash(home.PathOf(member)));
        int whole = 0;
        foreach (int which in (int[])[0b0001, 0b0011, 0b0101, 0b0110, 0b1001, 0b1010, 0b1100])
        {
            string[] there = [.. s_members.Where((_, number) => (which >> number & 1) != 0).Select(home.PathOf)];
            string target = home.PathOf($"out{which}");
            Answer answer = home.Try(["extract", "--disk", "Data", "--to", target, .. there]);
            if (answer.Error.Contains("no copy of the integrity log could be read", StringComparison.Ordinal))
            {
                Assert.False(File.Exists(target));
                continue;
            }

            Assert.True(File.Exists(target), $"{string.Join(' ', there)}: {answer.Error}");
            byte[] read = File.ReadAllBytes(target);
            Assert.Equal(data.Length, read.Length);
            (long Offset, long Length)[] unread = Ranges(answer.Error);
            Assert.Equal(unread.Length == 0 ? 0 : 1, answer.ExitCode);
            Assert.Equal(there.Length < 3, answer.Error.Contains("The pool has no majority here", StringComparison.Ordinal));
            whole += unread.Length == 0 && there.Length == 2 ? 1 : 0;
            foreach ((long offset, long length) in unread)
            {
                Assert.Equal(-1, read.AsSpan((int)offset, (int)length).IndexOfAnyExcept((byte)0));
                data.AsSpan((int)offset, (int)length).CopyTo(read.AsSpan((int)offset));
            }

            Assert.True(data.AsSpan().SequenceEqual(read), $"{answer.Error} {string.Join(' ', there)}");
        }

        Assert.InRange(whole, 1, 5);
        Assert.Equal(before, Array.ConvertAll(s_members, member => Hash(home.PathOf(member))));
    }

    /// <summary>A disk that left while the others were written to: its data is out of date, and only read by force.</summary>
    [Fact]
    public void Copies_that_are_out_of_date_are_read_by_force_alone()
    {
        Tool.Find("nbdcopy");
        using Home home = new();
        string disks = string.Join(',', s_members.Take(2).Select(home.PathOf));
        home.Run("New-PhysicalDisk", "-Path", disks, "-Size", "256MB", "-LatencyProfile", "NVMe");
        home.Run("New-StoragePool", "-FriendlyName", "p", "-PhysicalDisks", "d1,d2");
        home.Run("New-VirtualDisk", "p", "-FriendlyName", "Data", "-Size", "32MB", "-Checksum", "None");
        byte[] old = File.ReadAllBytes(TestFiles.WriteImage(home.PathOf("old"), 32 << 20, 11));
        byte[] young = File.ReadAllBytes(TestFiles.WriteImage(home.PathOf("new"), 32 << 20, 12));
        Tool.Run("nbdcopy", "--flush", home.PathOf("old"), home.UriOf("Data"));
        home.Run("Set-EmulatedDiskFault", "d2", "-Pull");
        Tool.Run("nbdcopy", "--flush", home.PathOf("new"), home.UriOf("Data"));
        home.Run("stop");

        home.Run("extract", "--disk", "Data", "--to", home.PathOf("one"), home.PathOf("d1.img"));
        Assert.True(young.AsSpan().SequenceEqual(File.ReadAllBytes(home.PathOf("one"))));
        home.Run("extract", "--disk", "Data", "--to", home.PathOf("both"), home.PathOf("d2.img"), home.PathOf("d1.img"));
        Assert.True(young.AsSpan().SequenceEqual(File.ReadAllBytes(home.PathOf("both"))));
        string forced = home.Run("extract", "--disk", "Data", "--to", home.PathOf("forced"), "--force", home.PathOf("d2.img"), home.PathOf("d1.img"));
        Assert.True(young.AsSpan().SequenceEqual(File.ReadAllBytes(home.PathOf("forced"))), forced);

        // Of the disk that left alone, its own view is the newest there is: it says what it held, and that the pool may have gone on.
        Answer left = home.Try("extract", "--disk", "Data", "--to", home.PathOf("left"), home.PathOf("d2.img"));
        Assert.Contains("whether the pool went on without them is not known", left.Error, StringComparison.Ordinal);
        Assert.True(old.AsSpan().SequenceEqual(File.ReadAllBytes(home.PathOf("left"))), left.Error);
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
            Assert.Contains("virtual disk Data: 64 MB", explained, StringComparison.Ordinal);
            Tool.Run("unshare", "--mount", "sh", "-c", $"{readOnly} && {program} extract --disk Data --to '{target}/data' {images}");
            Assert.Equal(Hash(image), Hash($"{target}/data"));
        }
        finally
        {
            Directory.Delete(target, recursive: true);
        }
    }

    /// <summary>
    /// The images have the majority, and the only copy of some rows that is among them is of a disk that left before the last writes. The rows are left out
    /// without force, and old with it; all others are new.
    /// </summary>
    [Fact]
    public void A_copy_that_is_out_of_date_is_read_by_force_beside_the_newest_of_a_majority()
    {
        Tool.Find("nbdcopy");
        using Home home = new();
        home.Run("New-PhysicalDisk", "-Path", string.Join(',', s_members.Select(home.PathOf)), "-Size", "256MB", "-LatencyProfile", "NVMe");
        home.Run("New-StoragePool", "-FriendlyName", "p", "-PhysicalDisks", "d*");
        home.NewMirror("Data", "16MB", "-Checksum", "None");
        byte[] old = File.ReadAllBytes(TestFiles.WriteImage(home.PathOf("old"), 16 << 20, 13));
        byte[] young = File.ReadAllBytes(TestFiles.WriteImage(home.PathOf("new"), 16 << 20, 14));
        Tool.Run("nbdcopy", "--flush", home.PathOf("old"), home.UriOf("Data"));
        home.Run("Set-EmulatedDiskFault", "d2", "-Pull");
        Tool.Run("nbdcopy", "--flush", home.PathOf("new"), home.UriOf("Data"));
        home.Run("stop");

        int oldBlocks = 0;
        foreach (string partner in (string[])["d1.img", "d3.img", "d4.img"])
        {
            string[] there = [.. s_members.Where(member => member != partner).Select(home.PathOf)];
            string target = home.PathOf("without-" + partner);
            Answer answer = home.Try(["extract", "--disk", "Data", "--to", target, .. there]);
            home.Run(["extract", "--disk", "Data", "--to", target + "-forced", "--force", .. there]);
            byte[] forced = File.ReadAllBytes(target + "-forced");
            Assert.Equal(young.Length, forced.Length);
            HashSet<int> isOld = [.. Enumerable.Range(0, forced.Length / Block).Where(block => !Holds(forced, young, block))];
            Assert.All(isOld, block => Assert.True(Holds(forced, old, block), $"without {partner}: block {block} is neither old nor new."));
            oldBlocks += isOld.Count;
            if (File.Exists(target))
            {
                Assert.Equal(isOld.Order(), Ranges(answer.Error).SelectMany(static range =>
                    Enumerable.Range((int)(range.Offset / Block), (int)(range.Length / Block))));
            }
        }

        Assert.NotEqual(0, oldBlocks);   // one of them is the other half of its pair
    }

    private static bool Holds(byte[] data, byte[] written, int block) =>
        data.AsSpan(block * Block, Block).SequenceEqual(written.AsSpan(block * Block, Block));

    /// <summary>The ranges that an answer lists as not read.</summary>
    private static (long Offset, long Length)[] Ranges(string error) =>
        [.. Regex.Matches(error, @"Not read: (\d+ KB|[\d.]+ MB) at offset (0|\d+ KB|[\d.]+ MB)").Select(static range => (
            Bytes(range.Groups[2].Value), Bytes(range.Groups[1].Value)))];

    private static long Bytes(string text)
    {
        Assert.True(SizeText.TryParse(text, out ulong bytes), text);
        return (long)bytes;
    }

    /// <summary>By a tool that does not ask for the lock a dying host may still hold.</summary>
    private static string Hash(string path) => Tool.Run("sha256sum", path).Split(' ')[0];
}
