using TierSpaces.Contracts;

namespace TierSpaces.Host.CommandLine;

/// <summary>
/// Arguments of a verb on the command line, with PowerShell's rules: <c>-Name value</c>, <c>-Name:value</c>, switches, lists with commas (also split
/// over tokens at a comma), and values without a name by position. Invariant: every key is a full parameter name, given once.
/// </summary>
internal sealed class VerbArguments
{
    private readonly VerbDescription _verb;
    private readonly Dictionary<string, string> _values = [];
    private readonly List<string> _unnamed = [];

    private VerbArguments(VerbDescription verb) => _verb = verb;

    /// <summary>Text of each given parameter by its full name; a switch without a value has <c>$true</c>.</summary>
    public IReadOnlyDictionary<string, string> Values => _values;

    /// <summary>The verb's own parameters that were given.</summary>
    public ParameterDescription[] Given => _verb.Parameters.Where(parameter => _values.ContainsKey(parameter.Name)).ToArray();

    /// <summary>Whether a switch or Boolean parameter was given and is true.</summary>
    public bool IsOn(string name) => _values.TryGetValue(name, out string? text) && ValueText.ReadBoolean(name, text);

    /// <summary>Reads the tokens after a verb.</summary>
    /// <exception cref="UsageException">They do not fit the verb.</exception>
    public static VerbArguments Read(VerbDescription verb, IReadOnlyList<string> tokens)
    {
        VerbArguments arguments = new VerbArguments(verb);
        for (int at = 0; at < tokens.Count;)
        {
            if (IsName(tokens[at]))
            {
                arguments.ReadNamed(tokens, ref at);
            }
            else
            {
                arguments._unnamed.Add(ReadValue(tokens, ref at));
            }
        }

        arguments.PlaceUnnamed();
        return ParameterSets.Choose(verb, arguments.Given, out string? problem) is null
            ? throw new UsageException(problem)
            : arguments;
    }

    /// <summary>A dash (also a typographic one, or two) and a letter.</summary>
    private static bool IsName(string token)
    {
        int dashes = token.TakeWhile(c => c is '-' or '\u2013' or '\u2014' or '\u2015').Count();
        return dashes is 1 or 2 && token.Length > dashes && char.IsLetter(token[dashes]);
    }

    private void ReadNamed(IReadOnlyList<string> tokens, ref int at)
    {
        string token = tokens[at++].TrimStart('-', '\u2013', '\u2014', '\u2015');
        int colon = token.IndexOf(':');
        string name = ParameterNames.Resolve(_verb, colon < 0 ? token : token[..colon]);
        if (colon >= 0 && colon + 1 < token.Length)
        {
            string value = token[(colon + 1)..];
            while (IsList(name) && ListText.GoesOn(value) && at < tokens.Count)
            {
                value += tokens[at++];
            }

            Set(name, value);
        }
        else if (IsSwitch(name))
        {
            Set(name, colon < 0 ? "$true" : ReadSwitch(tokens, ref at));
        }
        else
        {
            bool hasValue = at < tokens.Count && !IsName(tokens[at]);
            Set(name, !hasValue ? throw new UsageException($"-{name} needs a value. Write -{name}:VALUE for a value that begins with a dash.")
                : IsList(name) ? ReadValue(tokens, ref at)
                : tokens[at++]);
        }
    }

    /// <summary>
    /// Reads the value that follows <c>-Name:</c> of a switch. A POSIX shell takes the <c>$false</c> of <c>-Name:$false</c> for a variable of its own
    /// and removes it: no value is false.
    /// </summary>
    private static string ReadSwitch(IReadOnlyList<string> tokens, ref int at) =>
        at < tokens.Count && ValueText.IsBoolean(tokens[at]) ? tokens[at++] : "$false";

    private static string ReadValue(IReadOnlyList<string> tokens, ref int at)
    {
        string value = tokens[at++];
        while (at < tokens.Count && (ListText.GoesOn(value) || tokens[at].StartsWith(',')))
        {
            value += tokens[at++];
        }

        return value;
    }

    private bool IsList(string name) => _verb.Parameters.Any(parameter => parameter.Name == name && parameter.IsList);

    private bool IsSwitch(string name) => _verb.Parameters.FirstOrDefault(parameter => parameter.Name == name)?.IsSwitch ?? true;

    private void Set(string name, string value)
    {
        if (!_values.TryAdd(name, value))
        {
            throw new UsageException($"-{name} was given twice.");
        }
    }

    /// <summary>Gives each unnamed value, in order, to the lowest position that is open in a fitting set.</summary>
    private void PlaceUnnamed()
    {
        foreach (string value in _unnamed)
        {
            string[] fitting = ParameterSets.Fitting(_verb, Given);
            ParameterDescription? open = _verb.Parameters
                .Where(parameter => parameter.Attribute.Position >= 0 && !_values.ContainsKey(parameter.Name))
                .Where(parameter => fitting.Any(parameter.IsIn))
                .OrderBy(parameter => parameter.Attribute.Position)
                .ThenBy(parameter => parameter.Attribute.ObjectClass.Length > 0)
                .ThenBy(parameter => !parameter.IsIn(_verb.Verb.DefaultSet))
                .FirstOrDefault();
            string name = open?.Name
                ?? throw new UsageException($"'{value}' has no place: no parameter takes a value without a name there.");
            Set(name, value);
        }
    }
}
