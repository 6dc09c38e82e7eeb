using System.Text.RegularExpressions;
using System.Xml.Linq;
using TierSpaces.Cmdlets.Help;
using TierSpaces.Contracts;

namespace TierSpaces.Conformance;

/// <summary>The pages of docs/cmdlets, and the help file made from them, against the compiled cmdlets.</summary>
public sealed partial class HelpTests
{
    private static readonly HelpFolder s_folder = new(Path.Combine(RepositoryRoot(), "docs", "cmdlets"));
    private static readonly XNamespace s_maml = "http://schemas.microsoft.com/maml/2004/10";
    private static readonly XNamespace s_command = "http://schemas.microsoft.com/maml/dev/command/2004/10";
    private static readonly XNamespace s_dev = "http://schemas.microsoft.com/maml/dev/2004/10";
    private static readonly string[] s_headings = ["Description", "Parameters", "Outputs", "Examples", "Notes", "See also"];

    public static TheoryData<string> Cmdlets => [.. CompiledCmdlets.All.Keys.Order()];

    [Fact]
    public void Every_cmdlet_has_a_page_and_every_page_a_cmdlet() =>
        Assert.Equal(CompiledCmdlets.All.Keys.Order(StringComparer.Ordinal), s_folder.PageNames);

    [Theory]
    [MemberData(nameof(Cmdlets))]
    public void A_page_describes_its_cmdlet_and_shows_examples(string name)
    {
        HelpPage page = HelpOf(name).Page;

        Assert.Equal(name, page.Title);
        Assert.Empty(page.Headings.Except(s_headings));
        Assert.NotEmpty(page.Paragraphs("Description"));
        Assert.NotEmpty(page.Examples);
        Assert.All(page.Examples, example => Assert.Contains(name, example.Code, StringComparison.Ordinal));
        Assert.NotEmpty(page.Paragraphs("See also"));
    }

    [Theory]
    [MemberData(nameof(Cmdlets))]
    public void Every_parameter_is_described(string name)
    {
        CmdletHelp help = HelpOf(name);

        Assert.Equal(ParametersOf(name).Order(), help.Parameters.Select(parameter => parameter.Name).Order());
        Assert.All(help.Parameters, parameter => Assert.NotEmpty(help.TextOf(parameter)));
    }

    [Theory]
    [MemberData(nameof(Cmdlets))]
    public void A_page_names_only_parameters_that_exist(string name)
    {
        IEnumerable<string> everywhere = CompiledCmdlets.All.Keys.SelectMany(ParametersOf)
            .Concat(CompiledCmdlets.All[name].Parameters.SelectMany(parameter => parameter.Aliases));
        string prose = Code().Replace(s_folder.TextOf(name), "");

        Assert.Empty(HelpOf(name).Page.Parameters.Keys.Except(ParametersOf(name)));
        Assert.Empty(Mention().Matches(prose).Select(match => match.Groups[1].Value).Except(everywhere));
    }

    [Fact]
    public void What_is_described_once_belongs_to_some_cmdlet() =>
        Assert.Empty(s_folder.Common.Parameters.Keys.Except(CompiledCmdlets.All.Keys.SelectMany(ParametersOf)));

    [Theory]
    [MemberData(nameof(Cmdlets))]
    public void A_page_shows_the_syntax_of_today(string name) => AssertRenewed(s_folder.RenewedTextOf(HelpOf(name)), s_folder.TextOf(name));

    [Fact]
    public void The_list_of_cmdlets_is_the_one_of_today() =>
        AssertRenewed(s_folder.RenewedIndex(), s_folder.TextOf(HelpFolder.IndexPage));

    [Theory]
    [MemberData(nameof(Cmdlets))]
    public void The_help_file_has_everything(string name)
    {
        XElement command = Assert.Single(
            XDocument.Parse(Maml.Of(s_folder.Cmdlets).ToString()).Descendants(s_command + "command"),
            command => (string)command.Element(s_command + "details")!.Element(s_command + "name")! == name);
        XElement[] parameters = [.. command.Element(s_command + "parameters")!.Elements()];

        Assert.Equal(ParametersOf(name).Order(), parameters.Select(NameOf).Order());
        Assert.All(parameters.Append(command.Element(s_command + "details")!).Append(command), HasText);
        Assert.Equal(
            ParametersOf(name).Order(),
            command.Descendants(s_command + "syntaxItem").Elements(s_command + "parameter").Select(NameOf).Distinct().Order());
        Assert.Equal(ParameterSets.Fitting(VerbDescription.Find(name)!, []).Length, command.Descendants(s_command + "syntaxItem").Count());
        Assert.Equal(HelpOf(name).Page.Examples.Count, command.Descendants(s_dev + "code").Count(code => code.Value.Length > 0));
    }

    private static string NameOf(XElement parameter) => (string)parameter.Element(s_maml + "name")!;

    private static void HasText(XElement element) => Assert.NotEmpty(element.Element(s_maml + "description")!.Elements(s_maml + "para"));

    private static void AssertRenewed(string renewed, string page) => Assert.True(
        renewed == page, "The page shows another syntax than the request record has. Run: dotnet run --project src/Cmdlets.Help -- renew docs/cmdlets");

    private static CmdletHelp HelpOf(string name) => s_folder.Of(VerbDescription.Find(name)!);

    private static IEnumerable<string> ParametersOf(string name) => CompiledCmdlets.All[name].Parameters.Select(parameter => parameter.Name)
        .Concat(CompiledCmdlets.All[name].ShouldProcess ? ["WhatIf", "Confirm"] : []);

    internal static string RepositoryRoot()
    {
        string? folder = AppContext.BaseDirectory;
        while (folder is not null && !File.Exists(Path.Combine(folder, "TierSpaces.slnx")))
        {
            folder = Path.GetDirectoryName(folder);
        }

        return folder ?? throw new InvalidOperationException("The repository is not above the tests.");
    }

    [GeneratedRegex("```.*?```", RegexOptions.Singleline)]
    private static partial Regex Code();

    [GeneratedRegex(@"(?<![\w-])-([A-Z]\w+)")]
    private static partial Regex Mention();
}
