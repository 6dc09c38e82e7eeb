using TierSpaces.Engine.Devices;
using TierSpaces.Engine.Lanes.Native;

namespace TierSpaces.Engine.Tests.Devices;

public sealed class DiskImageTests : IDisposable
{
    private readonly string _folder = Directory.CreateTempSubdirectory("lane-image-").FullName;

    private string ImagePath => Path.Combine(_folder, "disk.img");

    public void Dispose() => Directory.Delete(_folder, recursive: true);

    [Theory]
    [InlineData(false, 0, 0)]
    [InlineData(true, 8 << 20, 9 << 20)]
    public void An_image_is_sparse_or_preallocated(bool preallocate, long least, long most)
    {
        DiskImage.Create(ImagePath, 8 << 20, preallocate);
        Libc.StatusOfPath(ImagePath, follow: true, out FileStatus status);
        Assert.Equal(8 << 20, status.Size);
        Assert.InRange(status.Blocks * 512, least, most);
        Assert.Equal(UnixFileMode.UserRead | UnixFileMode.UserWrite, File.GetUnixFileMode(ImagePath));
    }

    [Theory]
    [InlineData(0)]
    [InlineData(-4096)]
    [InlineData(4097)]
    public void Other_sizes_are_refused_and_leave_nothing(long size)
    {
        ArgumentException rejected = Assert.Throws<ArgumentException>(() => DiskImage.Create(ImagePath, size, false));
        Assert.Contains("4 KB", rejected.Message);
        Assert.Contains(ImagePath, rejected.Message);
        Assert.Empty(Directory.GetFiles(_folder));
    }

    [Fact]
    public void An_existing_file_is_never_touched()
    {
        File.WriteAllText(ImagePath, "precious");
        IOException rejected = Assert.Throws<IOException>(() => DiskImage.Create(ImagePath, 4096, false));
        Assert.Contains("already there", rejected.Message);
        Assert.Equal("precious", File.ReadAllText(ImagePath));
    }

    [Theory]
    [InlineData(true)]
    [InlineData(false)]
    public void A_full_host_is_refused_and_leaves_nothing(bool preallocate)
    {
        using SmallFileSystem small = SmallFileSystem.Mount(1 << 20);
        string filler = Path.Combine(small.Folder, "filler");
        File.WriteAllBytes(filler, new byte[preallocate ? 4096 : 1 << 20]);
        IOException rejected = Assert.Throws<IOException>(
            () => DiskImage.Create(Path.Combine(small.Folder, "disk.img"), 8 << 20, preallocate));
        Assert.Contains("no room", rejected.Message);
        Assert.Equal([filler], Directory.GetFiles(small.Folder));
    }

    [Fact]
    public void A_missing_folder_is_named() =>
        Assert.Contains("folder", Assert.Throws<IOException>(() => DiskImage.Create(Path.Combine(_folder, "no", "disk.img"), 4096, false)).Message);

    [Fact]
    public void A_relative_path_is_refused() => Assert.Throws<ArgumentException>(() => DiskImage.Create("disk.img", 4096, false));
}
