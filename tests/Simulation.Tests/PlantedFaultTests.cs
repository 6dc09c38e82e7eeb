using TierSpaces.Mutants;

namespace TierSpaces.Simulation.Tests;

/// <summary>
/// Takes one wait, flush or commit at a time out of the compiled engine and lets the simulator look for the loss: a simulator that does not
/// notice a planted fault proves nothing when it is silent. These are a few; <c>./build.sh Mutate</c> goes through all of them.
/// </summary>
public sealed class PlantedFaultTests(PlantedFaultTests.PlantedEngine engine) : IClassFixture<PlantedFaultTests.PlantedEngine>
{
    private const int SeedsMax = 400;

    public static TheoryData<string, Mutant> Faults => new()
    {
        { "data is not flushed before the entries of first writes", Skipped("SpaceFlusher", "FlushRound", "FlushDisks", 1) },
        { "a flush is acknowledged without flushing", Skipped("SpaceFlusher", "FlushRound", "FlushDisks", 2) },
        { "the dirty mark is not durable before the write", Skipped("RegionMap", "Mark", "Commit", 0) },
        { "blank pages are not flushed before the map is committed", Skipped("RowMaker", "MakeRow", "FlushDisks", 0) },
        { "members are not flushed before their first read", Skipped("SpaceOpening", "Open", "FlushDisks", 0) },
    };

    [Theory]
    [MemberData(nameof(Faults))]
    public async Task A_planted_order_fault_is_noticed(string fault, Mutant mutant)
    {
        MutantResult result = await engine.Run.RunAsync(engine.Process, mutant, Enumerable.Range(1, SeedsMax).Select(seed => (ulong)seed));
        Assert.True(result.IsNoticed && result.How.StartsWith("seed ", StringComparison.Ordinal),
            $"Not noticed within {SeedsMax} seeds: {fault}. {result.How}");
    }

    /// <summary>One mutant of each layer; <c>./build.sh Mutate -Invariants</c> goes through all of them.</summary>
    public static TheoryData<string, Mutant> Miscounts =>
        [.. InvariantMutants.All.GroupBy(
            static listed => listed.Layer, static (layer, listed) => new TheoryDataRow<string, Mutant>(layer, listed.First().Mutant))];

    [Theory]
    [MemberData(nameof(Miscounts))]
    public async Task A_planted_miscount_is_noticed_by_an_invariant_alone(string layer, Mutant mutant)
    {
        MutantResult result = await engine.Invariants.RunAsync(engine.InvariantsProcess, mutant, Enumerable.Range(1, SeedsMax).Select(seed => (ulong)seed));
        Assert.True(result.IsNoticed, $"{layer}: no invariant notices {mutant.Name} within {SeedsMax} seeds.");
    }

    /// <summary>Names in the lists exist: a step that was renamed takes its rule, or its reason, with it.</summary>
    [Fact]
    public void Every_mutant_that_a_list_names_is_found_in_the_engine()
    {
        Assert.Equal(0, Rules.Unknown(engine.Run.Mutants));
        Assert.Equal(0, Equivalents.Unknown(engine.Run.Mutants));
    }

    [Fact]
    public void Every_layer_has_five_mutants_that_an_invariant_notices() => Assert.All(
        (string[])["Pools", "Journals", "Resiliency", "Caching", "Tiering"], static layer =>
            Assert.True(InvariantMutants.All.Count(listed => listed.Layer == layer) >= 5, layer));

    private static Mutant Skipped(string type, string method, string callee, int index) => new(MutantKind.SkippedStep, type, method, callee, index);

    /// <summary>An engine with all mutants in it, and a process that has it loaded.</summary>
    public sealed class PlantedEngine : IDisposable
    {
        public PlantedEngine()
        {
            Run = new MutantRun();
            Process = Run.NewProcess();
            Invariants = MutantRun.OfInvariants();
            InvariantsProcess = Invariants.NewProcess();
        }

        public MutantRun Run { get; }

        public MutantProcess Process { get; }

        /// <summary>The engine with the mutants that an invariant has to notice, the oracle off.</summary>
        public MutantRun Invariants { get; }

        public MutantProcess InvariantsProcess { get; }

        public void Dispose()
        {
            Process.Dispose();
            InvariantsProcess.Dispose();
            Run.Dispose();
            Invariants.Dispose();
        }
    }
}
