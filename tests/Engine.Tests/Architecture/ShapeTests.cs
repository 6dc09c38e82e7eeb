using System.Runtime.CompilerServices;
using System.Text.RegularExpressions;
using Mono.Cecil;
using Mono.Cecil.Cil;
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

    private static readonly TypeDefinition[] s_types =
        [.. ModuleDefinition.ReadModule(typeof(Space).Assembly.Location).Types.Where(static type => !IsGenerated(type))];

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
        .Where(static type => type.Fields.Count(IsMutable) > (type.Name == nameof(Space) ? 8 : MutableFieldsMax))
        .Select(static type => type.Name));

    // Records are lists of values; what they hold is not what they work with.
    [Fact]
    public void No_class_is_made_of_more_than_ten_parts() => Check("parts", s_types.SelectMany(Within)
        .Where(static type => type.IsClass && !type.IsValueType && type.Methods.All(static method => method.Name != "<Clone>$"))
        .Where(static type => type.Methods.Any(static method => method.IsConstructor && method.Parameters.Count > PartsMax))
        .Select(static type => type.Name));

    [Fact]
    public void No_type_reads_or_writes_a_mutable_field_of_another() =>
        Check("state", s_types.SelectMany(Within).SelectMany(static type => type.Methods).SelectMany(ForeignFields).Distinct());

    // A property that others set is a field of theirs in all but name. Setters of init and of values are none: what they make does not change.
    [Fact]
    public void No_type_sets_a_property_of_another() => Check("set", s_types.SelectMany(Within).SelectMany(static type => type.Methods)
        .SelectMany(ForeignSetters).Distinct().GroupBy(static found => found.Owner).Select(static found => $"{found.Key} {found.Count()}"));

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

    private static IEnumerable<TypeDefinition> Within(TypeDefinition type) => [type, .. type.NestedTypes.SelectMany(Within)];

    /// <summary>
    /// Names each mutable field of another class that a method touches: of neither its own type nor one that either of them is nested in. A value
    /// belongs to the type that holds it.
    /// </summary>
    private static IEnumerable<string> ForeignFields(MethodDefinition method)
    {
        TypeDefinition own = Outermost(method.DeclaringType);
        foreach (Instruction instruction in method.HasBody ? method.Body.Instructions : [])
        {
            if (instruction.Operand is FieldReference field && field.DeclaringType.Resolve() is { } owner && owner.Module == method.Module
                && !owner.IsValueType && Outermost(owner) != own && field.Resolve() is { } definition && IsMutable(definition) && !definition.IsStatic)
            {
                yield return $"{own.Name} {owner.Name}.{definition.Name}";
            }
        }
    }

    private static IEnumerable<(string Owner, string Property, string Writer)> ForeignSetters(MethodDefinition method)
    {
        TypeDefinition own = Outermost(method.DeclaringType);
        foreach (Instruction instruction in method.HasBody ? method.Body.Instructions : [])
        {
            if (instruction.Operand is MethodReference { ReturnType: not IModifierType } called && called.Name.StartsWith("set_", StringComparison.Ordinal)
                && called.DeclaringType.Resolve() is { } owner && owner.Module == method.Module && !owner.IsValueType && Outermost(owner) != own
                && called.Resolve() is { IsSetter: true, IsStatic: false } setter)
            {
                yield return (owner.Name, setter.Name, own.Name);
            }
        }
    }

    private static TypeDefinition Outermost(TypeDefinition type) => type.DeclaringType is { } outer ? Outermost(outer) : type;

    private static bool IsMutable(FieldDefinition field) => field is { IsInitOnly: false, IsLiteral: false, IsStatic: false };

    private static bool IsGenerated(TypeDefinition type) =>
        type.Name.StartsWith('<') || type.CustomAttributes.Any(static attribute => attribute.AttributeType.Name == nameof(CompilerGeneratedAttribute));

    [GeneratedRegex(@"^(?:public |internal |static |abstract |sealed |readonly |unsafe |partial |ref |file )*(?:class|struct|record struct|record|interface) (?<name>\w+<?)", RegexOptions.Multiline)]
    private static partial Regex TypeDeclaration();

    [GeneratedRegex(@"^namespace TierSpaces\.(?<name>[\w.]+);", RegexOptions.Multiline)]
    private static partial Regex Namespace();
}
