using System.Diagnostics;
using TierSpaces.Contracts;
using TierSpaces.Host.Volumes;
using TierSpaces.Host.Volumes.FileSystems;

namespace TierSpaces.Host.Tests.Volumes;

/// <summary>Programs that are missing, fail, hang, or say what the real ones say of damage.</summary>
public sealed class VolumeToolsTests : IDisposable
{
    private readonly string _root = Directory.CreateTempSubdirectory("ts").FullName;
    private readonly VolumeTools _tools;

    public VolumeToolsTests() => _tools = new VolumeTools(name => File.Exists(Script(name)) ? Script(name) : null);

    private static CancellationToken Cancellation => TestContext.Current.CancellationToken;

    public void Dispose() => Directory.Delete(_root, recursive: true);

    [Fact]
    public void A_missing_program_is_named_with_its_package()
    {
        StorageErrorInfo error = Assert.Throws<StorageException>(() => _tools.Require("mkfs.xfs")).Error;
        Assert.Equal(("ToolMissing", "Install it: apt-get install xfsprogs."), (error.Word, error.RecommendedAction));
    }

    [Fact]
    public async Task A_program_that_fails_is_quoted()
    {
        Make("sfdisk", "echo 'no such table' >&2; exit 3");
        StorageException e = await Assert.ThrowsAsync<StorageException>(() => _tools.RunAsync("sfdisk", VolumeTools.Short, Cancellation, "x"));
        Assert.Equal("sfdisk failed with exit code 3: no such table", e.Error.ExtendedInformation);
    }

    [Fact]
    public async Task A_program_reads_its_input_and_speaks_the_messages_of_the_C_locale()
    {
        Make("sfdisk", "cat; echo \"$LC_ALL $1\"");
        ToolResult result = await _tools.TryAsync("sfdisk", VolumeTools.Short, Cancellation, "in\n", "word");
        Assert.Equal((0, "in\nC word\n"), (result.ExitCode, result.Output));
    }

    [Fact]
    public async Task A_program_that_hangs_is_left_in_time()
    {
        Make("mount", "exec sleep 60");
        Stopwatch watch = Stopwatch.StartNew();
        StorageException e = await Assert.ThrowsAsync<StorageException>(() => _tools.RunAsync("mount", TimeSpan.FromMilliseconds(300), Cancellation));
        Assert.Equal("Timeout", e.Error.Word);
        Assert.True(watch.Elapsed < TimeSpan.FromSeconds(20));
    }

    [Fact]
    public async Task A_program_is_ended_when_the_caller_goes_away()
    {
        Make("mkfs.ext4", "exec sleep 60");
        using CancellationTokenSource gone = new CancellationTokenSource(300);
        await Assert.ThrowsAnyAsync<OperationCanceledException>(() => _tools.RunAsync("mkfs.ext4", VolumeTools.Long, gone.Token));
    }

    [Fact]
    public async Task A_device_that_hangs_costs_one_time_limit()
    {
        Make("blkid", "exec sleep 30");
        DiskReader reader = new DiskReader(_tools);
        Assert.Equal("/dev/null does not answer.", (await reader.ReadAsync("/dev/null", 1, 512)).Fault);
        Make("blkid", "exit 2");
        Assert.Equal("/dev/null does not answer.", (await reader.ReadAsync("/dev/null", 1, 512)).Fault);   // the first question has not ended
        Assert.True((await reader.ReadAsync("/dev/zero", 1, 512)).IsBlank);
    }

    [Fact]
    public async Task A_device_that_cannot_be_read_shows_why()
    {
        Make("blkid", "echo 'Input/output error' >&2; exit 4");
        Assert.Contains("Input/output error", (await new DiskReader(_tools).ReadAsync("/dev/null", 1, 512)).Fault);
    }

    [Theory]
    [InlineData("ext4", "e2fsck", 0, "NoErrorsFound")]
    [InlineData("ext4", "e2fsck", 1, "ErrorsFixed")]
    [InlineData("ext4", "e2fsck", 4, "RepairFailed")]
    [InlineData("ext4", "e2fsck", 8, "RepairFailed")]
    [InlineData("xfs", "xfs_repair", 0, "NoErrorsFound")]
    [InlineData("xfs", "xfs_repair", 2, "ScanFailed")]
    [InlineData("btrfs", "btrfs", 0, "NoErrorsFound")]
    [InlineData("btrfs", "btrfs", 1, "RepairFailed")]
    public async Task The_outcome_of_a_repair_is_that_of_its_program(string kind, string tool, int exitCode, string expected)
    {
        Make(tool, $"exit {exitCode}");
        Assert.Equal(expected, await OutcomeAsync(() => FileSystemChoice.Find(kind)!.FixAsync(Work())));
    }

    [Fact]
    public async Task Errors_that_xfs_repair_found_and_repaired_are_fixed()
    {
        Make("xfs_repair", "test \"$1\" = -n && exit 1; exit 0");
        Assert.Equal("ErrorsFixed", await OutcomeAsync(() => FileSystemChoice.Find("xfs")!.FixAsync(Work())));
        Assert.Equal("ErrorsFound", await OutcomeAsync(() => FileSystemChoice.Find("xfs")!.ScanAsync(Work())));
        Make("xfs_repair", "test \"$1\" = -n && exit 1; exit 2");   // a log that only a mount applies
        Assert.Equal("RepairFailed", await OutcomeAsync(() => FileSystemChoice.Find("xfs")!.FixAsync(Work())));
    }

    [Theory]
    [InlineData(0, "Error summary:    no errors found", "NoErrorsFound")]
    [InlineData(0, "Error summary:    csum=3", "ErrorsFixed")]
    [InlineData(3, "Error summary:    csum=3", "ErrorsFound")]
    [InlineData(1, "", "ScanFailed")]
    public async Task The_outcome_of_a_scrub_is_read(int exitCode, string text, string expected)
    {
        Make("btrfs", $"echo '{text}'; exit {exitCode}");
        Assert.Equal(expected, await OutcomeAsync(() => FileSystemChoice.Find("btrfs")!.ScanMountedAsync(Work(), "/mnt")));
    }

    private static async Task<string> OutcomeAsync(Func<Task<RepairStatus>> work)
    {
        try
        {
            return (await work()).ToString();
        }
        catch (StorageException e)
        {
            return e.Error.Word;
        }
    }

    private FileSystemWork Work() => new(_tools, "/dev/none", static _ => { }, Cancellation);

    private string Script(string name) => Path.Combine(_root, name);

    private void Make(string name, string script)
    {
        string text = "#!/bin/sh\n" + script + "\n";
        string temporary = Script(name) + ".new";
        File.WriteAllText(temporary, text);
        File.SetUnixFileMode(temporary, UnixFileMode.UserRead | UnixFileMode.UserWrite | UnixFileMode.UserExecute);
        File.Move(temporary, Script(name), overwrite: true);
    }
}
