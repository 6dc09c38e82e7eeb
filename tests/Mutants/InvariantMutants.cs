namespace TierSpaces.Mutants;

/// <summary>
/// Mutants of counts and of state in memory: a count off by one, a slab freed twice, a page let go twice, a stale snapshot used. Each has to be noticed by an
/// invariant of the engine alone, with the oracle off. <c>Invariants.txt</c> lists them by layer.
/// </summary>
public static class InvariantMutants
{
    /// <summary>Layer and mutant, in the order of the list.</summary>
    public static IReadOnlyList<(string Layer, Mutant Mutant)> All { get; } = Read();

    private static (string, Mutant)[] Read()
    {
        using StreamReader reader = new(typeof(InvariantMutants).Assembly.GetManifestResourceStream("Invariants.txt")!);
        return [.. reader.ReadToEnd().Split('\n', StringSplitOptions.RemoveEmptyEntries).Select(static line => line.Split(" | "))
            .Select(static parts => (parts[0], Mutant.Parse(Enum.Parse<MutantKind>(parts[1]), parts[2])))];
    }
}
