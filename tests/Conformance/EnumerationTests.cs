using System.Reflection;
using System.Xml.Linq;
using TierSpaces.Contracts;

namespace TierSpaces.Conformance;

/// <summary>
/// Properties that Windows documents as a number with a name: which enumeration each one is here, its numbers and names, and the
/// assembly that gives them to a shell.
/// </summary>
public sealed class EnumerationTests
{
    // Windows has more of them on properties that are empty here for ever (Facts/properties.tsv).
    private static readonly HashSet<(string, string)> s_empty = [.. File
        .ReadAllLines(Path.Combine(AppContext.BaseDirectory, "Facts", "properties.tsv")).Skip(1).Select(line => line.Split('\t'))
        .Where(cells => cells[2].Length == 0).Select(cells => (cells[0], cells[1]))];

    // The pages call it MAX, the storage drivers' header and live hosts Virtual.
    private static readonly string[] s_elsewhereNamed = ["14"];

    public static TheoryData<string, string> Properties
    {
        get
        {
            TheoryData<string, string> data = [];
            foreach ((string name, DocumentedClass documented) in Documented.Classes)
            {
                documented.Values.Keys.Where(property => !s_empty.Contains((name, property))).ToList().ForEach(property => data.Add(name, property));
            }

            return data;
        }
    }

    [Theory]
    [MemberData(nameof(Properties))]
    public void A_documented_number_with_a_name_is_an_enumeration_here(string windowsClass, string property)
    {
        Type? enumeration = ObjectEnumerations.Of(Record(windowsClass), property);

        Assert.NotNull(enumeration);
        Assert.All(
            Documented.Classes[windowsClass].Values[property].Where(documented => !(property == "BusType" && s_elsewhereNamed.Contains(documented.Key))),
            documented => Assert.Equal(documented.Value, DisplayName.Of((Enum)Enum.Parse(enumeration, documented.Key))));
    }

    [Fact]
    public void The_shell_has_each_with_the_names_that_objects_show()
    {
        using MetadataLoadContext context = new(new PathAssemblyResolver(
            [.. Directory.GetFiles(AppContext.BaseDirectory, "*.dll"),
                .. Directory.GetFiles(Path.GetDirectoryName(typeof(object).Assembly.Location)!, "*.dll")]));
        Assembly shown = context.LoadFromAssemblyPath(Path.Combine(AppContext.BaseDirectory, "TierSpaces.Enumerations.dll"));

        Assert.Equal(ObjectEnumerations.All.Select(type => type.Name).Order(), shown.GetExportedTypes().Select(type => type.Name).Order());
        Assert.All(ObjectEnumerations.All, type => Assert.Equal(
            Enum.GetValues(type).Cast<Enum>().Select(value => (DisplayName.Of(value), (object)Convert.ToInt64(value))).Order(),
            shown.GetType($"TierSpaces.Enumerations.{type.Name}")!.GetFields(BindingFlags.Public | BindingFlags.Static)
                .Select(field => (field.Name, field.GetRawConstantValue()!)).Order()));
    }

    [Fact]
    public void Each_comes_back_from_files_as_what_it_was() => Assert.Equal(
        ObjectEnumerations.All.Select(type => "TierSpaces.Enumerations." + type.Name).Order(),
        XDocument.Load(Path.Combine(AppContext.BaseDirectory, "TierSpaces.types.ps1xml")).Descendants("Value").Select(value => value.Value).Order());

    private static Type Record(string windowsClass) =>
        VerbDescription.All.Select(v => v.OutputType).First(type => type.GetCustomAttribute<WindowsClassAttribute>()!.Name == windowsClass);
}
