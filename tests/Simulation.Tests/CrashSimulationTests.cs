
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

    /// <summary>Seeds that once showed a bug, each with what it was.</summary>
    public static TheoryData<int, ulong, string> FormerFailures => new()
    {
        { 13, 1114, "a repair passed over blocks whose unmapping was not durable yet, and the copy counted as whole" },
        { 3, 5039, "a writeback that began while a row was freed missed its pages on their disks and put the disks out" },
        { 39, 328, "the target of a move that was stopped got another row before a client's write to it had ended" },
        { 34, 305, "a line of which one block was away and its parity torn stayed without the redundancy that its other disks had" },
        { 55, 42, "a record of an earlier session was written to the log again after the entry that had settled its block" },
        { 64, 923, "a zeroing whose record had outlived the flush after a newer write undid that write when the disks had lost their caches" },
    };

    [Theory]
    [MemberData(nameof(FormerFailures))]
    public void A_bug_that_was_found_stays_away(int scenario, ulong seed, string bug)
    {
        SimulationResult result = CrashSimulation.Run(SpaceScenario.All[scenario], seed);
        Assert.True(result.Violation is null, $"{bug}: {result.Violation}");
    }

    public static TheoryData<int> Losses => [.. Enumerable.Range(0, SpaceScenario.Losses.Count)];

    [Theory]
    [MemberData(nameof(Losses))]
    public void A_virtual_disk_that_loses_too_many_disks_gives_everything_back_with_them(int scenario)
    {
        const int seeds = 8;
        long states = 0;
        for (ulong seed = 1; seed <= seeds; seed++)
        {
            SimulationResult result = CrashSimulation.Run(SpaceScenario.Losses[scenario], seed);
            Assert.Null(result.Violation);
            states += result.CrashStates;
        }

        Assert.True(states > seeds);
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
