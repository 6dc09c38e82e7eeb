using System.Reflection;

namespace TierSpaces.Conformance;

/// <summary>One cmdlet as the built assembly declares it.</summary>
/// <param name="Name">Verb and noun.</param>
/// <param name="Aliases">Other names.</param>
/// <param name="DefaultSet">Its default parameter set, or null.</param>
/// <param name="ShouldProcess">Whether it has -WhatIf and -Confirm.</param>
/// <param name="Outputs">Type names of what it returns.</param>
/// <param name="Parameters">Its parameters, inherited ones included.</param>
public sealed record CompiledCmdlet(
    string Name, string[] Aliases, string? DefaultSet, bool ShouldProcess, string[] Outputs, CompiledParameter[] Parameters)
{
    /// <summary>Names of the sets that any parameter mentions.</summary>
    public IEnumerable<string> Sets => Parameters.SelectMany(p => p.Bindings.Keys).Where(set => set != CompiledParameter.AllSets).Distinct();
}

/// <summary>One parameter as the built assembly declares it.</summary>
/// <param name="Name">Its name.</param>
/// <param name="Type">Full name of its type.</param>
/// <param name="Aliases">Other names.</param>
/// <param name="Values">Accepted values: those of ValidateSet, else of the enumeration, else none.</param>
/// <param name="ObjectType">Type name it checks, or null.</param>
/// <param name="Bindings">Its binding, by parameter set.</param>
public sealed record CompiledParameter(
    string Name, string Type, string[] Aliases, string[] Values, string? ObjectType, IReadOnlyDictionary<string, Binding> Bindings)
{
    /// <summary>PowerShell's name for "every set".</summary>
    public const string AllSets = "__AllParameterSets";
}

/// <summary>Binding of a parameter in one set.</summary>
public sealed record Binding(bool Required, int? Position, string? Pipeline);

/// <summary>Reads cmdlets from metadata alone: no shell, no code of theirs runs.</summary>
public static class CompiledCmdlets
{
    /// <summary>Every cmdlet of the module's assembly, by name.</summary>
    public static IReadOnlyDictionary<string, CompiledCmdlet> All { get; } = Read();

    private static Dictionary<string, CompiledCmdlet> Read()
    {
        string[] assemblies =
        [
            .. Directory.GetFiles(AppContext.BaseDirectory, "*.dll"),
            .. Directory.GetFiles(Path.GetDirectoryName(typeof(object).Assembly.Location)!, "*.dll"),
        ];
        using MetadataLoadContext context = new(new PathAssemblyResolver(assemblies));
        return context.LoadFromAssemblyPath(Path.Combine(AppContext.BaseDirectory, "TierSpaces.Cmdlets.dll")).GetTypes()
            .Select(type => (type, cmdlet: Attributes(type, "CmdletAttribute").SingleOrDefault()))
            .Where(pair => pair.cmdlet is not null)
            .Select(pair => Describe(pair.type, pair.cmdlet!))
            .ToDictionary(cmdlet => cmdlet.Name);
    }

    private static CompiledCmdlet Describe(Type type, CustomAttributeData cmdlet) => new(
        $"{cmdlet.ConstructorArguments[0].Value}-{cmdlet.ConstructorArguments[1].Value}",
        [.. Attributes(type, "AliasAttribute").SelectMany(a => Texts(a.ConstructorArguments[0]))],
        Named<string>(cmdlet, "DefaultParameterSetName"),
        Named<bool>(cmdlet, "SupportsShouldProcess"),
        [.. Attributes(type, "OutputTypeAttribute").SelectMany(a => Texts(a.ConstructorArguments[0]))],
        [.. type.GetProperties().Where(p => Attributes(p, "ParameterAttribute").Any()).Select(Describe)]);

    private static CompiledParameter Describe(PropertyInfo property) => new(
        property.Name,
        property.PropertyType.FullName!,
        [.. Attributes(property, "AliasAttribute").SelectMany(a => Texts(a.ConstructorArguments[0]))],
        Values(property),
        Attributes(property, "PSTypeNameAttribute").Select(a => (string?)a.ConstructorArguments[0].Value).SingleOrDefault(),
        Attributes(property, "ParameterAttribute").ToDictionary(
            a => Named<string>(a, "ParameterSetName") ?? CompiledParameter.AllSets,
            a => new Binding(Named<bool>(a, "Mandatory"), NamedOrNull<int>(a, "Position"), Pipeline(a))));

    private static string[] Values(PropertyInfo property)
    {
        if (Attributes(property, "ValidateSetAttribute").SingleOrDefault() is { } set)
        {
            return [.. Texts(set.ConstructorArguments[0])];
        }

        Type element = property.PropertyType.GetElementType() ?? property.PropertyType;
        return element.IsEnum ? [.. element.GetFields(BindingFlags.Public | BindingFlags.Static).Select(f => f.Name)] : [];
    }

    private static string? Pipeline(CustomAttributeData parameter) =>
        Named<bool>(parameter, "ValueFromPipeline") ? "ByValue"
        : Named<bool>(parameter, "ValueFromPipelineByPropertyName") ? "ByPropertyName"
        : null;

    private static IEnumerable<CustomAttributeData> Attributes(MemberInfo member, string name) =>
        member.GetCustomAttributesData().Where(a => a.AttributeType.Name == name);

    private static T? Named<T>(CustomAttributeData attribute, string name) =>
        attribute.NamedArguments.Where(a => a.MemberName == name).Select(a => (T?)a.TypedValue.Value).FirstOrDefault();

    private static T? NamedOrNull<T>(CustomAttributeData attribute, string name)
        where T : struct => attribute.NamedArguments.Where(a => a.MemberName == name).Select(a => (T?)a.TypedValue.Value).FirstOrDefault();

    private static IEnumerable<string> Texts(CustomAttributeTypedArgument argument) =>
        ((IEnumerable<CustomAttributeTypedArgument>)argument.Value!).Select(one => one.Value).OfType<string>();   // else a type
}
