using System.Diagnostics;
using System.Globalization;
using TierSpaces.Simulation;

// Simulate [-Seeds N] [-Seed S] [-Scenario K] [-SpacesOnly] [-Density F] [-WhileMoving] [-Jobs N] [-StopAtFirst]: runs N seeds from S round all scenarios, side
// by side, shows progress, and ends in one line of counts; the same arguments give the same trace. -Density 7 stops each seed's world at seven
// times as many points: more crash states for the time, fewer different loads. -WhileMoving stops it only while slices move. With -StopAtFirst one seed
// follows the other and the first violation ends the run. -Scenario with a number beyond them takes one of those that lose too many disks.
int seeds = Argument("-Seeds", 200);
ulong first = (ulong)Argument("-Seed", 1);
int only = Argument("-Scenario", -1);
int density = Argument("-Density", 1);
bool stopAtFirst = Has("-StopAtFirst");
int jobs = stopAtFirst ? 1 : Argument("-Jobs", Environment.ProcessorCount);
SpaceScenario[] scenarios = [.. SpaceScenario.All.Where(scenario => !Has("-SpacesOnly") || !scenario.IsWholePool)];
SimulationResult[] results = new SimulationResult[seeds];
object gate = new();
int ended = 0;
long states = 0;
int violations = 0;
Stopwatch clock = Stopwatch.StartNew();
Parallel.For(0, seeds, new ParallelOptions { MaxDegreeOfParallelism = jobs }, (i, loop) =>
{
    SpaceScenario scenario = ScenarioOf(i);
    SimulationResult result = results[i] = CrashSimulation.Run(
        scenario, first + (ulong)i, forkChance: CrashSimulation.ForkChance * density, whileMoving: Has("-WhileMoving"));
    lock (gate)
    {
        states += result.CrashStates;
        if (result.Violation is not null)
        {
            violations++;
            Console.WriteLine($"violation: {result.Violation}");
            Console.WriteLine($"replay: ./build.sh Simulate -Seeds 1 -Seed {first + (ulong)i} -Scenario {IndexOf(scenario)}{(density == 1 ? "" : $" -Density {density}")}{(Has("-WhileMoving") ? " -WhileMoving" : "")}");
        }

        if (++ended % 50 == 0)
        {
            Console.WriteLine($"{ended} seeds, {states} crash states, {violations} violations, {clock.Elapsed.TotalSeconds:F0} s");
        }
    }

    if (result.Violation is not null && stopAtFirst)
    {
        loop.Stop();
    }
});

foreach ((string what, long count) in CrashSimulation.Sometimes)
{
    Console.WriteLine($"sometimes {what}: {count}");
}

FaultPair.Report(seeds >= 2000 ? 20 : 1).ForEach(Console.WriteLine);

// By seed, whatever the order in which they ended.
ulong hash = results.OfType<SimulationResult>().Aggregate(0UL, (sum, result) => (sum ^ result.TraceHash) * 1099511628211);
Console.WriteLine($"{seeds} seeds, {states} crash states, {violations} violations, trace {hash:x16}");
return violations == 0 ? 0 : 1;

SpaceScenario ScenarioOf(int i) =>
    only < 0 ? scenarios[i % scenarios.Length] : only < scenarios.Length ? scenarios[only] : SpaceScenario.Losses[only - scenarios.Length];

int IndexOf(SpaceScenario scenario) => scenarios.Concat(SpaceScenario.Losses).ToList().IndexOf(scenario);

bool Has(string name) => args.Contains(name, StringComparer.OrdinalIgnoreCase);

int Argument(string name, int otherwise)
{
    int at = Array.FindIndex(args, arg => string.Equals(arg, name, StringComparison.OrdinalIgnoreCase));
    return at >= 0 && at + 1 < args.Length ? int.Parse(args[at + 1], CultureInfo.InvariantCulture) : otherwise;
}
