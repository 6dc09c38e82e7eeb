using System.Buffers.Binary;
using Microsoft.Win32.SafeHandles;
using TierSpaces.Contracts;
using TierSpaces.Engine.Devices;
using TierSpaces.Engine.Formats;
using TierSpaces.Host.Attaching;

namespace TierSpaces.Host.Tests.Attaching;

/// <summary>Where files lie, asked of real file systems on loop devices: what is read there below them is what the files hold.</summary>
public sealed class FileMapTests : IDisposable
{
    private const string Id = "11111111222233334444555555555555";
    private readonly string _root = Directory.CreateTempSubdirectory("ts").FullName;
    private readonly HostState _state;
    private readonly AttachManager _attachments;

    public FileMapTests()
    {
        HostPaths paths = new(Path.Combine(_root, "h"));
        _state = new HostState(paths.State, Path.Combine(_root, "run"));
        _attachments = new AttachManager(paths, new AttachStore(_state), [new Loop(Image)]);
    }

    private string Image => Path.Combine(_root, "image");

    private string Mount => Path.Combine(_root, "m");

    [Theory]
    [InlineData("ext4", 64)]
    [InlineData("xfs", 320)]
    public void Below_the_file_system_its_pieces_hold_what_the_file_holds(string type, int mebibytes)
    {
        MountNew(type, mebibytes);
        string path = Path.Combine(Mount, "a file");
        byte[] content = new byte[3 << 20];
        new Random(1).NextBytes(content);
        content.AsSpan(1 << 20, 1 << 20).Clear();
        using (FileStream file = File.Create(path))
        {
            file.Write(content, 0, 1 << 20);
            file.Position = 2 << 20;   // a hole before it
            file.Write(content, 2 << 20, 1 << 20);
        }

        FilePlace place = new FileMap(_attachments).Find(path);
        Assert.Equal((Id, 2L << 20), (place.VirtualDisk, place.Pieces.Sum(piece => piece.Length)));
        Tool.Run("sync", "-f", path);
        using SafeFileHandle below = File.OpenHandle(Image);
        IEnumerable<byte> found = place.Pieces.SelectMany(piece =>
        {
            byte[] bytes = new byte[piece.Length];
            Assert.Equal(bytes.Length, RandomAccess.Read(below, bytes, piece.Offset));
            return bytes;
        });
        Assert.True(found.SequenceEqual(content.Take(1 << 20).Concat(content.Skip(2 << 20))));

        VolumePlace volume = new FileMap(_attachments).FindVolume(Mount, "Path");
        Assert.Equal(new VolumePlace(Id, new PinnedRange(0, (long)mebibytes << 20)), volume);
        Assert.Equal(volume, new FileMap(_attachments).FindVolume(new AttachStore(_state).Read()[0].Device, "Path"));
    }

    [Fact]
    public void Files_that_have_no_place_of_their_own_are_refused()
    {
        MountNew("ext4", 64, "-O", "inline_data", "-I", "256");
        File.WriteAllText(Path.Combine(Mount, "tiny"), "a few bytes");
        File.WriteAllText(Path.Combine(Mount, "empty"), "");
        Assert.Contains("lies in the inode", ManagementError("tiny"));
        Assert.Contains("has no data on the disk", ManagementError("empty"));
        Assert.Contains("is no regular file", ManagementError("lost+found"));
        Assert.Contains("cannot be opened by the host", ManagementError("nothing"));
    }

    [Fact]
    public void Addresses_of_btrfs_are_not_taken_for_places()
    {
        Assert.SkipWhen(Tool.Find("mkfs.btrfs") is null || !File.ReadAllText("/proc/filesystems").Contains("btrfs"),
            "btrfs is missing: apt-get install btrfs-progs");
        MountNew("btrfs", 128);
        File.WriteAllBytes(Path.Combine(Mount, "f"), new byte[1 << 20]);
        Assert.Contains("is on btrfs, whose addresses are its own", ManagementError("f"));
    }

    [Fact]
    public void A_file_on_another_device_is_refused_by_the_name_of_that()
    {
        SkipUnlessPossible();
        string path = Path.Combine(_root, "elsewhere");
        File.WriteAllBytes(path, new byte[1 << 20]);
        StorageErrorInfo problem = Assert.Throws<StorageException>(() => new FileMap(_attachments).Find(path)).Error;
        Assert.Matches("is on /dev/.*, which is no connected virtual disk|is on no block device|which does not report the places", problem.ExtendedInformation);
    }

    [Fact]
    public void A_path_that_is_not_there_is_refused_with_its_parameter_and_what_to_do()
    {
        string path = Path.Combine(_root, "none");
        StorageErrorInfo volume = Assert.Throws<StorageException>(() => new FileMap(_attachments).FindVolume(path, "VolumePath")).Error;
        Assert.StartsWith($"-VolumePath '{path}' cannot be opened by the host", volume.ExtendedInformation, StringComparison.Ordinal);
        Assert.NotEmpty(volume.RecommendedAction);
        Assert.StartsWith($"-FilePath '{path}' cannot be opened",
            Assert.Throws<StorageException>(() => new FileMap(_attachments).Find(path)).Error.ExtendedInformation, StringComparison.Ordinal);
    }

    [Theory]
    [InlineData(0x1, true, "")]
    [InlineData(0x800, false, "")]            // reserved and not written yet: it has its place
    [InlineData(0x1 | 0x8 | 0x80, true, "")]  // encrypted
    [InlineData(0x8, false, "is compressed")]
    [InlineData(0x2 | 0x4, false, "has no place on the disk yet")]
    [InlineData(0x200, false, "lies in the inode")]
    [InlineData(0x400, false, "lies in the inode")]
    public void What_the_kernel_says_of_an_extent_decides(int flags, bool isLast, string problem)
    {
        byte[] answer = new byte[32 + 56];
        answer[20] = 1;
        BinaryPrimitives.WriteUInt64LittleEndian(answer.AsSpan(32), 4096);
        BinaryPrimitives.WriteUInt64LittleEndian(answer.AsSpan(40), 1 << 20);
        BinaryPrimitives.WriteUInt64LittleEndian(answer.AsSpan(48), 8192);
        BinaryPrimitives.WriteInt32LittleEndian(answer.AsSpan(72), flags);
        List<PinnedRange> pieces = [];
        ulong next = 0;
        if (problem.Length > 0)
        {
            Assert.Contains(problem, Assert.Throws<StorageException>(() => FileExtentMap.Take("/f", answer, pieces, ref next)).Error.ExtendedInformation);
            return;
        }

        Assert.Equal(isLast, FileExtentMap.Take("/f", answer, pieces, ref next));
        Assert.Equal((new PinnedRange(1 << 20, 8192), 12288UL), (Assert.Single(pieces), next));
        Assert.True(FileExtentMap.Take("/f", new byte[32], pieces, ref next));   // no more
    }

    [Fact]
    public void A_mount_is_found_by_its_number_else_by_its_device()
    {
        string[] lines =
        [
            "36 35 7:0 / /mnt rw,noatime shared:1 master:2 - ext4 /dev/loop0 rw",
            "37 35 0:33 /@ /btr rw - btrfs /dev/loop1 rw,space_cache=v2",
            "38 35 7:2 / /x rw - xfs /dev/loop2 rw,rtdev=/dev/loop3",
        ];
        Assert.Equal(("btrfs", "rw,space_cache=v2"), MountInfo.Of(lines, 37, "0:34"));
        Assert.Equal(("ext4", "rw"), MountInfo.Of(lines, 99, "7:0"));
        Assert.Equal(("xfs", "rw,rtdev=/dev/loop3"), MountInfo.Of(lines, 38, "7:2"));
        Assert.Equal("an unknown file system", MountInfo.Of(lines, 99, "9:9").Type);
    }

    public void Dispose()
    {
        if (Directory.Exists(Mount))
        {
            Tool.Run("umount", Mount);
        }

        _attachments.Detach(Id);
        _state.Dispose();
        Directory.Delete(_root, recursive: true);
    }

    private static void SkipUnlessPossible() => Assert.SkipUnless(
        Environment.IsPrivilegedProcess && BlockDevice.CanOpen("/dev/loop-control"), "needs root and loop devices");

    private void MountNew(string type, int mebibytes, params string[] options)
    {
        SkipUnlessPossible();
        Assert.SkipWhen(Tool.Find("mkfs." + type) is null, $"mkfs.{type} is missing");
        using (FileStream file = File.Create(Image))
        {
            file.SetLength((long)mebibytes << 20);
        }

        _attachments.Attach(new AttachTarget(Id, "d", "", "", 512));
        string device = new AttachStore(_state).Read()[0].Device;
        Tool.Run("mkfs." + type, ["-q", .. options, device]);
        Directory.CreateDirectory(Mount);
        Tool.Run("mount", device, Mount);
    }

    private string ManagementError(string name) =>
        Assert.Throws<StorageException>(() => new FileMap(_attachments).Find(Path.Combine(Mount, name))).Error.ExtendedInformation;

    /// <summary>Shows an image as a block device.</summary>
    private sealed class Loop(string image) : IAttacher
    {
        public string Method => "Loop";

        public string Patience => "for 1 s";

        public string? Obstacle() => null;

        public AttachRecord Attach(AttachTarget target, string folder) => new()
        {
            UniqueId = target.UniqueId, FriendlyName = target.FriendlyName, Method = Method, Device = Tool.Run("losetup", "--find", "--show", image),
        };

        public bool IsIntact(AttachRecord record) => true;

        public void Resume(AttachRecord record, AttachTarget target) => throw new InvalidOperationException();

        public void Detach(AttachRecord record) => Tool.Run("losetup", "--detach", record.Device);
    }
}
