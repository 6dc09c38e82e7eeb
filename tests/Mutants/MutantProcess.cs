using System.Diagnostics;

namespace TierSpaces.Mutants;

/// <summary>A worker and the process it lives in; one that died or was ended is replaced at the next question.</summary>
public sealed class MutantProcess(string folder, params string[] arguments) : IDisposable
{
    private const long MemoryMax = 1L << 30;   // worlds that a violation left behind

    private Process? _process;

    /// <summary>
    /// Asks one thing. A worker that gives no answer within <paramref name="patience"/> of processor time hangs where the engine does
    /// not, which is a violation too; time on the clock would also count what else the machine does.
    /// </summary>
    public async Task<string> AskAsync(int mutant, ulong seed, TimeSpan patience)
    {
        Process process = Start();
        TimeSpan begun = process.TotalProcessorTime;
        await process.StandardInput.WriteLineAsync($"{mutant} {seed}");
        await process.StandardInput.FlushAsync();
        Task<string?> answer = process.StandardOutput.ReadLineAsync();
        while (await Task.WhenAny(answer, Task.Delay(200)) != answer)
        {
            if (!process.HasExited && process.TotalProcessorTime - begun > patience)
            {
                Dispose();
                return $"violation does not end within {patience.TotalSeconds:F0} s of processor time";
            }
        }

        return await answer ?? "violation the process died";
    }

    /// <inheritdoc/>
    public void Dispose()
    {
        if (_process is { HasExited: false })
        {
            _process.Kill();
        }

        _process?.Dispose();
        _process = null;
    }

    private Process Start()
    {
        if (_process is { HasExited: false })
        {
            _process.Refresh();
            if (_process.WorkingSet64 < MemoryMax)
            {
                return _process;
            }
        }

        Dispose();
        ProcessStartInfo start = new("dotnet", [Path.Combine(folder, "TierSpaces.Mutants.dll"), MutantWorker.Argument, .. arguments])
        {
            RedirectStandardInput = true,
            RedirectStandardOutput = true,
        };
        start.Environment["DOTNET_TieredPGO"] = "0";
        return _process = Process.Start(start)!;
    }
}
