using System.Text.RegularExpressions;
using System.Xml.Linq;
using TierSpaces.Contracts;

namespace TierSpaces.Conformance;

/// <summary>The files of the module against its assembly, and its objects against the documented classes.</summary>
public sealed partial class ModuleTests
{
    // MSFT_StorageObject and MSFT_StorageFaultDomain, whose properties every class has besides its own.
    private static readonly string[] s_inherited = ["ObjectId", "UniqueId", "PassThroughIds", "PassThroughServer"];

    public static TheoryData<string> Classes => [.. Documented.Classes.Keys.Order()];

    [Fact]
    public void The_manifest_exports_every_cmdlet() =>
        Assert.Equal(CompiledCmdlets.All.Keys.Order(), CmdletName().Matches(Text("TierSpaces.psd1")).Select(m => m.Groups[1].Value).Order());

    [Fact]
    public void The_manifest_exports_every_alias() =>
        Assert.Equal(CmdletAliases.All.Keys.Order(), AliasList().Match(Text("TierSpaces.psd1")).Groups[1].Captures.Select(static alias => alias.Value).Order());

    [Fact]
    public void Every_alias_is_one_of_its_cmdlet_and_the_name_of_none()
    {
        Assert.Equal(
            CmdletAliases.All.OrderBy(static pair => pair.Key).Select(static pair => (pair.Key, pair.Value)),
            CompiledCmdlets.All.Values.SelectMany(static cmdlet => cmdlet.Aliases.Select(alias => (alias, cmdlet.Name))).Order());
        Assert.All(CmdletAliases.All, static pair =>
        {
            Assert.Equal(pair.Value, VerbDescription.Find(pair.Key.ToUpperInvariant())!.Name);
            Assert.DoesNotContain(pair.Key, VerbDescription.All.Select(static verb => verb.Name), StringComparer.OrdinalIgnoreCase);
            Assert.Null(AbsentCmdlets.Find(pair.Key));
        });
    }

    [Fact]
    public void The_manifest_has_the_version_of_the_assemblies() =>
        Assert.Equal(ContractsVersion.Text, ModuleVersion().Match(Text("TierSpaces.psd1")).Groups[1].Value);

    [Fact]
    public void Every_verb_of_the_contracts_is_a_cmdlet() =>
        Assert.Equal(VerbDescription.All.Select(v => v.Name).Order(), CompiledCmdlets.All.Keys.Order());

    [Theory]
    [MemberData(nameof(Classes))]
    public void An_object_has_every_documented_property(string name) =>
        Assert.Empty(Documented.Classes[name].Properties
            .Concat(Documented.Classes[name].Base == "WmiInstance" ? [] : s_inherited)
            .Except(Record(name).GetProperties().Select(p => p.Name)));

    [Theory]
    [MemberData(nameof(Classes))]
    public void The_default_table_has_the_documented_columns(string name)
    {
        string[] documented = Documented.Classes[name].Columns;

        Assert.Equal(documented, documented.Length > 0 ? TableColumns(name) : []);
    }

    [Fact]
    public void Every_record_has_a_default_table() =>
        Assert.All(VerbDescription.All.Select(v => Attribute(v.OutputType).Name).Distinct(), name => Assert.NotEmpty(TableColumns(name)));

    private static string[] TableColumns(string windowsClass) => XDocument.Parse(Text("TierSpaces.format.ps1xml"))
        .Descendants("View")
        .Where(view => (string)view.Element("Name")! == windowsClass)
        .Descendants("Label")
        .Select(label => label.Value)
        .ToArray();

    private static Type Record(string windowsClass) =>
        VerbDescription.All.Select(v => v.OutputType).First(type => Attribute(type).Name == windowsClass);

    private static WindowsClassAttribute Attribute(Type record) =>
        (WindowsClassAttribute)System.Attribute.GetCustomAttribute(record, typeof(WindowsClassAttribute))!;

    private static string Text(string file) => File.ReadAllText(Path.Combine(AppContext.BaseDirectory, file));

    [GeneratedRegex(@"^\s+ModuleVersion\s+= '(.+)'\s*$", RegexOptions.Multiline)]
    private static partial Regex ModuleVersion();

    [GeneratedRegex(@"^\s+AliasesToExport\s+= (?:'(\w+-\w+)'(?:, )?)+\s*$", RegexOptions.Multiline)]
    private static partial Regex AliasList();

    [GeneratedRegex(@"^\s+'(\w+-\w+)'\s*$", RegexOptions.Multiline)]
    private static partial Regex CmdletName();
}
