using TierSpaces.Contracts;

namespace TierSpaces.Cmdlets.Help;

/// <summary>A parameter as help shows it: one of the request record, or one that every cmdlet has.</summary>
internal sealed record HelpParameter
{
    private static readonly HelpParameter[] s_common =
    [
        new() { Name = "AsJob" },
        new() { Name = "CimSession", Type = "CimSession[]", Aliases = ["Session"] },
        new() { Name = "ThrottleLimit", Type = "Int32" },
    ];

    private static readonly HelpParameter[] s_ofChanges =
    [
        new() { Name = "Confirm", Aliases = ["cf"] },
        new() { Name = "WhatIf", Aliases = ["wi"] },
    ];

    /// <summary>Its name.</summary>
    internal required string Name { get; init; }

    /// <summary>Name of its type as PowerShell shows it; empty for a switch.</summary>
    internal string Type { get; init; } = "";

    /// <summary>Other names.</summary>
    internal string[] Aliases { get; init; } = [];

    /// <summary>Accepted values; empty when they are not closed.</summary>
    internal string[] Values { get; init; } = [];

    /// <summary>Description of the parameter in the request record; null for a parameter that every cmdlet has.</summary>
    internal ParameterDescription? Record { get; init; }

    /// <summary>Whether it takes no value.</summary>
    internal bool IsSwitch => Type.Length == 0;

    /// <summary>Whether it must be given.</summary>
    internal bool IsRequired => Record?.Attribute.Required ?? false;

    /// <summary>Its position, or null.</summary>
    internal int? Position => Record?.Attribute.Position is >= 0 and var position ? position : null;

    /// <summary>Binding of the parameter to the pipeline.</summary>
    internal PipelineBinding Pipeline => Record?.Attribute.Pipeline ?? PipelineBinding.None;

    /// <summary>Whether it belongs to a parameter set.</summary>
    internal bool IsIn(string set) => Record?.IsIn(set) ?? true;

    /// <summary>The verb's own parameters in the order of the record, then those of every cmdlet.</summary>
    internal static IReadOnlyList<HelpParameter> Of(VerbDescription verb) =>
        [.. verb.Parameters.Select(Of), .. s_common, .. verb.Verb.ChangesState ? s_ofChanges : []];

    /// <summary>
    /// Returns the description of the parameter without the page: the sentence of the record, then the facts that follow from its
    /// attributes.
    /// </summary>
    internal IEnumerable<string> Facts()
    {
        if (Record?.Attribute is not { } attribute)
        {
            yield break;
        }

        string saysNothing = attribute.Default.Length > 0 ? $" {attribute.Default} is accepted." : IsSwitch || Type == "Boolean" ? " $false is accepted." : "";
        yield return attribute.Help;
        if (Values.Length > 0)
        {
            yield return $"One of {string.Join(", ", Values)}.";
        }

        if (attribute.Refused.Length > 0)
        {
            yield return $"Not supported, refused with code 1: {attribute.Refused}{saysNothing}";
        }
        else if (attribute.WithoutEffect.Length > 0)
        {
            yield return $"Accepted without effect, with a warning: {attribute.WithoutEffect}";
        }
        else if (attribute.Default is { Length: > 0 } and not "*")
        {
            yield return $"Default: {attribute.Default}.";
        }

        if (attribute.IsOurs && Record.Property.DeclaringType is { } record && !VerbDescription.Of(record).Verb.IsOurs)
        {
            yield return "An extension: Windows has no such parameter.";
        }
    }

    private static HelpParameter Of(ParameterDescription parameter) => new()
    {
        Name = parameter.Name,
        Type = TypeOf(parameter),
        Aliases = parameter.Aliases,
        Values = parameter.AcceptedValues,
        Record = parameter,
    };

    private static string TypeOf(ParameterDescription parameter) =>
        parameter.IsSwitch ? ""
        : (parameter.Attribute.ObjectClass is { Length: > 0 } name ? "CimInstance#" + name : parameter.ElementType.Name) + (parameter.IsList ? "[]" : "");
}
