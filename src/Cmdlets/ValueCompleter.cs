using System.Collections;
using System.Management.Automation;
using System.Management.Automation.Language;
using TierSpaces.Contracts;

namespace TierSpaces.Cmdlets;

/// <summary>
/// Offers values while a parameter is typed: the words that the request record suggests, or the names or identifiers of what a running
/// host has. Never starts a host, never fails, and waits at most a second.
/// </summary>
public sealed class ValueCompleter : IArgumentCompleter
{
    private static readonly char[] s_quotes = ['\'', '"'];

    /// <inheritdoc/>
    public IEnumerable<CompletionResult> CompleteArgument(
        string commandName, string parameterName, string wordToComplete, CommandAst commandAst, IDictionary fakeBoundParameters)
    {
        try
        {
            string typed = (wordToComplete ?? string.Empty).Trim(s_quotes);
            return Candidates(commandName.Split('\\')[^1], parameterName)
                .Where(candidate => candidate.Name.StartsWith(typed, StringComparison.OrdinalIgnoreCase)
                    || candidate.Value.StartsWith(typed, StringComparison.OrdinalIgnoreCase))
                .Select(candidate => new CompletionResult(candidate.Text, candidate.Name, CompletionResultType.ParameterValue, candidate.Help))
                .ToArray();
        }
        catch (Exception)   // a shell shows nothing better for a failed completion than nothing
        {
            return [];
        }
    }

    private static IEnumerable<Candidate> Candidates(string command, string parameterName)
    {
        VerbDescription? verb = VerbDescription.Find(command);
        ParameterDescription? parameter = verb?.Parameters.FirstOrDefault(known => known.Name.Equals(parameterName, StringComparison.OrdinalIgnoreCase));
        if (verb is null || parameter is null)
        {
            return [];
        }

        if (parameter.Suggestions.Length > 0)
        {
            return parameter.Suggestions.Select(word => new Candidate(Quoted(word), word, word, parameter.Attribute.Help));
        }

        return Completion.ClassOf(verb, parameter) is { } windowsClass
            ? ObjectNames.Of(windowsClass).Select(found => OfObject(parameter, windowsClass.Split('_')[^1], found))
            : [];
    }

    // A parameter that takes objects gets the command that fetches the object.
    private static Candidate OfObject(ParameterDescription parameter, string noun, NamedObject found)
    {
        string help = $"{found.Name} {found.UniqueId}";
        return parameter.Attribute.ObjectClass.Length > 0
                ? new Candidate($"(Get-{noun} -UniqueId {Quoted(found.UniqueId)})", found.Name, found.Name, help)
            : Completion.TakesIdentifiers(parameter) ? new Candidate(Quoted(found.UniqueId), found.Name, found.UniqueId, help)
            : new Candidate(Quoted(found.Name), found.Name, found.Name, help);
    }

    private static string Quoted(string value) =>
        value.Length > 0 && value.All(c => char.IsAsciiLetterOrDigit(c) || c is '_' or '-' or '.') && value[0] != '-'
            ? value
            : $"'{value.Replace("'", "''", StringComparison.Ordinal)}'";

    private sealed record Candidate(string Text, string Name, string Value, string Help);
}
