using System.Globalization;
using System.Reflection;
using TierSpaces.Engine.Primitives;
using TierSpaces.Simulation;

namespace TierSpaces.Mutants;

/// <summary>
/// The side of a run that is in one process with the planted engine. Each line asks for one mutant and one seed, "7 120"; the answer is
/// "violation " and what was wrong, or "ok" and the numbers of the places that were reached.
/// </summary>
public static class MutantWorker
{
    /// <summary>Argument that makes the program a worker.</summary>
    public const string Argument = "-Worker";

    /// <summary>Argument that turns the oracle off: only a broken invariant of the engine is a violation.</summary>
    public const string InvariantsAlone = "-Invariants";

    /// <summary>Prefix of the message of a broken invariant.</summary>
    internal const string BrokenInvariant = "invariant: ";

    /// <summary>Answers until its input ends.</summary>
    public static int Run(TextReader requests, TextWriter answers, bool invariantsAlone)
    {
        string? broken = null;
        Invariant.WhenBroken = found => broken ??= BrokenInvariant + found.Message;
        Type switches = typeof(IoError).Assembly.GetType(MutantPlanter.Switches, throwOnError: true)!;
        FieldInfo awake = switches.GetField("Awake")!;
        bool[] reached = (bool[])switches.GetField("Reached")!.GetValue(null)!;
        while (requests.ReadLine() is { } request)
        {
            string[] words = request.Split(' ');
            ulong seed = ulong.Parse(words[1], CultureInfo.InvariantCulture);
            Array.Clear(reached);
            awake.SetValue(null, int.Parse(words[0], CultureInfo.InvariantCulture));
            broken = null;
            string? violation = Simulate(seed);
            violation = invariantsAlone ? broken : violation;
            answers.WriteLine(violation is not null
                ? $"violation {violation.ReplaceLineEndings(" ")}"
                : $"ok {string.Join(' ', Enumerable.Range(1, reached.Length - 1).Where(i => reached[i]))}");
            answers.Flush();
        }

        return 0;
    }

    private static string? Simulate(ulong seed)
    {
        try
        {
            return CrashSimulation.Run(ScenarioOf(seed), seed).Violation;
        }
        catch (InvariantException broken)
        {
            return broken.Message;
        }
    }

    /// <summary>Seeds go round all scenarios, as in the simulator's own runs from seed 1.</summary>
    private static SpaceScenario ScenarioOf(ulong seed) => SpaceScenario.All[(int)((seed - 1) % (ulong)SpaceScenario.All.Count)];
}
