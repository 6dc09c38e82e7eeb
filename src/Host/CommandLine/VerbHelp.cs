using TierSpaces.Contracts;

namespace TierSpaces.Host.CommandLine;

/// <summary>Help of a verb: what it does, its syntax set by set, every parameter with what it takes.</summary>
internal static class VerbHelp
{
    private const int Indent = 4;

    /// <summary>Prints it.</summary>
    public static void Print(VerbDescription verb, TextWriter output)
    {
        output.WriteLine($"{verb.Name}{(verb.Verb.IsOurs ? " (not in Windows)" : "")}: {verb.Verb.Help}");
        output.WriteLine();
        output.WriteLine("Syntax:");
        foreach (string set in ParameterSets.Fitting(verb, []))
        {
            output.WriteLine($"  tierspaces {verb.Name}{string.Concat(Ordered(verb, set).Select(Syntax))}");
        }

        output.WriteLine();
        output.WriteLine("Parameters (names in any case, and by any unambiguous beginning):");
        foreach (ParameterDescription parameter in verb.Parameters)
        {
            PrintParameter(parameter, output);
        }

        foreach (string name in CommonParameters.Of(verb))
        {
            output.WriteLine($"  -{name}");
            output.WriteLine($"{new string(' ', Indent)}{CommonParameters.HelpOf(name)}");
        }
    }

    private static IEnumerable<ParameterDescription> Ordered(VerbDescription verb, string set) =>
        verb.Parameters.Where(parameter => parameter.IsIn(set) && parameter.Attribute.Refused.Length == 0)
            .OrderBy(parameter => parameter.Attribute.Position < 0).ThenBy(parameter => !parameter.Attribute.Required);

    private static string Syntax(ParameterDescription parameter)
    {
        VerbParameterAttribute attribute = parameter.Attribute;
        string name = attribute.Position >= 0 ? $"[-{parameter.Name}]" : $"-{parameter.Name}";
        string text = parameter.IsSwitch ? name : $"{name} <{TypeOf(parameter)}>";
        return attribute.Required && attribute.Default.Length == 0 ? $" {text}" : $" [{text}]";
    }

    private static void PrintParameter(ParameterDescription parameter, TextWriter output)
    {
        string indent = new string(' ', Indent);
        output.WriteLine($"  -{parameter.Name}{(parameter.IsSwitch ? "" : $" <{TypeOf(parameter)}>")}{Notes(parameter)}");
        output.WriteLine($"{indent}{parameter.Attribute.Help}");
        if (parameter.AcceptedValues is { Length: > 0 } words)
        {
            output.WriteLine($"{indent}One of {string.Join(", ", words)}.");
        }
        else if (parameter.Attribute.Suggestions is { Length: > 0 } suggestions)
        {
            output.WriteLine($"{indent}For example: {suggestions}.");
        }
    }

    private static string Notes(ParameterDescription parameter)
    {
        VerbParameterAttribute attribute = parameter.Attribute;
        string[] notes = parameter.Aliases.Select(alias => $"alias -{alias}")
            .Append(attribute.IsOurs ? "not in Windows" : "")
            .Append(attribute.Refused.Length > 0 ? $"refused: {attribute.Refused.TrimEnd('.')}" : "")
            .Append(attribute.WithoutEffect.Length > 0 ? $"without effect: {attribute.WithoutEffect.TrimEnd('.')}" : "")
            .Where(note => note.Length > 0).ToArray();
        return notes.Length == 0 ? "" : $" ({string.Join("; ", notes)})";
    }

    private static string TypeOf(ParameterDescription parameter)
    {
        string type = parameter.Attribute.Kind switch
        {
            ParameterKind.Size => "size",
            ParameterKind.Path => "path",
            _ when parameter.Attribute.ObjectClass.Length > 0 => parameter.Attribute.ObjectClass["MSFT_".Length..],
            _ => parameter.ElementType switch
            {
                var t when t == typeof(bool) => "$true|$false",
                var t when t == typeof(string) => "text",
                { IsEnum: true } t => t.Name,
                _ => "number",
            },
        };
        return parameter.IsList ? $"{type}[,...]" : type;
    }
}
