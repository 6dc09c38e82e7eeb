using System.Globalization;
using System.Xml.Linq;
using TierSpaces.Contracts;

namespace TierSpaces.Cmdlets.Help;

/// <summary>The help file that a shell reads: MAML, one command element per cmdlet.</summary>
internal static class Maml
{
    private static readonly XNamespace s_items = "http://msh";
    private static readonly XNamespace s_maml = "http://schemas.microsoft.com/maml/2004/10";
    private static readonly XNamespace s_command = "http://schemas.microsoft.com/maml/dev/command/2004/10";
    private static readonly XNamespace s_dev = "http://schemas.microsoft.com/maml/dev/2004/10";

    /// <summary>The file for all cmdlets.</summary>
    internal static XDocument Of(IEnumerable<CmdletHelp> cmdlets) => new(
        new XDeclaration("1.0", "utf-8", null),
        new XElement(s_items + "helpItems", new XAttribute("schema", "maml"), cmdlets.Select(Command)));

    private static XElement Command(CmdletHelp cmdlet) => new(
        s_command + "command",
        new XAttribute(XNamespace.Xmlns + "maml", s_maml),
        new XAttribute(XNamespace.Xmlns + "command", s_command),
        new XAttribute(XNamespace.Xmlns + "dev", s_dev),
        new XElement(
            s_command + "details",
            new XElement(s_command + "name", cmdlet.Name),
            new XElement(s_command + "verb", cmdlet.Name.Split('-')[0]),
            new XElement(s_command + "noun", cmdlet.Name.Split('-')[1]),
            Description([cmdlet.Synopsis])),
        Description(cmdlet.Description),
        new XElement(s_command + "syntax", cmdlet.Sets.Select(set => SyntaxItem(cmdlet, set))),
        new XElement(s_command + "parameters", cmdlet.Parameters.OrderBy(p => p.Name, StringComparer.Ordinal).Select(p => FullParameter(cmdlet, p))),
        new XElement(s_command + "inputTypes", PipelineTypes.Inputs(cmdlet).Select(input => Typed("inputType", input.Type, [input.How]))),
        new XElement(s_command + "returnValues", Typed("returnValue", PipelineTypes.Output(cmdlet), cmdlet.Page.Paragraphs("Outputs"))),
        Notes(cmdlet.Page.Paragraphs("Notes")),
        new XElement(s_command + "examples", cmdlet.Page.Examples.Select(Example)),
        new XElement(s_command + "relatedLinks", cmdlet.Page.Paragraphs("See also").SelectMany(Links)));

    private static XElement SyntaxItem(CmdletHelp cmdlet, string set) => new(
        s_command + "syntaxItem", new XElement(s_maml + "name", cmdlet.Name), cmdlet.InSet(set).Select(p => Parameter(p)));

    // A syntax needs less than half of it: a shell takes the rest from below "parameters".
    private static XElement Parameter(HelpParameter parameter, params XElement[] rest) => new(
        s_command + "parameter",
        new XAttribute("required", parameter.IsRequired),
        new XAttribute("variableLength", parameter.Record?.IsList ?? false),
        new XAttribute("globbing", parameter.Record?.Attribute.Help.Contains("wildcards", StringComparison.Ordinal) ?? false),
        new XAttribute("pipelineInput", Pipeline(parameter.Pipeline)),
        new XAttribute("position", parameter.Position?.ToString(CultureInfo.InvariantCulture) ?? "named"),
        new XAttribute("aliases", parameter.Aliases.Length > 0 ? string.Join(", ", parameter.Aliases) : "none"),
        new XElement(s_maml + "name", parameter.Name),
        parameter.IsSwitch ? null : new XElement(
            s_command + "parameterValue", new XAttribute("required", true), new XAttribute("variableLength", false), parameter.Type),
        rest);

    private static XElement FullParameter(CmdletHelp cmdlet, HelpParameter parameter) => Parameter(
        parameter,
        Description(cmdlet.TextOf(parameter)),
        new XElement(s_dev + "type", new XElement(s_maml + "name", parameter.IsSwitch ? "SwitchParameter" : parameter.Type), new XElement(s_maml + "uri")),
        new XElement(s_dev + "defaultValue", parameter.IsSwitch ? "False" : Default(parameter)));

    private static string Default(HelpParameter parameter) =>
        parameter.Record?.Attribute is { Default: { Length: > 0 } value, Refused.Length: 0 } ? value : "None";

    private static string Pipeline(PipelineBinding binding) => binding == PipelineBinding.None ? "False" : $"True ({binding})";

    private static XElement Typed(string element, string type, IEnumerable<string> text) => new(
        s_command + element, new XElement(s_dev + "type", new XElement(s_maml + "name", type)), Description(text));

    private static XElement? Notes(IReadOnlyList<string> paragraphs) => paragraphs.Count == 0 ? null : new XElement(
        s_maml + "alertSet", new XElement(s_maml + "alert", paragraphs.Select(text => new XElement(s_maml + "para", text))));

    private static XElement Example(HelpExample example, int index) => new(
        s_command + "example",
        new XElement(s_maml + "title", string.Create(CultureInfo.InvariantCulture, $"Example {index + 1}: {example.Title}")),
        new XElement(s_dev + "code", example.Code),
        new XElement(s_dev + "remarks", example.Remarks.Select(text => new XElement(s_maml + "para", text))));

    private static IEnumerable<XElement> Links(string paragraph) => paragraph
        .Split(',', StringSplitOptions.RemoveEmptyEntries | StringSplitOptions.TrimEntries)
        .Select(name => new XElement(s_maml + "navigationLink", new XElement(s_maml + "linkText", name.TrimEnd('.')), new XElement(s_maml + "uri")));

    private static XElement Description(IEnumerable<string> paragraphs) =>
        new(s_maml + "description", paragraphs.Select(text => new XElement(s_maml + "para", text)));
}
