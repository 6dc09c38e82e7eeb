namespace TierSpaces.Contracts;

/// <summary>Completions of the value of a parameter while it is typed, in PowerShell and in other shells.</summary>
public static class Completion
{
    private const string FriendlyName = "FriendlyName";
    private const string UniqueId = "UniqueId";
    private const string Name = "Name";

    /// <summary>The class whose objects a parameter names; null when it names none that exist.</summary>
    /// <param name="verb">The verb.</param>
    /// <param name="parameter">One of its parameters.</param>
    public static string? ClassOf(VerbDescription verb, ParameterDescription parameter)
    {
        if (parameter.Attribute.ObjectClass.Length > 0)
        {
            return parameter.Attribute.ObjectClass;
        }

        if (parameter.Attribute.NamedClass.Length > 0)
        {
            return parameter.Attribute.NamedClass;
        }

        string[] parts = verb.Name.Split('-');
        string? suffix = new[] { FriendlyName, UniqueId, Name }.FirstOrDefault(end => parameter.Name.EndsWith(end, StringComparison.Ordinal));
        if (suffix is null || IsNew(parts[0], parameter.Name))
        {
            return null;
        }

        string noun = parameter.Name[..^suffix.Length];
        return noun.Length == 0 && verb.Verb.SelectedClass.Length > 0 ? verb.Verb.SelectedClass : "MSFT_" + (noun.Length > 0 ? noun : parts[1]);
    }

    /// <summary>Whether it takes identifiers rather than names.</summary>
    public static bool TakesIdentifiers(ParameterDescription parameter) =>
        parameter.Attribute.ObjectClass.Length == 0 && parameter.Name.EndsWith(UniqueId, StringComparison.Ordinal);

    /// <summary>Whether there may be something to offer that a shell does not know by itself.</summary>
    public static bool IsOffered(VerbDescription verb, ParameterDescription parameter) =>
        parameter.Suggestions.Length > 0
        || (ClassOf(verb, parameter) is { } windowsClass && VerbDescription.Find("Get-" + windowsClass.Split('_')[^1]) is not null);

    /// <summary>A name that is given, not one that exists.</summary>
    private static bool IsNew(string verb, string parameter) =>
        parameter.StartsWith("New", StringComparison.Ordinal)
        || (parameter == FriendlyName && (verb is "New" or "Register"));
}
