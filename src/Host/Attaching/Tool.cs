using System.ComponentModel;
using System.Diagnostics;

namespace TierSpaces.Host.Attaching;

/// <summary>Runs the programs that attach disks, each in a session of its own, away from our signals.</summary>
internal static class Tool
{
    private static readonly TimeSpan s_timeout = TimeSpan.FromSeconds(30);
    private static readonly string[] s_administratorFolders = ["/usr/sbin", "/sbin", "/usr/local/sbin"];

    /// <summary>
    /// Full path of a program on the path or where administrators' programs are; null when it is not installed.
    /// </summary>
    public static string? Find(string name) =>
        (Environment.GetEnvironmentVariable("PATH") ?? "").Split(':', StringSplitOptions.RemoveEmptyEntries)
        .Concat(s_administratorFolders).Select(folder => Path.Combine(folder, name)).FirstOrDefault(File.Exists);

    /// <summary>Runs a program to its end and returns what it printed.</summary>
    /// <exception cref="AttachException">It is missing, failed, or took longer than 30 s.</exception>
    public static string Run(string name, params string[] words)
    {
        string file = Find(name) ?? throw new AttachException($"{name} is not installed.");
        ProcessStartInfo start = new ProcessStartInfo("setsid", [file, .. words])
        {
            RedirectStandardInput = true, RedirectStandardOutput = true, RedirectStandardError = true, WorkingDirectory = "/",
        };
        using Process process = Start(start);
        process.StandardInput.Close();
        Task<string> output = process.StandardOutput.ReadToEndAsync();
        Task<string> error = process.StandardError.ReadToEndAsync();
        if (!process.WaitForExit(s_timeout))
        {
            process.Kill();
            throw new AttachException($"{name} did not end within {s_timeout.TotalSeconds} s.");
        }

        return process.ExitCode == 0
            ? output.GetAwaiter().GetResult().Trim()
            : throw new AttachException($"{name}: {error.GetAwaiter().GetResult().Trim()}");
    }

    /// <summary>Starts a program that stays, an orphan from the first moment, with its output in a file.</summary>
    /// <exception cref="AttachException">It is missing.</exception>
    public static void RunDetached(string log, string name, params string[] words)
    {
        string file = Find(name) ?? throw new AttachException($"{name} is not installed.");
        Run("sh", ["-c", "exec setsid --fork \"$@\" </dev/null >>\"$0\" 2>&1", log, file, .. words]);
    }

    private static Process Start(ProcessStartInfo start)
    {
        try
        {
            return Process.Start(start)!;
        }
        catch (Win32Exception e)
        {
            throw new AttachException($"{start.FileName}: {e.Message}.");
        }
    }
}
