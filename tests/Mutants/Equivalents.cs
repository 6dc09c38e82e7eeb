namespace TierSpaces.Mutants;

/// <summary>Mutants that nothing can notice, because what is left out makes no difference to what is promised; each with the reason.</summary>
public static class Equivalents
{
    private static readonly Dictionary<string, string> s_reasons = Read();

    /// <summary>Why a mutant is no fault, or null.</summary>
    public static string? ReasonOf(Mutant mutant) => s_reasons.GetValueOrDefault(mutant.Name);

    /// <summary>Entries that name no mutant any more; said on the console.</summary>
    public static int Unknown(IReadOnlyList<Mutant> mutants)
    {
        string[] unknown = [.. s_reasons.Keys.Except(mutants.Select(mutant => mutant.Name))];
        Array.ForEach(unknown, name => Console.WriteLine($"Equivalents.txt names no mutant: {name}"));
        return unknown.Length;
    }

    private static Dictionary<string, string> Read()
    {
        using StreamReader reader = new(typeof(Equivalents).Assembly.GetManifestResourceStream("Equivalents.txt")!);
        return reader.ReadToEnd().Split('\n', StringSplitOptions.RemoveEmptyEntries)
            .Select(line => line.Split(" | ")).ToDictionary(parts => parts[0], parts => parts[1]);
    }
}
