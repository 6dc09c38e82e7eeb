using System.ComponentModel;
using System.Diagnostics;
using System.Text;
using TierSpaces.Host.Native;

namespace TierSpaces.Host.Health;

// Invariants
//  1. A hook has a session and a process group of its own. When its time is up, or the host stops, the group is killed.
//  2. The host keeps a bounded part of its output and reads the rest, so that the hook does not wait.

/// <summary>One run of a hook.</summary>
internal static class HookRun
{
    private const int OutputBytesMax = 400;
    private const int KillAtOnce = 9;
    private static readonly TimeSpan s_drainPatience = TimeSpan.FromSeconds(1);

    /// <summary>Runs a hook to its end and returns the result as a line for the log.</summary>
    /// <param name="file">The executable.</param>
    /// <param name="variables">Variables of its environment, beside those of the host.</param>
    /// <param name="limit">Longest time.</param>
    /// <param name="stop">The host stops.</param>
    /// <exception cref="OperationCanceledException">The host stops; the hook was killed.</exception>
    public static async Task<string> RunAsync(string file, IReadOnlyDictionary<string, string> variables, TimeSpan limit, CancellationToken stop)
    {
        Stopwatch watch = Stopwatch.StartNew();
        ProcessStartInfo start = new ProcessStartInfo("setsid", [file])
        {
            RedirectStandardInput = true, RedirectStandardOutput = true, RedirectStandardError = true, WorkingDirectory = "/",
        };
        foreach ((string name, string value) in variables)
        {
            start.Environment[name] = value;
        }

        using Process? process = TryStart(start, out string problem);
        if (process is null)
        {
            return $"cannot be started: {problem}.";
        }

        process.StandardInput.Close();
        MemoryStream output = new MemoryStream();
        Task read = Task.WhenAll(KeepAsync(process.StandardOutput.BaseStream, output), KeepAsync(process.StandardError.BaseStream, output));
        bool isOverdue = !await EndsAsync(process, limit, stop).ConfigureAwait(false);
        await Task.WhenAny(read, Task.Delay(s_drainPatience, CancellationToken.None)).ConfigureAwait(false);
        return FormattableString.Invariant(
            $"{(isOverdue ? $"was killed with its process group after {limit.TotalSeconds} s" : $"exit code {process.ExitCode}")}, {watch.Elapsed.TotalSeconds:F1} s{Printed(output)}");
    }

    /// <summary>Waits for the end; false after the limit, when the process group has been killed.</summary>
    private static async Task<bool> EndsAsync(Process process, TimeSpan limit, CancellationToken stop)
    {
        using CancellationTokenSource patience = CancellationTokenSource.CreateLinkedTokenSource(stop);
        patience.CancelAfter(limit);
        try
        {
            await process.WaitForExitAsync(patience.Token).ConfigureAwait(false);
            return true;
        }
        catch (OperationCanceledException)
        {
            _ = ProcessCalls.Kill(-process.Id, KillAtOnce);
            stop.ThrowIfCancellationRequested();
            return false;
        }
    }

    private static Process? TryStart(ProcessStartInfo start, out string problem)
    {
        problem = "";
        try
        {
            return Process.Start(start);
        }
        catch (Win32Exception e)
        {
            problem = e.Message;
            return null;
        }
    }

    private static async Task KeepAsync(Stream stream, MemoryStream output)
    {
        byte[] buffer = new byte[4096];
        try
        {
            while (await stream.ReadAsync(buffer).ConfigureAwait(false) is > 0 and int count)
            {
                lock (output)
                {
                    output.Write(buffer, 0, (int)Math.Min(count, OutputBytesMax + 1 - output.Length));
                }
            }
        }
        catch (Exception e) when (e is IOException or ObjectDisposedException)
        {
            // Something that the hook has left running still holds the pipe.
        }
    }

    private static string Printed(MemoryStream output)
    {
        lock (output)
        {
            string text = Encoding.UTF8.GetString(output.GetBuffer(), 0, (int)Math.Min(output.Length, OutputBytesMax)).Trim();
            return text.Length == 0 ? "" : $": {ObjectHealth.OneLine(text.ReplaceLineEndings(" | "))}{(output.Length > OutputBytesMax ? " …" : "")}";
        }
    }
}
