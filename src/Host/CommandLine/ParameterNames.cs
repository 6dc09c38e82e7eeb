using TierSpaces.Contracts;

namespace TierSpaces.Host.CommandLine;

/// <summary>
/// Finds the parameter a name means, as PowerShell does: any case, full name, alias, or a prefix that fits one parameter only. A
/// prefix that fits a documented parameter is never made ambiguous by one of ours.
/// </summary>
internal static class ParameterNames
{
    /// <summary>The full name of the verb's or a common parameter.</summary>
    /// <exception cref="UsageException">No parameter fits, or several do.</exception>
    public static string Resolve(VerbDescription verb, string typed)
    {
        string? exact = verb.Parameters.FirstOrDefault(parameter => Names(parameter).Any(name => Same(name, typed)))?.Name
            ?? CommonParameters.Of(verb).FirstOrDefault(name => Same(name, typed));
        return exact ?? ByPrefix(verb, typed);
    }

    private static string ByPrefix(VerbDescription verb, string typed)
    {
        ParameterDescription[] fitting = verb.Parameters.Where(parameter => Names(parameter).Any(name => Begins(name, typed))).ToArray();
        string[] documented = fitting.Where(parameter => !parameter.Attribute.IsOurs).Select(parameter => parameter.Name).ToArray();
        string[] ours = fitting.Where(parameter => parameter.Attribute.IsOurs).Select(parameter => parameter.Name)
            .Concat(CommonParameters.Of(verb).Where(name => Begins(name, typed))).ToArray();
        string[] candidates = documented.Length > 0 ? documented : ours;
        return candidates.Length switch
        {
            1 => candidates[0],
            0 => throw new UsageException(Unknown(verb, typed)),
            _ => throw new UsageException(
                $"-{typed} is ambiguous. Possible matches: {string.Join(", ", candidates.Select(name => "-" + name))}."),
        };
    }

    private static string Unknown(VerbDescription verb, string typed)
    {
        string[] near = verb.Parameters.Select(parameter => parameter.Name).Concat(CommonParameters.Of(verb))
            .Where(name => name.Contains(typed, StringComparison.OrdinalIgnoreCase) || Distance(name, typed) <= 2)
            .Select(name => "-" + name).ToArray();
        return $"There is no parameter -{typed}."
            + (near.Length > 0 ? $" Did you mean {string.Join(" or ", near)}?" : $" 'tierspaces {verb.Name} --help' lists them.");
    }

    private static IEnumerable<string> Names(ParameterDescription parameter) => parameter.Aliases.Prepend(parameter.Name);

    private static bool Same(string name, string typed) => name.Equals(typed, StringComparison.OrdinalIgnoreCase);

    private static bool Begins(string name, string typed) => name.StartsWith(typed, StringComparison.OrdinalIgnoreCase);

    /// <summary>Edits between two names (Levenshtein), for "did you mean".</summary>
    private static int Distance(string a, string b)
    {
        int[] row = Enumerable.Range(0, b.Length + 1).ToArray();
        for (int i = 1; i <= a.Length; i++)
        {
            int diagonal = row[0];
            row[0] = i;
            for (int j = 1; j <= b.Length; j++)
            {
                int substitute = diagonal + (char.ToLowerInvariant(a[i - 1]) == char.ToLowerInvariant(b[j - 1]) ? 0 : 1);
                diagonal = row[j];
                row[j] = Math.Min(substitute, Math.Min(row[j], row[j - 1]) + 1);
            }
        }

        return row[b.Length];
    }
}
