using TierSpaces.Contracts;

namespace TierSpaces.Cmdlets.Help;

/// <summary>Input and output types of a cmdlet, from the metadata.</summary>
internal static class PipelineTypes
{
    /// <summary>Types that the pipeline binds, with the parameter that takes them.</summary>
    internal static IEnumerable<(string Type, string How)> Inputs(CmdletHelp cmdlet)
    {
        foreach (HelpParameter parameter in cmdlet.Parameters.Where(parameter => parameter.Pipeline == PipelineBinding.ByValue))
        {
            if (parameter.Record!.Attribute.Refused.Length == 0)
            {
                yield return (parameter.Type.TrimEnd('[', ']'), $"Bound to -{parameter.Name}.");
            }
        }

        string[] named = [.. cmdlet.Parameters.Where(parameter => parameter.Pipeline == PipelineBinding.ByPropertyName)
            .Select(parameter => $"-{parameter.Name}")];
        if (named.Length > 0)
        {
            yield return ("Object", $"Its properties of the same names are bound to {string.Join(", ", named)}.");
        }
    }

    /// <summary>The type of what comes out, in the word of Windows when nothing does.</summary>
    internal static string Output(CmdletHelp cmdlet) => cmdlet.Verb.Verb.ReturnsNothing ? "None" : TypeNames.Of(cmdlet.Verb.OutputType)[0];
}
