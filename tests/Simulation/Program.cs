using System.Diagnostics;
using TierSpaces.Simulation;

// Simulate -Seeds N -Seed S: runs N seeds from S over all scenarios, shows progress, ends in one line of counts.
int seeds = Argument("-Seeds", 200);
ulong first = (ulong)Argument("-Seed", 1);
int only = Argument("-Scenario", -1);
bool stopAtFirst = args.Contains("-StopAtFirst");
IReadOnlyList<SpaceScenario> scenarios = [.. SpaceScenario.All.Where(scenario => !args.Contains("-SpacesOnly") || !scenario.IsWholePool)];
long states = 0;
int violations = 0;
ulong hash = 0;
Stopwatch clock = Stopwatch.StartNew();
for (int i = 0; i < seeds; i++)
{
    SpaceScenario scenario = scenarios[only >= 0 ? only : i % scenarios.Count];
    SimulationResult result = CrashSimulation.Run(scenario, first + (ulong)i);
    states += result.CrashStates;
    hash = (hash ^ result.TraceHash) * 1099511628211;
    if (result.Violation is not null)
    {
        violations++;
        Console.WriteLine($"violation: {result.Violation}");
        Console.WriteLine($"replay: ./build.sh Simulate -Seeds 1 -Seed {first + (ulong)i} -Scenario {scenarios.ToList().IndexOf(scenario)}");
    }

    if (violations > 0 && stopAtFirst)
    {
        return 1;
    }

    if (i % 50 == 49)
    {
        Console.WriteLine($"{i + 1} seeds, {states} crash states, {violations} violations, {clock.Elapsed.TotalSeconds:F0} s");
    }
}

foreach ((string what, long count) in CrashSimulation.Sometimes)
{
    Console.WriteLine($"sometimes {what}: {count}");
}

Console.WriteLine($"{seeds} seeds, {states} crash states, {violations} violations, trace {hash:x16}");
return violations == 0 ? 0 : 1;

int Argument(string name, int otherwise)
{
    int at = Array.FindIndex(args, arg => string.Equals(arg, name, StringComparison.OrdinalIgnoreCase));
    return at >= 0 && at + 1 < args.Length ? int.Parse(args[at + 1], System.Globalization.CultureInfo.InvariantCulture) : otherwise;
}
