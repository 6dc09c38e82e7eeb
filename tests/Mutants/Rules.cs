namespace TierSpaces.Mutants;

/// <summary>
/// The rules of durability whose explicit-state models were run with one rule after the other removed, each with the mutants that remove it
/// from the engine. If a rule is not a step that could be left out, its row says what enforces it. A mutant of another kind than those that are found by
/// themselves has its kind before its name.
/// </summary>
public static class Rules
{
    private const string NoMutant = "- ";

    private static readonly List<Mutant> s_ofOtherKinds = [];

    /// <summary>Rule, its mutants, and the text that replaces them if it has none.</summary>
    public static IReadOnlyList<(string Rule, string[] Mutants, string Instead)> All { get; } = Read();

    /// <summary>Mutants that rules name with their kind.</summary>
    public static IReadOnlyList<Mutant> OfOtherKinds => s_ofOtherKinds;

    /// <summary>Mutants that a rule names and that are none any more; said on the console.</summary>
    public static int Unknown(IReadOnlyList<Mutant> mutants)
    {
        string[] unknown = [.. All.SelectMany(rule => rule.Mutants).Except(mutants.Select(mutant => mutant.Name))];
        Array.ForEach(unknown, name => Console.WriteLine($"Rules.txt names no mutant: {name}"));
        return unknown.Length;
    }

    private static (string, string[], string)[] Read()
    {
        using StreamReader reader = new(typeof(Rules).Assembly.GetManifestResourceStream("Rules.txt")!);
        return [.. reader.ReadToEnd().Split('\n', StringSplitOptions.RemoveEmptyEntries).Select(line => line.Split(" | ")).Select(parts =>
            parts[1].StartsWith(NoMutant, StringComparison.Ordinal) ? (parts[0], (string[])[], parts[1][NoMutant.Length..])
                : (parts[0], Array.ConvertAll(parts[1].Split("; "), NameOf), ""))];
    }

    /// <summary>The name of "Type.Method: Callee #1" or "Kind Type.Method: Callee #1".</summary>
    private static string NameOf(string listed)
    {
        int space = listed.IndexOf(' ', StringComparison.Ordinal);
        if (!Enum.TryParse(listed[..space], out MutantKind kind))
        {
            return listed;
        }

        Mutant mutant = Mutant.Parse(kind, listed[(space + 1)..]);
        if (!s_ofOtherKinds.Contains(mutant))
        {
            s_ofOtherKinds.Add(mutant);
        }

        return mutant.Name;
    }
}
