using TierSpaces.Contracts;

namespace TierSpaces.Cmdlets.Help;

/// <summary>The folder of the pages: one per cmdlet, named after it; what is common to them; and the list of all.</summary>
/// <param name="path">docs/cmdlets.</param>
internal sealed class HelpFolder(string path)
{
    /// <summary>Page of the parameters that are described once.</summary>
    internal const string CommonPage = "common-parameters";

    /// <summary>Page that lists the others.</summary>
    internal const string IndexPage = "README";

    private HelpPage? _common;

    /// <summary>The common page, taken apart.</summary>
    internal HelpPage Common => _common ??= HelpPage.Parse(TextOf(CommonPage));

    /// <summary>Names of the pages of cmdlets that are there.</summary>
    internal IEnumerable<string> PageNames => Directory.EnumerateFiles(path, "*.md")
        .Select(file => Path.GetFileNameWithoutExtension(file)).Where(name => name is not (CommonPage or IndexPage)).Order(StringComparer.Ordinal);

    /// <summary>Help of every verb.</summary>
    internal IEnumerable<CmdletHelp> Cmdlets => VerbDescription.All.Select(Of);

    /// <summary>Help of one verb.</summary>
    internal CmdletHelp Of(VerbDescription verb) => new(verb, HelpPage.Parse(TextOf(verb.Name)), Common);

    /// <summary>Returns the current text of a page.</summary>
    internal string TextOf(string page) => File.ReadAllText(Path.Combine(path, page + ".md"));

    /// <summary>Returns a page of a cmdlet with its generated parts renewed.</summary>
    internal string RenewedTextOf(CmdletHelp cmdlet) =>
        HelpPage.Renew(TextOf(cmdlet.Name), PageText.Head(cmdlet), PageText.Tail(cmdlet));

    /// <summary>Returns the list of all cmdlets, renewed.</summary>
    internal string RenewedIndex() => HelpPage.Renew(TextOf(IndexPage), "", PageText.Index(VerbDescription.All));

    /// <summary>Renews the generated parts of every page.</summary>
    internal void Renew()
    {
        foreach (CmdletHelp cmdlet in Cmdlets)
        {
            Write(cmdlet.Name, RenewedTextOf(cmdlet));
        }

        Write(IndexPage, RenewedIndex());
    }

    private void Write(string page, string text)
    {
        if (TextOf(page) != text)
        {
            File.WriteAllText(Path.Combine(path, page + ".md"), text);
        }
    }
}
