using System.Diagnostics;

namespace TierSpaces.Contracts;

/// <summary>Starts a host for a home where none answers, and returns when it is ready to be asked.</summary>
/// <param name="paths">Home of the host.</param>
/// <param name="cancellation">Gives up waiting; the host keeps starting.</param>
/// <exception cref="StorageException">No executable, or the host said why it cannot run.</exception>
public delegate Task HostLauncher(HostPaths paths, CancellationToken cancellation);

/// <summary>
/// Starts the executable <c>tierspaces serve</c>. The child reports on its standard output: <c>ready</c>, or the reason why it
/// cannot serve. Then it closes the descriptors that it inherited and outlives this process.
/// </summary>
public static class ProcessHostLauncher
{
    /// <summary>Environment variable that names the executable.</summary>
    public const string ExecutableVariable = "TIERSPACES_HOST";

    /// <summary>Option of <c>serve</c>: report on standard output, then detach from the caller.</summary>
    public const string DetachOption = "--detached";

    /// <summary>Line with which a host says that it can be asked.</summary>
    public const string ReadyLine = "ready";

    /// <summary>Launches the executable found by <see cref="FindExecutable"/>.</summary>
    public static Task LaunchAsync(HostPaths paths, CancellationToken cancellation) =>
        LaunchAsync(FindExecutable(), paths, cancellation);

    /// <summary>Launches a given executable.</summary>
    public static async Task LaunchAsync(string executable, HostPaths paths, CancellationToken cancellation)
    {
        ProcessStartInfo start = new ProcessStartInfo(executable)
        {
            ArgumentList = { "serve", DetachOption },
            Environment = { [HostPaths.HomeVariable] = paths.Home },
            RedirectStandardInput = true,
            RedirectStandardOutput = true,
            RedirectStandardError = true,
            WorkingDirectory = "/",
        };
        using Process process = Start(start);
        process.StandardInput.Close();
        string? said = await process.StandardOutput.ReadLineAsync(cancellation).ConfigureAwait(false);
        if (said != ReadyLine)
        {
            string complaint = await process.StandardError.ReadToEndAsync(cancellation).ConfigureAwait(false);
            string reason = complaint.Length > 0 ? complaint.Trim() : said ?? "it ended without a word";
            throw Unreachable($"{executable} serve: {reason}");
        }
    }

    /// <summary>
    /// The executable: <c>TIERSPACES_HOST</c>, else <c>bin/host/tierspaces</c> beside the module, else <c>tierspaces</c> beside
    /// this assembly.
    /// </summary>
    public static string FindExecutable()
    {
        if (Environment.GetEnvironmentVariable(ExecutableVariable) is { Length: > 0 } named)
        {
            return File.Exists(named) ? named : throw Unreachable($"{ExecutableVariable} names '{named}', which does not exist.");
        }

        string here = Path.GetDirectoryName(typeof(ProcessHostLauncher).Assembly.Location) ?? ".";
        string[] candidates =
        [
            Path.Combine(here, "tierspaces"),
            Path.Combine(here, "host", "tierspaces"),
            Path.GetFullPath(Path.Combine(here, "..", "host", "tierspaces")),
            Path.GetFullPath(Path.Combine(here, "..", "bin", "host", "tierspaces")),
        ];
        return candidates.FirstOrDefault(File.Exists) is { } found
            ? MakeExecutable(found)
            : throw Unreachable($"No executable 'tierspaces' near {here}. Build it, or name it in {ExecutableVariable}.");
    }

    /// <summary>A package has no permissions to give: who has unpacked one may start what is in it.</summary>
    private static string MakeExecutable(string path)
    {
        const UnixFileMode execute = UnixFileMode.UserExecute | UnixFileMode.GroupExecute | UnixFileMode.OtherExecute;
        if (!OperatingSystem.IsWindows() && (File.GetUnixFileMode(path) & execute) == 0)
        {
            try
            {
                File.SetUnixFileMode(path, File.GetUnixFileMode(path) | execute);
            }
            catch (UnauthorizedAccessException e)
            {
                throw Unreachable($"{path} is not executable, and belongs to another user: chmod +x helps.", e);
            }
        }

        return path;
    }

    private static Process Start(ProcessStartInfo start)
    {
        try
        {
            return Process.Start(start)!;
        }
        catch (System.ComponentModel.Win32Exception e)
        {
            throw Unreachable($"{start.FileName} cannot be started: {e.Message}.", e);
        }
    }

    private static StorageException Unreachable(string extended, Exception? inner = null) =>
        new(StorageErrors.HostUnreachable, extended, inner: inner);
}
