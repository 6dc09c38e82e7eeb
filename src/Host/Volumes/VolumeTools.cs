using System.ComponentModel;
using System.Diagnostics;
using TierSpaces.Contracts;
using TierSpaces.Host.Attaching;

namespace TierSpaces.Host.Volumes;

/// <summary>Result of a program.</summary>
/// <param name="ExitCode">Its exit code.</param>
/// <param name="Output">Text on its standard output.</param>
/// <param name="Error">Text on its standard error, on one line.</param>
internal sealed record ToolResult(int ExitCode, string Output, string Error);

/// <summary>
/// Runs the programs that make partitions and file systems. Each runs in a session of its own with the messages of the C locale. No call blocks a thread
/// while the program runs. A program that does not end in time is killed and left alone: on a disk that does not answer, the kernel ends it later.
/// </summary>
/// <param name="find">Finds a program by name; null when it is not installed.</param>
internal sealed class VolumeTools(Func<string, string?> find)
{
    /// <summary>Time limit of what reads or changes little.</summary>
    public static readonly TimeSpan Short = TimeSpan.FromSeconds(30);

    /// <summary>Time limit of what goes over a whole file system.</summary>
    public static readonly TimeSpan Long = TimeSpan.FromHours(24);

    private static readonly Dictionary<string, string> s_packages = new()
    {
        ["sfdisk"] = "fdisk",
        ["partx"] = "util-linux",
        ["mount"] = "mount",
        ["umount"] = "mount",
        ["blkid"] = "util-linux",
        ["wipefs"] = "util-linux",
        ["blockdev"] = "util-linux",
        ["blkdiscard"] = "util-linux",
        ["fstrim"] = "util-linux",
        ["sync"] = "coreutils",
        ["swapoff"] = "mount",
        ["mkfs.ext4"] = "e2fsprogs",
        ["e2fsck"] = "e2fsprogs",
        ["e2label"] = "e2fsprogs",
        ["resize2fs"] = "e2fsprogs",
        ["mkfs.xfs"] = "xfsprogs",
        ["xfs_repair"] = "xfsprogs",
        ["xfs_growfs"] = "xfsprogs",
        ["xfs_admin"] = "xfsprogs",
        ["mkfs.btrfs"] = "btrfs-progs",
        ["btrfs"] = "btrfs-progs",
        ["mkfs.ntfs"] = "ntfs-3g",
        ["ntfsfix"] = "ntfs-3g",
        ["ntfslabel"] = "ntfs-3g",
        ["ntfsresize"] = "ntfs-3g",
        ["mount.ntfs-3g"] = "ntfs-3g",
    };

    /// <summary>Whether a program is installed.</summary>
    public bool Has(string name) => find(name) is not null;

    /// <summary>Returns the path of a program.</summary>
    /// <exception cref="StorageException">It is not installed; the error names the package that brings it.</exception>
    public string Require(string name) => find(name) ?? throw new StorageException(
        StorageErrors.ToolMissing, $"The program {name} is not installed.", $"Install it: apt-get install {s_packages[name]}.", name);

    /// <summary>Runs a program and returns what it printed.</summary>
    /// <exception cref="StorageException">It is missing, failed, or did not end in time.</exception>
    public async Task<string> RunAsync(string name, TimeSpan limit, CancellationToken cancellation, params string[] words)
    {
        ToolResult result = await TryAsync(name, limit, cancellation, "", words).ConfigureAwait(false);
        return result.ExitCode == 0 ? result.Output : throw Failure(name, result);
    }

    /// <summary>The error of a program that failed, in its own words.</summary>
    public static StorageException Failure(string name, ToolResult result) => new(
        StorageErrors.Failed, $"{name} failed with exit code {result.ExitCode}: {(result.Error.Length > 0 ? result.Error : OneLine(result.Output))}",
        "", name);

    /// <summary>Runs a program to its end, whatever its exit code.</summary>
    /// <param name="name">The program.</param>
    /// <param name="limit">Time limit.</param>
    /// <param name="cancellation">Ends the program early.</param>
    /// <param name="input">Text for its standard input.</param>
    /// <param name="words">Its arguments.</param>
    /// <exception cref="StorageException">It is missing or did not end in time.</exception>
    /// <exception cref="OperationCanceledException">It was ended early.</exception>
    public async Task<ToolResult> TryAsync(string name, TimeSpan limit, CancellationToken cancellation, string input, params string[] words)
    {
        using Process process = Start(Require(name), words);
        using CancellationTokenSource patience = CancellationTokenSource.CreateLinkedTokenSource(cancellation);
        patience.CancelAfter(limit);
        try
        {
            Task<string> output = process.StandardOutput.ReadToEndAsync(patience.Token);
            Task<string> error = process.StandardError.ReadToEndAsync(patience.Token);
            await WriteAsync(process, input).ConfigureAwait(false);
            await process.WaitForExitAsync(patience.Token).ConfigureAwait(false);
            return new ToolResult(process.ExitCode, await output.ConfigureAwait(false), OneLine(await error.ConfigureAwait(false)));
        }
        catch (OperationCanceledException)
        {
            process.Kill();
            cancellation.ThrowIfCancellationRequested();
            throw new StorageException(
                StorageErrors.Timeout, $"{name} {string.Join(' ', words)} did not end within {limit.TotalSeconds:0} s.",
                "See whether the virtual disk answers: Get-VirtualDisk, Get-PhysicalDisk.", name);
        }
    }

    private static async Task WriteAsync(Process process, string input)
    {
        try
        {
            await process.StandardInput.WriteAsync(input).ConfigureAwait(false);
            process.StandardInput.Close();
        }
        catch (IOException)
        {
            // It ended without reading all of it; its exit code and words say why.
        }
    }

    private static Process Start(string file, string[] words)
    {
        ProcessStartInfo start = new ProcessStartInfo("setsid", [file, .. words])
        {
            RedirectStandardInput = true, RedirectStandardOutput = true, RedirectStandardError = true, WorkingDirectory = "/",
        };
        start.Environment["LC_ALL"] = "C";
        try
        {
            return Process.Start(start)!;
        }
        catch (Win32Exception e)
        {
            throw new StorageException(StorageErrors.Failed, $"{file} cannot be started: {e.Message}", "", file);
        }
    }

    /// <summary>The first lines on one line: some programs print all their options after a message.</summary>
    private static string OneLine(string text)
    {
        const int shown = 400;
        string line = string.Join(' ', text.Split('\n', StringSplitOptions.RemoveEmptyEntries | StringSplitOptions.TrimEntries));
        return line.Length <= shown ? line : line[..shown] + "…";
    }
}
