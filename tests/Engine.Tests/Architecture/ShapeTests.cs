using System.Text.RegularExpressions;
using Mono.Cecil;
using TierSpaces.Engine.Resiliency;

namespace TierSpaces.Engine.Tests.Architecture;

// A class is one idea: it has a bounded size, its state is its own, and it is in one file.
//
// Shapes.txt lists what does not keep to a rule yet, one line each: rule and type, and for setters how often another type has one that it calls. A line that
// nothing needs any more fails the test, so the list only gets shorter.

/// <summary>Size and files of all types of the product, and state of the engine's.</summary>
public sealed partial class ShapeTests
{
    private const int LinesMax = 1000;
    private const int MutableFieldsMax = 12;
    private const int PartsMax = 10;   // parameters of a constructor

    private static readonly string s_sources = Path.Combine(SourceTree.Root(), "src");
    private static readonly ILookup<string, string> s_exceptions = File.ReadLines(
        Path.Combine(SourceTree.Root(), "tests", "Engine.Tests", "Architecture", "Shapes.txt"))
        .Where(static line => line.Length > 0 && line[0] != '#')
        .Select(static line => line.Split(' ', 2))
        .ToLookup(static parts => parts[0], static parts => parts[1]);

    private static readonly TypeDefinition[] s_types = AssemblyShape.TypesOf(typeof(Space).Assembly);

    [Fact]
    public void No_class_is_longer_than_a_thousand_lines_over_all_its_files() =>
        Check("lines", Declarations().GroupBy(static found => found.Type).Where(static files => files.Sum(static found => found.Lines) > LinesMax)
            .Select(static files => files.Key));

    [Fact]
    public void No_class_but_that_of_system_calls_is_spread_over_files() =>
        Check("files", Declarations().GroupBy(static found => found.Type)
            .Where(static files => files.Count() > 1 && !files.Key.EndsWith(".Libc", StringComparison.Ordinal)).Select(static files => files.Key));

    [Fact]
    public void A_part_of_a_space_has_at_most_twelve_mutable_fields_and_a_space_eight() => Check("fields", s_types
        .Where(static type => type.Namespace == typeof(Space).Namespace && type.IsClass)
        .Where(static type => type.Fields.Count(AssemblyShape.IsMutable) > (type.Name == nameof(Space) ? 8 : MutableFieldsMax))
        .Select(static type => type.Name));

    // Records are lists of values; what they hold is not what they work with.
    [Fact]
    public void No_class_is_made_of_more_than_ten_parts() => Check("parts", AssemblyShape.MadeOfMoreThan(PartsMax, s_types));

    [Fact]
    public void No_type_reads_or_writes_a_mutable_field_of_another() => Check("state", AssemblyShape.ForeignFields(s_types));

    [Fact]
    public void No_type_sets_a_property_of_another() => Check("set", AssemblyShape.ForeignSetters(s_types));

    private static void Check(string rule, IEnumerable<string> found)
    {
        string[] exceptions = [.. s_exceptions[rule]];
        string[] all = [.. found];
        Assert.True(
            exceptions.ToHashSet().SetEquals(all),
            $"Not in the list: {string.Join("; ", all.Except(exceptions).Order())}. Listed in vain: {string.Join("; ", exceptions.Except(all).Order())}.");
    }

    private static IEnumerable<(string Type, int Lines)> Declarations() =>
        from path in Directory.EnumerateFiles(s_sources, "*.cs", SearchOption.AllDirectories)
        where !path.Contains($"{Path.DirectorySeparatorChar}obj{Path.DirectorySeparatorChar}", StringComparison.Ordinal)
        let text = File.ReadAllText(path)
        let space = Namespace().Match(text).Groups["name"].Value
        let declared = TypeDeclaration().Matches(text)
        from index in Enumerable.Range(0, declared.Count)
        let end = index + 1 < declared.Count ? declared[index + 1].Index : text.Length
        select ($"{space}.{declared[index].Groups["name"].Value}",
        text.AsSpan(index == 0 ? 0 : declared[index].Index, end - (index == 0 ? 0 : declared[index].Index)).Count('\n'));

    [GeneratedRegex(@"^(?:public |internal |static |abstract |sealed |readonly |unsafe |partial |ref |file )*(?:class|struct|record struct|record|interface) (?<name>\w+<?)", RegexOptions.Multiline)]
    private static partial Regex TypeDeclaration();

    [GeneratedRegex(@"^namespace TierSpaces\.(?<name>[\w.]+);", RegexOptions.Multiline)]
    private static partial Regex Namespace();
}
