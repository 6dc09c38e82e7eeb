using System.Globalization;
using System.Text;

namespace TierSpaces.Mutants;

/// <summary>The table of docs/mutants.md.</summary>
public static class MutantTable
{
    private const string Test = "test `";

    /// <summary>Writes it, mutants in the order of the code, those that nothing can notice with their reasons below.</summary>
    public static string Write(IReadOnlyList<Mutant> mutants, ResultFile results)
    {
        StringBuilder text = new();
        Mutant[] equivalent = [.. mutants.Where(mutant => Equivalents.ReasonOf(mutant) is not null)];
        Mutant[] counted = [.. mutants.Except(equivalent)];
        text.Append("# Mutants\n\n")
            .Append("Each line is one rule of order taken out of the compiled engine (`./build.sh Mutate`; [testing.md](testing.md#mutants) says how): a step that\n")
            .Append("is left out, range locks that are not taken, a checksum that is not compared. *Seeds* counts the simulator's seeds that reach the place, up to\n")
            .Append("the one that complained; where the simulator sees nothing, a test of the engine does. Written by `-Table`, not by hand.\n\n")
            .Append($"{counted.Length} mutants, {counted.Count(results.IsKnown)} noticed; {equivalent.Length} more are equivalent to the engine as it is.\n\n")
            .Append("| Mutant | Kind | Seeds | Noticed as |\n|---|---|---|---|\n");
        foreach (Mutant mutant in counted)
        {
            MutantResult? result = results.Of(mutant);
            text.Append($"| `{mutant.Name}` | {Word(mutant.Kind)} | {(result is { Seeds: > 0 } ? result.Seeds : "")} | {(result is null ? "**no result yet**" : How(result))} |\n");
        }

        text.Append("\n## Equivalent\n\nTaking these out changes nothing that is promised; they stay for the reason given.\n\n| Mutant | Reason |\n|---|---|\n");
        foreach (Mutant mutant in equivalent)
        {
            text.Append($"| `{mutant.Name}` | {Equivalents.ReasonOf(mutant)} |\n");
        }

        text.Append("\n## The model's rules\n\nThe rules of durability were tried in explicit-state models of small spaces, with one rule after the other removed, before the engine was\n")
            .Append("written. These mutants remove them from the engine; some rules are no step that could be left out.\n\n| Rule | Its mutants, or what keeps it |\n|---|---|\n");
        foreach ((string rule, string[] removedBy, string instead) in Rules.All)
        {
            text.Append($"| {rule} | {(instead.Length > 0 ? instead : string.Join(", ", removedBy.Select(name => $"`{name}`")))} |\n");
        }

        return text.ToString();
    }

    /// <summary>Reads the results of a table that was written before, of the mutants that there are still.</summary>
    public static IEnumerable<MutantResult> Read(string table, IReadOnlyList<Mutant> mutants)
    {
        Dictionary<string, Mutant> byName = mutants.ToDictionary(static mutant => mutant.Name);
        foreach (string line in table.Split('\n').Where(static line => line.StartsWith("| `", StringComparison.Ordinal)))
        {
            if (line[..^2].Split(" | ") is [string name, _, string seeds, string how] && !how.StartsWith("**", StringComparison.Ordinal)
                && byName.TryGetValue(name[3..^1], out Mutant? mutant))
            {
                yield return new MutantResult(
                    mutant, int.TryParse(seeds, NumberStyles.None, CultureInfo.InvariantCulture, out int tried) ? tried : 0,
                    how.StartsWith(Test, StringComparison.Ordinal) ? how[Test.Length..^1] : how);
            }
        }
    }

    private static string Word(MutantKind kind) => kind switch
    {
        MutantKind.SkippedStep => "step",
        MutantKind.DroppedLock => "locks",
        MutantKind.BlindCheck => "checksum",
        MutantKind.SkippedCall => "call",
        MutantKind.TakenForFalse or MutantKind.TakenForTrue => "question",
        _ => "count",
    };

    /// <summary>Without the seed and the scenario, whose text says in which world it was, and cut where it says enough.</summary>
    private static string How(MutantResult result)
    {
        if (result.Seeds == 0)
        {
            return $"{Test}{result.How}`";
        }

        int world = result.How.LastIndexOf("}: ", StringComparison.Ordinal);
        string how = (world < 0 ? result.How : result.How[(world + 3)..]).Replace("|", "/", StringComparison.Ordinal);
        return how.Length <= 110 ? how : $"{how[..110]}…";
    }
}
