
namespace TierSpaces.Simulation.Tests;

public class CrashSimulationTests
{
    public static TheoryData<int> Scenarios => [.. Enumerable.Range(0, SpaceScenario.All.Count)];

    [Theory]
    [MemberData(nameof(Scenarios))]
    public void The_same_seed_gives_the_same_order_of_events(int scenario)
    {
        SimulationResult once = CrashSimulation.Run(SpaceScenario.All[scenario], 42, operations: 30);
        SimulationResult again = CrashSimulation.Run(SpaceScenario.All[scenario], 42, operations: 30);
        Assert.Equal((once.TraceHash, once.CrashStates), (again.TraceHash, again.CrashStates));
        Assert.Null(once.Violation);
    }

    [Fact]
    public void The_hard_cases_are_reached()
    {
        for (ulong seed = 0; seed < 24; seed++)
        {
            CrashSimulation.Run(SpaceScenario.All[(int)seed % SpaceScenario.All.Count], 900 + seed);
        }

        foreach (string what in new[]
        {
            "power cut at depth 2", "process crash at depth 2", "region resynced", "read with one disk pulled", "disk pulled",
            "unlogged first write kept after a process crash",
        })
        {
            Assert.True(CrashSimulation.Sometimes.GetValueOrDefault(what) > 0, $"never: {what}");
        }
    }
}
