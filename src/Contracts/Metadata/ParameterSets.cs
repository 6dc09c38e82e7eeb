namespace TierSpaces.Contracts;

/// <summary>
/// Chooses the parameter set of a call, as PowerShell's binder does: a set fits when it contains everything that was given; it is
/// complete when everything it requires was given or has a default. Used by the command line and, for every request whatever
/// its origin, by the host.
/// </summary>
public static class ParameterSets
{
    /// <summary>
    /// Sets of the verb that contain all given parameters; a verb without sets has one, named by the empty text. The default set of a verb
    /// that only reads counts even if no parameter mentions it.
    /// </summary>
    public static string[] Fitting(VerbDescription verb, IReadOnlyCollection<ParameterDescription> given)
    {
        bool countsDefault = !verb.Verb.ChangesState && verb.Verb.DefaultSet.Length > 0;
        string[] sets = verb.Parameters.SelectMany(parameter => parameter.Sets).Union(countsDefault ? [verb.Verb.DefaultSet] : []).ToArray();
        return (sets.Length == 0 ? [""] : sets).Where(set => given.All(parameter => parameter.IsIn(set))).ToArray();
    }

    /// <summary>Returns the parameter set of the call, or the reason why there is none.</summary>
    /// <param name="verb">The verb.</param>
    /// <param name="given">Parameters that were given.</param>
    /// <param name="problem">Reason why no set fits, in words; empty when one does.</param>
    /// <returns>Name of the set; null when <paramref name="problem"/> gives the reason.</returns>
    public static string? Choose(VerbDescription verb, IReadOnlyCollection<ParameterDescription> given, out string problem)
    {
        problem = "";
        string[] fitting = Fitting(verb, given);
        if (fitting.Length == 0)
        {
            problem = DescribeConflict(given);
            return null;
        }

        string[] complete = fitting.Where(set => !Missing(verb, given, set).Any()).ToArray();
        if (complete.Length == 0)
        {
            problem = DescribeMissing(verb, given, fitting);
            return null;
        }

        return complete.Contains(verb.Verb.DefaultSet) ? verb.Verb.DefaultSet : complete[0];
    }

    private static IEnumerable<ParameterDescription> Missing(
        VerbDescription verb, IReadOnlyCollection<ParameterDescription> given, string set) =>
        verb.Parameters.Where(parameter => parameter.Attribute is { Required: true, Default.Length: 0 })
            .Where(parameter => parameter.IsIn(set) && !given.Contains(parameter));

    private static string DescribeConflict(IReadOnlyCollection<ParameterDescription> given)
    {
        foreach (ParameterDescription one in given)
        {
            ParameterDescription? other = given.FirstOrDefault(candidate => !Meet(one, candidate));
            if (other is not null)
            {
                return $"-{one.Name} and -{other.Name} cannot be given together.";
            }
        }

        return $"{string.Join(", ", given.Select(parameter => "-" + parameter.Name))} cannot be given together.";
    }

    private static bool Meet(ParameterDescription one, ParameterDescription other) =>
        one.Sets.Length == 0 || other.Sets.Length == 0 || one.Sets.Any(other.IsIn);

    private static string DescribeMissing(
        VerbDescription verb, IReadOnlyCollection<ParameterDescription> given, string[] fitting)
    {
        string[][] lists = fitting
            .Select(set => Missing(verb, given, set).Select(parameter => "-" + parameter.Name).ToArray()).ToArray();
        string[] common = lists.Aggregate((a, b) => a.Intersect(b).ToArray());
        if (common.Length > 0)
        {
            return $"{string.Join(" and ", common)} must be given.";
        }

        IEnumerable<string> alternatives = lists.Where(list => list.Length == lists.Min(other => other.Length))
            .Select(list => string.Join(" with ", list)).Distinct();
        return $"One of {string.Join(", ", alternatives)} must be given.";
    }
}
