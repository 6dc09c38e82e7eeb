using System.Collections;
using System.Management.Automation;
using System.Management.Automation.Language;

namespace TierSpaces.Cmdlets;

/// <summary>Offers the one machine that -CimSession accepts.</summary>
public sealed class SessionCompleter : IArgumentCompleter
{
    /// <inheritdoc/>
    public IEnumerable<CompletionResult> CompleteArgument(
        string commandName, string parameterName, string wordToComplete, CommandAst commandAst, IDictionary fakeBoundParameters) =>
        "localhost".StartsWith(wordToComplete ?? string.Empty, StringComparison.OrdinalIgnoreCase) ? [new CompletionResult("localhost")] : [];
}
