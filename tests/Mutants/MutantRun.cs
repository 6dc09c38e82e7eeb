using Mono.Cecil;
using TierSpaces.Simulation;

namespace TierSpaces.Mutants;

/// <summary>Result of a mutant.</summary>
/// <param name="Mutant">Which.</param>
/// <param name="Seeds">Seeds that reach its place and that it took until it was noticed; 0 when the simulator did not notice it.</param>
/// <param name="How">The complaint of the simulator or of a test; empty for none.</param>
public sealed record MutantResult(Mutant Mutant, int Seeds, string How)
{
    /// <summary>Whether anything complained.</summary>
    public bool IsNoticed => How.Length > 0;
}

/// <summary>Runs the simulator on an engine with mutants in it, one awake at a time, until it complains.</summary>
public sealed class MutantRun : IDisposable
{
    private static readonly TimeSpan s_patience = TimeSpan.FromSeconds(60);
    private static readonly string s_assemblies = Path.GetDirectoryName(typeof(CrashSimulation).Assembly.Location)!;

    private readonly string _folder = Directory.CreateTempSubdirectory("tsmutant").FullName;

    private readonly string[] _workerArguments;
    private readonly string _noticed;   // how an answer begins that says that the mutant was noticed

    /// <summary>Plants all mutants of the engine beside this program.</summary>
    public MutantRun()
        : this(static module => [.. MutantFinder.FindAll(module), .. MutantFinder.Find(module, Rules.OfOtherKinds)], [])
    {
    }

    private MutantRun(Func<ModuleDefinition, IReadOnlyList<MutantSite>> find, string[] workerArguments)
    {
        _workerArguments = workerArguments;
        _noticed = workerArguments.Contains(MutantWorker.InvariantsAlone) ? "violation " + MutantWorker.BrokenInvariant : "violation ";
        foreach (string name in new[] { "TierSpaces.Simulation.dll", "TierSpaces.Mutants.dll" })
        {
            File.Copy(Path.Combine(s_assemblies, name), Path.Combine(_folder, name));
        }

        File.Copy(Path.Combine(s_assemblies, "TierSpaces.Simulation.runtimeconfig.json"), Path.Combine(_folder, "TierSpaces.Mutants.runtimeconfig.json"));
        Mutants = MutantPlanter.PlantAll(Path.Combine(s_assemblies, "TierSpaces.Engine.dll"), Engine, find);
    }

    /// <summary>A run in which invariants of the engine alone have to notice: mutants of <see cref="InvariantMutants"/>, the oracle off.</summary>
    public static MutantRun OfInvariants() =>
        new(module => MutantFinder.Find(module, InvariantMutants.All.Select(static listed => listed.Mutant)), [MutantWorker.InvariantsAlone]);

    /// <summary>The planted engine.</summary>
    public string Engine => Path.Combine(_folder, "TierSpaces.Engine.dll");

    /// <summary>Its mutants, in the order of its code.</summary>
    public IReadOnlyList<Mutant> Mutants { get; }

    /// <summary>A process to ask.</summary>
    public MutantProcess NewProcess() => new(_folder, _workerArguments);

    /// <summary>Places that a seed reaches with no mutant awake; the engine as it is must not be complained about.</summary>
    public static async Task<HashSet<int>> ReachedAsync(MutantProcess process, ulong seed)
    {
        string answer = await process.AskAsync(0, seed, s_patience);
        return answer.StartsWith("ok", StringComparison.Ordinal)
            ? [.. answer.Split(' ', StringSplitOptions.RemoveEmptyEntries).Skip(1).Select(int.Parse)]
            : throw new InvalidOperationException($"The simulator complains about the engine itself, seed {seed}: {answer}");
    }

    /// <summary>Tries seeds until one notices.</summary>
    public async Task<MutantResult> RunAsync(MutantProcess process, Mutant mutant, IEnumerable<ulong> seeds)
    {
        int number = Mutants.ToList().IndexOf(mutant) + 1;
        if (number == 0)
        {
            throw new ArgumentException($"The engine has no mutant '{mutant.Name}'; -List names them.", nameof(mutant));
        }

        int tried = 0;
        foreach (ulong seed in seeds)
        {
            tried++;
            string answer = await process.AskAsync(number, seed, s_patience);
            if (answer.Contains("InvalidProgramException", StringComparison.Ordinal))
            {
                throw new InvalidOperationException($"{mutant.Name} was not planted well: {answer}");
            }

            if (answer.StartsWith(_noticed, StringComparison.Ordinal))
            {
                return new MutantResult(mutant, tried, answer["violation ".Length..]);
            }
        }

        return new MutantResult(mutant, 0, "");
    }

    /// <inheritdoc/>
    public void Dispose() => Directory.Delete(_folder, recursive: true);
}
