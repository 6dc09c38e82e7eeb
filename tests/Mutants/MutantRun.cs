using System.Diagnostics;
using System.Globalization;
using TierSpaces.Simulation;

namespace TierSpaces.Mutants;

/// <summary>How a mutant fared.</summary>
/// <param name="Mutant">Which.</param>
/// <param name="Seeds">Seeds that it took until it was noticed; 0 when it was not.</param>
/// <param name="How">The first words of what was noticed.</param>
public sealed record MutantResult(Mutant Mutant, int Seeds, string How)
{
    /// <summary>Whether the simulator complained.</summary>
    public bool IsNoticed => Seeds > 0;
}

/// <summary>Runs the simulator on an engine with one mutant in it, until it complains.</summary>
public static class MutantRun
{
    private static readonly string s_assemblies = Path.GetDirectoryName(typeof(CrashSimulation).Assembly.Location)!;

    /// <summary>The engine without mutants.</summary>
    public static string Engine { get; } = Path.Combine(s_assemblies, "TierSpaces.Engine.dll");

    /// <summary>
    /// Runs one; a run that neither ends nor complains within <paramref name="patience"/> of processor time has been noticed too: it
    /// hangs where the engine does not. Time on the clock would also count what else the machine does.
    /// </summary>
    public static async Task<MutantResult> RunAsync(Mutant mutant, int seeds, TimeSpan patience)
    {
        string folder = Directory.CreateTempSubdirectory("tsmutant").FullName;
        try
        {
            foreach (string name in new[] { "TierSpaces.Simulation.dll", "TierSpaces.Simulation.runtimeconfig.json" })
            {
                File.Copy(Path.Combine(s_assemblies, name), Path.Combine(folder, name));
            }

            MutantPlanter.Plant(Engine, Path.Combine(folder, "TierSpaces.Engine.dll"), mutant);
            return await SimulateAsync(mutant, Path.Combine(folder, "TierSpaces.Simulation.dll"), seeds, patience);
        }
        finally
        {
            Directory.Delete(folder, recursive: true);
        }
    }

    private static async Task<MutantResult> SimulateAsync(Mutant mutant, string simulation, int seeds, TimeSpan patience)
    {
        ProcessStartInfo start = new("dotnet", [simulation, "-Seeds", seeds.ToString(CultureInfo.InvariantCulture), "-StopAtFirst"])
        {
            RedirectStandardOutput = true,
            RedirectStandardError = true,
        };
        start.Environment["DOTNET_TieredPGO"] = "0";   // most runs are short
        using Process process = Process.Start(start)!;
        Task<string> output = process.StandardOutput.ReadToEndAsync();
        Task<string> errors = process.StandardError.ReadToEndAsync();
        Task ended = process.WaitForExitAsync();
        while (await Task.WhenAny(ended, Task.Delay(500)) != ended)
        {
            if (process.TotalProcessorTime > patience)
            {
                process.Kill();
                return new MutantResult(mutant, Seeds: 1, $"does not end within {patience.TotalSeconds:F0} s of processor time");
            }
        }

        string? violation = (await output).Split('\n').FirstOrDefault(line => line.StartsWith("violation: ", StringComparison.Ordinal));
        return violation is not null ? new MutantResult(mutant, SeedOf(violation), violation["violation: ".Length..])
            : process.ExitCode != 0 ? new MutantResult(mutant, 1, $"the process died: {(await errors).Split('\n')[0]}")
            : new MutantResult(mutant, 0, "");
    }

    /// <summary>Runs begin at seed 1: the seed of a violation is the number of seeds that it took.</summary>
    private static int SeedOf(string violation) =>
        int.Parse(violation["violation: seed ".Length..].Split(',')[0], CultureInfo.InvariantCulture);
}
