using System.ComponentModel;
using System.Diagnostics;
using TierSpaces.Contracts;

namespace TierSpaces.Host.Supervision;

/// <summary>Starts this executable again, for the other half of the pair.</summary>
internal static class ChildProcess
{
    private const int SignalBase = 128;   // exit code of a process that a signal has killed, without the number of the signal
    private static readonly TimeSpan s_readyTimeout = TimeSpan.FromMinutes(1);

    /// <summary>Starts <c>tierspaces</c> with the given words and waits until it says that it is ready.</summary>
    /// <returns>Empty when it is; else what it said instead, or how it has ended.</returns>
    public static string Start(HostPaths paths, params string[] words) => Start(Environment.ProcessPath!, paths, words);

    /// <summary>The same with another program.</summary>
    internal static string Start(string program, HostPaths paths, params string[] words)
    {
        try
        {
            using Process process = Process.Start(Describe(program, paths, words))!;
            process.StandardInput.Close();
            using CancellationTokenSource timeout = new CancellationTokenSource(s_readyTimeout);
            string? said = process.StandardOutput.ReadLineAsync(timeout.Token).AsTask().GetAwaiter().GetResult();
            return said == ProcessHostLauncher.ReadyLine ? "" : ComplaintOf(process, said, timeout.Token);
        }
        catch (OperationCanceledException)
        {
            return $"it was not ready within {s_readyTimeout.TotalSeconds} s.";
        }
        catch (Exception e) when (e is Win32Exception or IOException)
        {
            return e.Message;
        }
    }

    /// <summary>Returns what a process said that is not ready; where it said nothing, how it has ended.</summary>
    private static string ComplaintOf(Process process, string? said, CancellationToken timeout)
    {
        string text = $"{said} {process.StandardError.ReadToEnd()}".Trim();
        if (text.Length > 0)
        {
            return text + ".";
        }

        process.WaitForExitAsync(timeout).GetAwaiter().GetResult();
        return process.ExitCode > SignalBase ? $"it was killed by signal {process.ExitCode - SignalBase} before it was ready."
            : $"it ended with exit code {process.ExitCode} before it was ready.";
    }

    private static ProcessStartInfo Describe(string program, HostPaths paths, string[] words)
    {
        ProcessStartInfo start = new ProcessStartInfo(program, words)
        {
            RedirectStandardInput = true,
            RedirectStandardOutput = true,
            RedirectStandardError = true,
            WorkingDirectory = "/",
        };
        start.Environment[HostPaths.HomeVariable] = paths.Home;
        return start;
    }
}
