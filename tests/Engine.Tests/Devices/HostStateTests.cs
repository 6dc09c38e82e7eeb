using TierSpaces.Engine.Devices;
using TierSpaces.Engine.Primitives;

namespace TierSpaces.Engine.Tests.Devices;

public sealed class HostStateTests : IDisposable
{
    private const string Boot = "11111111-2222-3333-4444-555555555555";
    private const string NextBoot = "99999999-2222-3333-4444-555555555555";

    private readonly string _root = Directory.CreateTempSubdirectory("lane-state-").FullName;

    public void Dispose() => Directory.Delete(_root, recursive: true);

    [Fact]
    public void A_file_is_read_back_replaced_and_deleted()
    {
        using HostState state = Open(Boot);
        Assert.Null(state.ReadFile("witness-1.bin"));
        byte[] large = new byte[100_000];
        new Random(1).NextBytes(large);
        state.WriteFile("witness-1.bin", large);
        Assert.Equal(large, state.ReadFile("witness-1.bin"));
        state.WriteFile("witness-1.bin", []);
        Assert.Equal([], state.ReadFile("witness-1.bin")!);
        state.DeleteFile("witness-1.bin");
        state.DeleteFile("witness-1.bin");
        Assert.Null(state.ReadFile("witness-1.bin"));
    }

    [Fact]
    public void A_killed_writer_leaves_the_old_file_and_the_next_one_writes()
    {
        using HostState state = Open(Boot);
        state.WriteFile("list", [1, 2, 3]);
        File.WriteAllBytes(Path.Combine(_root, "state", "list.tmp"), [9]);
        Assert.Equal([1, 2, 3], state.ReadFile("list")!);
        state.WriteFile("list", [4]);
        Assert.Equal([4], state.ReadFile("list")!);
        Assert.Single(Directory.GetFiles(Path.Combine(_root, "state")));
    }

    [Fact]
    public void Files_and_folders_are_for_their_owner_only()
    {
        using HostState state = Open(Boot);
        state.WriteFile("list", [1]);
        Assert.Equal(UnixFileMode.UserRead | UnixFileMode.UserWrite, File.GetUnixFileMode(Path.Combine(_root, "state", "list")));
        Assert.Equal(
            UnixFileMode.UserRead | UnixFileMode.UserWrite | UnixFileMode.UserExecute, File.GetUnixFileMode(Path.Combine(_root, "state")));
    }

    [Theory]
    [InlineData("")]
    [InlineData("../escape")]
    [InlineData("a/b")]
    [InlineData(".hidden")]
    [InlineData("x.tmp")]
    public void Other_names_are_refused(string name)
    {
        using HostState state = Open(Boot);
        Assert.Throws<ArgumentException>(() => state.WriteFile(name, [1]));
        Assert.Throws<ArgumentException>(() => state.ReadFile(name));
    }

    [Fact]
    public void An_unwritable_folder_is_an_I_O_error()
    {
        using HostState state = Open(Boot);
        Directory.Delete(Path.Combine(_root, "state"));
        Assert.Contains("list", Assert.Throws<IOException>(() => state.WriteFile("list", [1])).Message);
    }

    [Fact]
    public void Memory_outlives_the_process_but_not_the_boot()
    {
        using (HostState first = Open(Boot))
        {
            IoBuffer memory = first.MapMemory("session-7", 10_000);
            Assert.Equal(10_000, memory.Length);
            Assert.Equal(-1, memory.Span.IndexOfAnyExcept((byte)0));
            memory.Span.Fill(42);
            Assert.Throws<InvalidOperationException>(() => first.MapMemory("session-7", 10_000));
        }

        using (HostState second = Open(Boot))
        {
            Assert.Equal(-1, second.MapMemory("session-7", 10_000).Span.IndexOfAnyExcept((byte)42));
        }

        using HostState afterPowerCut = Open(NextBoot);
        Assert.Equal(-1, afterPowerCut.MapMemory("session-7", 10_000).Span.IndexOfAnyExcept((byte)0));
        Assert.Single(Directory.GetFiles(Path.Combine(_root, "run")));
    }

    [Fact]
    public void Returned_memory_is_there_the_next_time()
    {
        using HostState state = Open(Boot);
        state.MapMemory("m", 4096).Span.Fill(1);
        state.ReturnMemory("m");
        state.ReturnMemory("other");
        Assert.Equal(-1, state.MapMemory("m", 4096).Span.IndexOfAnyExcept((byte)1));
        Assert.Throws<InvalidOperationException>(() => state.MapMemory("m", 4096));
        state.ReturnMemory("m");
        state.ReleaseMemory("m");
        Assert.Equal(-1, state.MapMemory("m", 4096).Span.IndexOfAnyExcept((byte)0));
    }

    [Fact]
    public void Released_memory_is_new_the_next_time()
    {
        using HostState state = Open(Boot);
        state.MapMemory("m", 4096).Span.Fill(1);
        state.MapMemory("m.2", 4096).Span.Fill(2);
        state.ReleaseMemory("m");
        state.ReleaseMemory("m");
        Assert.Equal(-1, state.MapMemory("m", 4096).Span.IndexOfAnyExcept((byte)0));
        state.ReleaseMemory("m");
        Assert.Single(Directory.GetFiles(Path.Combine(_root, "run")));
    }

    [Fact]
    public void No_room_for_memory_is_an_error_and_no_signal()
    {
        using SmallFileSystem small = SmallFileSystem.Mount(1 << 20);
        using HostState state = new(Path.Combine(_root, "state"), Path.Combine(small.Folder, "run"), Boot);
        Assert.Throws<IOException>(() => state.MapMemory("m", 8 << 20));
    }

    [Fact]
    public void No_link_leads_a_write_to_another_file()
    {
        string victim = Path.Combine(_root, "victim");
        File.WriteAllBytes(victim, [1, 2, 3]);
        using HostState state = Open(Boot);
        string memory = Path.Combine(_root, "run", $"m.{Boot}");
        File.CreateSymbolicLink(memory, victim);
        Assert.Throws<IOException>(() => state.MapMemory("m", 4096));
        File.Delete(memory);
        Commands.Run("ln", victim, memory);
        Assert.Throws<IOException>(() => state.MapMemory("m", 4096));
        File.CreateSymbolicLink(Path.Combine(_root, "state", "list.tmp"), victim);
        state.WriteFile("list", [4]);
        File.CreateSymbolicLink(Path.Combine(_root, "state", "other"), victim);
        Assert.Throws<IOException>(() => state.ReadFile("other"));
        Assert.Equal([1, 2, 3], File.ReadAllBytes(victim));
        File.Delete(memory);
        Assert.Equal(4096, state.MapMemory("m", 4096).Length);
    }

    [Theory]
    [InlineData("state")]
    [InlineData("run")]
    public void A_folder_that_others_may_write_to_is_refused(string name)
    {
        string folder = Directory.CreateDirectory(Path.Combine(_root, name)).FullName;
        File.SetUnixFileMode(folder, (UnixFileMode)0x1ff);
        Assert.Contains("may be written to by other users", Assert.Throws<IOException>(() => Open(Boot)).Message);
        File.SetUnixFileMode(folder, (UnixFileMode)0x1c0);
        Open(Boot).Dispose();
    }

    [Theory]
    [InlineData("state")]
    [InlineData("run")]
    public void A_folder_of_another_user_is_refused(string name)
    {
        Assert.SkipUnless(Environment.IsPrivilegedProcess, "Only root can make a folder of another user.");
        string folder = Directory.CreateDirectory(Path.Combine(_root, name), (UnixFileMode)0x1c0).FullName;
        Commands.Run("chown", "65534", folder);
        Assert.Contains("belongs to user 65534", Assert.Throws<IOException>(() => Open(Boot)).Message);
    }

    [Fact]
    public void A_link_is_no_runtime_folder()
    {
        Directory.CreateDirectory(Path.Combine(_root, "elsewhere"), (UnixFileMode)0x1c0);
        File.CreateSymbolicLink(Path.Combine(_root, "run"), Path.Combine(_root, "elsewhere"));
        Assert.Throws<IOException>(() => Open(Boot));
    }

    private HostState Open(string boot) => new(Path.Combine(_root, "state"), Path.Combine(_root, "run"), boot);
}
