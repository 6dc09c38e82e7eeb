using System.Reflection;
using TierSpaces.Contracts;

namespace TierSpaces.Conformance;

/// <summary>A value that a shell makes: a text, a number, true, or an object.</summary>
public sealed record BindingValue
{
    /// <summary>The text, if it is one.</summary>
    public string? Text { get; init; }

    /// <summary>The number, if it is one.</summary>
    public int? Number { get; init; }

    /// <summary>True, if it is that.</summary>
    public bool? Flag { get; init; }

    /// <summary>Type names of an object, the most specific first.</summary>
    public string[]? TypeNames { get; init; }

    /// <summary>Properties of an object.</summary>
    public Dictionary<string, object?>? Properties { get; init; }
}

/// <summary>One call of a cmdlet: its arguments and the input from the pipeline.</summary>
/// <param name="Cmdlet">Verb and noun.</param>
/// <param name="Set">The documented parameter set that is meant.</param>
/// <param name="Shape">Shape of the call: a column of the table.</param>
/// <param name="Named">Arguments with a name.</param>
/// <param name="Positional">Arguments without a name, in order.</param>
/// <param name="Piped">Objects from the pipeline.</param>
/// <param name="Expected">Parameters that must be bound.</param>
/// <param name="Sets">The sets that are right: more than one only if the documented syntax does not tell them apart.</param>
public sealed record BindingCase(
    string Cmdlet, string Set, string Shape, Dictionary<string, BindingValue> Named, BindingValue[] Positional, BindingValue[] Piped, string[] Expected,
    string[] Sets);

/// <summary>
/// Calls of every documented parameter set, made of the documented facts alone: with names, by position, and with each shape of input that the set
/// takes from the pipeline.
/// </summary>
internal static class BindingCases
{
    /// <summary>Shapes of a call, in the order of the table.</summary>
    public static readonly string[] Shapes = ["names", "positions", "object", "objects", "bare object", "property", "alias"];

    private const string CimInstance = "Microsoft.Management.Infrastructure.CimInstance#";

    private static readonly string[] s_commonSets = [CompiledParameter.AllSets];

    private static readonly Dictionary<string, Type> s_classes = typeof(WindowsClassAttribute).Assembly.GetTypes()
        .Where(type => type.GetCustomAttribute<WindowsClassAttribute>() is not null)
        .DistinctBy(type => type.GetCustomAttribute<WindowsClassAttribute>()!.Name)
        .ToDictionary(type => type.GetCustomAttribute<WindowsClassAttribute>()!.Name);

    /// <summary>Returns the calls of a cmdlet.</summary>
    public static IEnumerable<BindingCase> Of(string cmdlet)
    {
        DocumentedCmdlet documented = Documented.Cmdlets[cmdlet];
        return SetsOf(documented).SelectMany(set => OfSet(cmdlet, documented, set));
    }

    private static IEnumerable<BindingCase> OfSet(string cmdlet, DocumentedCmdlet documented, string set)
    {
        Dictionary<string, DocumentedParameter> all = documented.Parameters.Where(p => p.Value.Sets.Length == 0 || p.Value.Sets.Contains(set)).ToDictionary();
        string[] required = Choosing(documented, set, all, [.. all.Where(p => p.Value.Required).Select(p => p.Key)]);

        yield return Case("names", required, [], [], required);

        string[] positions = [.. all.Where(p => p.Value.Position is not null).OrderBy(p => p.Value.Position).Select(p => p.Key)];
        if (positions.Length > 0)
        {
            string[] others = Choosing(documented, set, all, [.. required.Union(positions)]);
            yield return Case("positions", [.. others.Except(positions)], [.. positions.Select(Value)], [], others);
        }

        foreach (string name in all.Where(p => p.Value.Pipeline == "ByValue").Select(p => p.Key))
        {
            string[] named = Choosing(documented, set, all, [.. required.Append(name).Distinct()]);
            BindingValue value = Value(name);
            string[] rest = [.. named.Where(one => one != name && all[one].Pipeline != "ByValue")];
            if (value.TypeNames is null && !IsTextForOneSet(documented, name, rest))
            {
                continue;   // a text fits several sets, and the documented syntax prefers none of them
            }

            yield return Case("object", rest, [], [value], [.. rest, name]);
            yield return Case("objects", rest, [], [value, value, value], [.. rest, name]);
            if (value.TypeNames is not null)
            {
                yield return Case("bare object", rest, [], [value with { Properties = new() { ["UniqueId"] = "x" } }], [.. rest, name]);
            }
        }

        string[] properties = [.. all.Where(p => p.Value.Pipeline == "ByPropertyName").Select(p => p.Key)];
        string[] chosen = [.. properties.Intersect(required)];
        if ((chosen.Length > 0 ? chosen : [.. properties.Take(1)]) is { Length: > 0 } piped)
        {
            string[] expected = Choosing(documented, set, all, [.. required.Union(piped)]);
            string[] named = [.. expected.Except(piped)];
            if (PrefersObjects(documented, named))
            {
                yield break;
            }

            yield return Case("property", named, [], [Bag(piped.ToDictionary(name => name, name => Plain(Value(name))))], expected);
            if (piped.Any(name => all[name].Aliases.Length > 0))
            {
                Dictionary<string, object?> aliased = piped.ToDictionary(name => all[name].Aliases.FirstOrDefault(name), name => Plain(Value(name)));
                yield return Case("alias", named, [], [Bag(aliased)], expected);
            }
        }

        BindingValue Value(string name) => ValueOf(cmdlet, name, all[name]);

        BindingCase Case(string shape, string[] named, BindingValue[] positional, BindingValue[] piped, string[] expected) => new(
            cmdlet, set, shape, named.ToDictionary(name => name, Value), positional, piped, expected,
            [.. Candidates(documented, expected).Select(Compiled)]);

        string Compiled(string one) => one == "(unnamed)" ? SyntaxTests.Named.GetValueOrDefault(cmdlet, CompiledParameter.AllSets) : one;
    }

    private static bool IsTextForOneSet(DocumentedCmdlet cmdlet, string name, string[] given) => cmdlet.Parameters
        .Where(p => p.Value.Pipeline == "ByValue" && !p.Value.Type.StartsWith("CimInstance", StringComparison.Ordinal))
        .All(p => p.Key == name || Candidates(cmdlet, [.. given, p.Key]).Length == 0);

    // A rule of the binder: where a set needs an object from the pipeline, properties of the object are not looked at, unless the default set takes them.
    private static bool PrefersObjects(DocumentedCmdlet cmdlet, string[] named)
    {
        bool TakesNamed(string set) => named.All(name => cmdlet.Parameters[name].Sets is [] || cmdlet.Parameters[name].Sets.Contains(set));

        DocumentedParameter[] Open(string set) =>
            [.. cmdlet.Parameters.Where(p => (p.Value.Sets is [] || p.Value.Sets.Contains(set)) && !named.Contains(p.Key)).Select(p => p.Value)];

        bool defaultTakesInput = cmdlet.DefaultSet is { } set && TakesNamed(set)
            && Open(set).Any(p => p.Pipeline is not null) && Open(set).All(p => !p.Required || p.Pipeline is not null);
        return !defaultTakesInput && SetsOf(cmdlet).Any(one => TakesNamed(one) && Open(one).Any(p => p.Required && p.Pipeline == "ByValue"));
    }

    // The sets that take all of the parameters, and of which nothing required is missing.
    private static string[] Candidates(DocumentedCmdlet cmdlet, string[] given)
    {
        string[] fit =
        [
            .. SetsOf(cmdlet).Where(set =>
                given.All(name => cmdlet.Parameters[name].Sets is [] || cmdlet.Parameters[name].Sets.Contains(set))
                && cmdlet.Parameters.All(p => !p.Value.Required || (p.Value.Sets.Length > 0 && !p.Value.Sets.Contains(set)) || given.Contains(p.Key))),
        ];
        return fit;
    }

    // With those of parameters that are not on the pages.
    private static string[] SetsOf(DocumentedCmdlet cmdlet) =>
        cmdlet.Sets.Length == 0 ? s_commonSets : [.. cmdlet.Sets.Union(cmdlet.Parameters.Values.SelectMany(p => p.Sets))];

    // The parameters, and of the optional ones of the set those that tell it from the other sets.
    private static string[] Choosing(DocumentedCmdlet cmdlet, string set, Dictionary<string, DocumentedParameter> all, string[] given)
    {
        string[] best = given;
        if (cmdlet.DefaultSet is { } other && other != set
            && given.All(name => cmdlet.Parameters[name].Sets is [] || cmdlet.Parameters[name].Sets.Contains(other)))
        {
            best =
            [
                .. best,
                .. all.Where(p => p.Value.Sets.Length > 0 && !p.Value.Sets.Contains(other)).Select(p => p.Key).Except(best)
                    .OrderBy(name => Candidates(cmdlet, [.. best, name]).Length).Take(1),
            ];
        }

        while (Candidates(cmdlet, best).Length > 1 && cmdlet.DefaultSet != set)
        {
            string? more = all.Keys.Except(best).OrderBy(name => Candidates(cmdlet, [.. best, name]).Length).FirstOrDefault();
            if (more is null || Candidates(cmdlet, [.. best, more]).Length == Candidates(cmdlet, best).Length)
            {
                break;
            }

            best = [.. best, more];
        }

        return best;
    }

    private static BindingValue ValueOf(string cmdlet, string name, DocumentedParameter parameter)
    {
        string type = parameter.Type.Replace("[]", "", StringComparison.Ordinal);
        return type switch
        {
            _ when type.StartsWith("CimInstance", StringComparison.Ordinal) => ObjectOf(cmdlet, name),
            "Boolean" or "SwitchParameter" => new BindingValue { Flag = true },
            "UInt16" or "UInt32" or "UInt64" or "Int32" => new BindingValue { Number = 1 },
            "Char" => new BindingValue { Text = "E" },
            _ => new BindingValue { Text = parameter.Values.FirstOrDefault() ?? EnumerationName(cmdlet, name) ?? "x" },
        };
    }

    private static string? EnumerationName(string cmdlet, string name) =>
        CompiledCmdlets.All[cmdlet].Parameters.Single(p => p.Name == name).Values.FirstOrDefault();

    // As a cmdlet writes it: every property of the class has a value, so that other parameters could take them by their names.
    private static BindingValue ObjectOf(string cmdlet, string name)
    {
        string typeName = CompiledCmdlets.All[cmdlet].Parameters.Single(p => p.Name == name).ObjectType!;
        string windowsClass = typeName[CimInstance.Length..];
        return new BindingValue
        {
            TypeNames = [$"{CimInstance}ROOT/Microsoft/Windows/Storage/{windowsClass}", typeName],
            Properties = s_classes.TryGetValue(windowsClass, out Type? info)
                ? info.GetProperties().ToDictionary(property => property.Name, Sample)
                : new Dictionary<string, object?> { ["UniqueId"] = "x" },
        };
    }

    private static object? Sample(PropertyInfo property)
    {
        Type type = Nullable.GetUnderlyingType(property.PropertyType) ?? property.PropertyType;
        return property.Name == "DriveLetter" ? "E"
            : type == typeof(string) ? "x"
            : type == typeof(string[]) ? new[] { "x" }
            : type == typeof(bool) ? true
            : type.IsPrimitive ? 1
            : null;
    }

    private static object? Plain(BindingValue value) => value.Text ?? (object?)value.Number ?? value.Flag;

    private static BindingValue Bag(Dictionary<string, object?> properties) => new() { TypeNames = ["Selected"], Properties = properties };
}
