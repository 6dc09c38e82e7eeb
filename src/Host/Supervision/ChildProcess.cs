using System.ComponentModel;
using System.Diagnostics;
using TierSpaces.Contracts;

namespace TierSpaces.Host.Supervision;

/// <summary>Starts this executable again, for the other half of the pair.</summary>
internal static class ChildProcess
{
    private static readonly TimeSpan s_readyTimeout = TimeSpan.FromMinutes(1);

    /// <summary>Starts <c>tierspaces</c> with the given words and waits until it says that it is ready.</summary>
    /// <returns>Empty when it is; else what it said instead.</returns>
    public static string Start(HostPaths paths, params string[] words)
    {
        try
        {
            using Process process = Process.Start(Describe(paths, words))!;
            process.StandardInput.Close();
            using CancellationTokenSource timeout = new CancellationTokenSource(s_readyTimeout);
            string? said = process.StandardOutput.ReadLineAsync(timeout.Token).AsTask().GetAwaiter().GetResult();
            return said == ProcessHostLauncher.ReadyLine ? "" : $"{said} {process.StandardError.ReadToEnd()}".Trim() + ".";
        }
        catch (Exception e) when (e is Win32Exception or OperationCanceledException or IOException)
        {
            return e.Message;
        }
    }

    private static ProcessStartInfo Describe(HostPaths paths, string[] words)
    {
        ProcessStartInfo start = new ProcessStartInfo(Environment.ProcessPath!, words)
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
