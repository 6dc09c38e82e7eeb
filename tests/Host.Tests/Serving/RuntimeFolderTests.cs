using TierSpaces.Contracts;
using TierSpaces.Host.Serving;

namespace TierSpaces.Host.Tests.Serving;

/// <summary>Shared memory of a host: only its user chooses the folder, and no file is left behind.</summary>
public sealed class RuntimeFolderTests : IDisposable
{
    private readonly string _root = Directory.CreateTempSubdirectory("ts").FullName;
    private readonly HostPaths _paths;
    private readonly string _parent;

    public RuntimeFolderTests()
    {
        _paths = new HostPaths(Path.Combine(_root, "h"));
        _parent = Directory.CreateDirectory(Path.Combine(_root, "shm")).FullName;
        File.SetUnixFileMode(_parent, (UnixFileMode)0x3ff);   // 1777, as shared memory is
    }

    [Fact]
    public void The_next_host_finds_the_folder_of_one_that_was_killed()
    {
        string first = RuntimeFolder.Take(_paths, [_parent]);
        Assert.Equal(_parent, Path.GetDirectoryName(first));
        Assert.Equal((UnixFileMode)0x1c0, File.GetUnixFileMode(first));
        File.WriteAllBytes(Path.Combine(first, "notes"), [1]);
        RuntimeFolder.Leave(_paths);
        Assert.Equal(first, RuntimeFolder.Take(_paths, [_parent]));
        File.Delete(Path.Combine(first, "notes"));
        RuntimeFolder.Leave(_paths);
        Assert.Empty(Directory.GetFileSystemEntries(_parent));
        Assert.NotEqual(first, RuntimeFolder.Take(_paths, [_parent]));
    }

    [Fact]
    public void Two_homes_have_two_folders()
    {
        HostPaths other = new HostPaths(Path.Combine(_root, "other"));
        Assert.NotEqual(RuntimeFolder.Take(_paths, [_parent]), RuntimeFolder.Take(other, [_parent]));
    }

    [Theory]
    [InlineData("link")]
    [InlineData("open to all")]
    [InlineData("of another user")]
    public void A_folder_that_another_user_has_put_there_is_not_used(string kind)
    {
        string planted = RuntimeFolder.Take(_paths, [_parent]);
        Directory.Delete(planted);
        string elsewhere = Directory.CreateDirectory(Path.Combine(_root, "elsewhere")).FullName;
        if (kind == "link")
        {
            File.CreateSymbolicLink(planted, elsewhere);
        }
        else
        {
            Directory.CreateDirectory(planted);
            File.SetUnixFileMode(planted, (UnixFileMode)(kind == "open to all" ? 0x1ff : 0x1c0));
            Assert.SkipUnless(kind == "open to all" || Environment.IsPrivilegedProcess, "Only root can make a folder of another user.");
            _ = kind == "open to all" ? "" : Attaching("chown", "65534", planted);
        }

        string taken = RuntimeFolder.Take(_paths, [_parent]);
        Assert.NotEqual(planted, taken);
        Assert.Equal(_parent, Path.GetDirectoryName(taken));
        Assert.Empty(Directory.GetFileSystemEntries(elsewhere));
    }

    [Fact]
    public void Without_a_folder_in_memory_it_is_in_the_home() =>
        Assert.Equal(Path.Combine(_paths.Home, "run"), RuntimeFolder.Take(_paths, ["/proc"]));

    [Fact]
    public void A_host_that_stops_leaves_nothing_in_shared_memory()
    {
        using Scratch scratch = new Scratch();
        scratch.Run("New-PhysicalDisk", "-Path", $"{scratch.Root}/1.img", "-Size", "256MB");
        scratch.Run("New-StoragePool", "-FriendlyName", "P", "-StorageSubSystemFriendlyName", "*", "-PhysicalDisks", "*");
        Assert.Equal(0, scratch.Run("New-VirtualDisk", "P", "-FriendlyName", "v", "-ResiliencySettingName", "Simple", "-Size", "16MB").ExitCode);
        string folder = File.ReadAllText(RuntimeFolder.RecordOf(scratch.Paths));
        Assert.NotEmpty(Directory.GetFileSystemEntries(folder));
        (int Host, int Supervisor) pair = scratch.Pair();
        Assert.Equal(0, scratch.Run("stop").ExitCode);
        Scratch.Eventually("the host has ended", () => !Scratch.IsAlive(pair.Host));
        Assert.False(Directory.Exists(folder));
    }

    [Fact]
    public void A_home_that_other_users_may_write_to_is_refused()
    {
        using Scratch scratch = new Scratch();
        Directory.CreateDirectory(scratch.Paths.Home);
        File.SetUnixFileMode(scratch.Paths.Home, (UnixFileMode)0x1ff);
        Scratch.Answer answer = scratch.Run("start");
        Assert.Equal(1, answer.ExitCode);
        Assert.Contains($"TIERSPACES_HOME '{scratch.Paths.Home}'", answer.Error);
        Assert.Contains("may be written to by other users", answer.Error);
        Assert.False(File.Exists(scratch.Paths.HostLock));
    }

    public void Dispose() => Directory.Delete(_root, recursive: true);

    private static string Attaching(string tool, params string[] words) => Host.Attaching.Tool.Run(tool, words);
}
