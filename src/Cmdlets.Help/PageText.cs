using System.Text;
using TierSpaces.Contracts;

namespace TierSpaces.Cmdlets.Help;

/// <summary>Generated parts of the pages: Markdown for readers, from the metadata.</summary>
internal static class PageText
{
    /// <summary>Synopsis and syntax.</summary>
    internal static string Head(CmdletHelp cmdlet)
    {
        StringBuilder text = new(cmdlet.Synopsis);
        text.Append(cmdlet.Verb.Verb.IsOurs ? " Not in Windows." : "");
        text.Append("\n\n## Syntax\n\n```text\n");
        text.AppendJoin("\n\n", cmdlet.Sets.Select(set => string.Join('\n', cmdlet.SyntaxLines(set))));
        return text.Append("\n```").ToString();
    }

    /// <summary>Every parameter, and what comes in and out.</summary>
    internal static string Tail(CmdletHelp cmdlet)
    {
        StringBuilder text = new("## Inputs and outputs\n\n");
        foreach ((string type, string how) in PipelineTypes.Inputs(cmdlet))
        {
            text.Append($"In: `{type}`. {how}\n\n");
        }

        text.Append($"Out: `{PipelineTypes.Output(cmdlet)}`\n\n## All parameters\n\n| Parameter | Type | Binding | |\n|---|---|---|---|\n");
        foreach (HelpParameter parameter in cmdlet.Parameters.Where(parameter => parameter.Record is not null))
        {
            text.Append($"| `-{parameter.Name}` | {parameter.Type} | {Binding(parameter)} | {Cell(string.Join(' ', parameter.Facts()))} |\n");
        }

        IEnumerable<string> common = cmdlet.Parameters.Where(parameter => parameter.Record is null).Select(parameter => $"`-{parameter.Name}`");
        return text.Append($"\nAlso {string.Join(", ", common)}: [parameters of every cmdlet]({HelpFolder.CommonPage}.md).").ToString();
    }

    /// <summary>The list of all cmdlets.</summary>
    internal static string Index(IEnumerable<VerbDescription> verbs)
    {
        StringBuilder text = new("| Cmdlet | |\n|---|---|\n");
        foreach (VerbDescription verb in verbs)
        {
            text.Append($"| [{verb.Name}]({verb.Name}.md){(verb.Verb.IsOurs ? " *" : "")} | {Cell(verb.Verb.Help)} |\n");
        }

        return text.Append("\n\\* Not in Windows.").ToString();
    }

    private static string Binding(HelpParameter parameter) => string.Join(", ", new[]
    {
        parameter.IsRequired ? "required" : "",
        parameter.Position is { } position ? $"position {position}" : "",
        parameter.Pipeline switch
        {
            PipelineBinding.ByValue => "pipeline",
            PipelineBinding.ByPropertyName => "pipeline by property name",
            _ => "",
        },
        parameter.Aliases.Length > 0 ? $"alias {string.Join(", ", parameter.Aliases.Select(alias => $"`-{alias}`"))}" : "",
    }.Where(word => word.Length > 0));

    private static string Cell(string text) => text.Replace("|", "\\|");
}
