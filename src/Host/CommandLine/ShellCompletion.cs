using TierSpaces.Contracts;

namespace TierSpaces.Host.CommandLine;

/// <summary>
/// Completions of a command line: commands and verbs, parameter names, accepted values. Names of objects come from a running host; none is started
/// for a completion.
/// </summary>
internal static class ShellCompletion
{
    /// <summary>Candidates for the last word.</summary>
    /// <param name="words">Words after <c>tierspaces</c>; the last one is being typed and may be empty.</param>
    /// <param name="commands">Commands beside the verbs.</param>
    /// <param name="namesOf">Friendly names of the objects of a class, for example MSFT_StoragePool.</param>
    public static IEnumerable<string> Candidates(
        IReadOnlyList<string> words, IEnumerable<string> commands, Func<string, IEnumerable<string>> namesOf)
    {
        string typed = words.Count == 0 ? "" : words[^1];
        if (words.Count <= 1)
        {
            return Fitting(commands.Concat(VerbDescription.All.Select(verb => verb.Name)), typed);
        }

        if (VerbDescription.Find(words[0]) is not { } verb)
        {
            return [];
        }

        if (typed.StartsWith('-'))
        {
            IEnumerable<string> names = verb.Parameters.Select(parameter => parameter.Name).Concat(CommonParameters.Of(verb));
            return Fitting(names.Select(name => "-" + name), typed);
        }

        return ValueOf(verb, words) is { } parameter ? Values(verb, parameter, typed, namesOf) : [];
    }

    /// <summary>The script that makes a shell ask us.</summary>
    /// <exception cref="UsageException">A shell we have no script for.</exception>
    public static string ScriptFor(string shell) => shell switch
    {
        "bash" => """
            _tierspaces() {
                local IFS=$'\n'
                COMPREPLY=($(tierspaces complete -- "${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null))
            }
            complete -o nosort -o default -F _tierspaces tierspaces
            """,
        "zsh" => """
            #compdef tierspaces
            _tierspaces() {
                local -a candidates
                candidates=("${(@f)$(tierspaces complete -- "${(@)words[2,CURRENT]}" 2>/dev/null)}")
                compadd -M 'm:{a-zA-Z}={A-Za-z}' -a candidates
            }
            compdef _tierspaces tierspaces
            """,
        _ => throw new UsageException($"There is no completion for '{shell}'. Give bash or zsh."),
    };

    /// <summary>The parameter whose value is being typed.</summary>
    private static ParameterDescription? ValueOf(VerbDescription verb, IReadOnlyList<string> words)
    {
        string before = words[^2];
        if (words.Count > 2 && before.StartsWith('-'))
        {
            ParameterDescription? named = Find(verb, before.TrimStart('-'));
            return named is { IsSwitch: false } ? named : null;
        }

        return words.Count == 2
            ? verb.Parameters.FirstOrDefault(p => p.Attribute.Position == 0 && p.Attribute.ObjectClass.Length == 0)
                ?? verb.Parameters.FirstOrDefault(p => p.Attribute.Position == 0)
            : null;
    }

    private static ParameterDescription? Find(VerbDescription verb, string typed)
    {
        try
        {
            string name = ParameterNames.Resolve(verb, typed);
            return verb.Parameters.FirstOrDefault(parameter => parameter.Name == name);
        }
        catch (UsageException)
        {
            return null;
        }
    }

    private static IEnumerable<string> Values(
        VerbDescription verb, ParameterDescription parameter, string typed, Func<string, IEnumerable<string>> namesOf)
    {
        int comma = parameter.IsList ? typed.LastIndexOf(',') + 1 : 0;
        IEnumerable<string> values = parameter.ElementType == typeof(bool) ? ["$true", "$false"]
            : parameter.AcceptedValues is { Length: > 0 } words ? words
            : parameter.Suggestions is { Length: > 0 } suggestions ? suggestions
            : !Completion.TakesIdentifiers(parameter) && Completion.ClassOf(verb, parameter) is { } windowsClass
                ? namesOf(windowsClass).Select(name => parameter.IsList ? ListText.Quote(name) : name)
            : [];
        return Fitting(values, typed[comma..]).Select(value => typed[..comma] + value);
    }

    private static IEnumerable<string> Fitting(IEnumerable<string> candidates, string typed) =>
        candidates.Where(candidate => candidate.StartsWith(typed, StringComparison.OrdinalIgnoreCase));
}
