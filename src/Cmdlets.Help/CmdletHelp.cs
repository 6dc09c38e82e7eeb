using TierSpaces.Contracts;

namespace TierSpaces.Cmdlets.Help;

/// <summary>
/// The help of one cmdlet: the metadata of its request record, its page, and the parameters that common-parameters.md describes for
/// all cmdlets. A parameter's own text on the page comes before the common text.
/// </summary>
internal sealed class CmdletHelp(VerbDescription verb, HelpPage page, HelpPage common)
{
    private const int SyntaxWidth = 120;

    /// <summary>Verb and noun.</summary>
    internal string Name => verb.Name;

    /// <summary>The verb.</summary>
    internal VerbDescription Verb => verb;

    /// <summary>Its page.</summary>
    internal HelpPage Page => page;

    /// <summary>Purpose of the cmdlet, one sentence.</summary>
    internal string Synopsis => verb.Verb.Help;

    /// <summary>Parameters of the cmdlet.</summary>
    internal IReadOnlyList<HelpParameter> Parameters => HelpParameter.Of(verb);

    /// <summary>Its parameter sets, the default one first; one without a name when there are none.</summary>
    internal IReadOnlyList<string> Sets =>
        [.. ParameterSets.Fitting(verb, []).OrderByDescending(set => set == verb.Verb.DefaultSet)];

    /// <summary>Full description of the cmdlet, in paragraphs.</summary>
    internal IEnumerable<string> Description =>
        page.Paragraphs("Description").Concat(verb.Verb.IsOurs ? ["This cmdlet is an extension: Windows has none of this name."] : []);

    /// <summary>Parameters of a set: positional ones, required ones, the others.</summary>
    internal IEnumerable<HelpParameter> InSet(string set) => Parameters.Where(parameter => parameter.IsIn(set))
        .OrderBy(parameter => parameter.Position ?? int.MaxValue).ThenByDescending(parameter => parameter.IsRequired);

    /// <summary>Returns the description of a parameter, in paragraphs.</summary>
    internal IEnumerable<string> TextOf(HelpParameter parameter)
    {
        string facts = string.Join(' ', parameter.Facts());
        IReadOnlyList<string> own = page.Parameters.GetValueOrDefault(parameter.Name)
            ?? common.Parameters.GetValueOrDefault(parameter.Name) ?? [];
        return own.Prepend(facts).Where(text => text.Length > 0);
    }

    /// <summary>The syntax of a set, in lines that fit a page.</summary>
    internal IEnumerable<string> SyntaxLines(string set)
    {
        string line = Name;
        foreach (string word in InSet(set).Select(Syntax).Append("[<CommonParameters>]"))
        {
            if (line.Length + 1 + word.Length > SyntaxWidth)
            {
                yield return line;
                line = "   ";
            }

            line += " " + word;
        }

        yield return line;
    }

    private static string Syntax(HelpParameter parameter)
    {
        string name = parameter.Position is null ? $"-{parameter.Name}" : $"[-{parameter.Name}]";
        string text = parameter.IsSwitch ? name : $"{name} <{parameter.Type}>";
        return parameter.IsRequired ? text : $"[{text}]";
    }
}
