using System.Reflection;
using System.Runtime.CompilerServices;
using Mono.Cecil;
using Mono.Cecil.Cil;

namespace TierSpaces.Engine.Tests.Architecture;

/// <summary>Finds in a compiled assembly what takes part in the state of another type. Nested types belong to the one that they are nested in.</summary>
internal static class AssemblyShape
{
    /// <summary>The types of an assembly, without those that the compiler and generators make.</summary>
    public static TypeDefinition[] TypesOf(Assembly assembly) =>
        [.. ModuleDefinition.ReadModule(assembly.Location).Types.Where(static type => !IsGenerated(type))];

    /// <summary>Names the classes with a constructor of more parameters than that, but for records: these are lists of values.</summary>
    public static IEnumerable<string> MadeOfMoreThan(int parts, IEnumerable<TypeDefinition> types) => types.SelectMany(Within)
        .Where(static type => type.IsClass && !type.IsValueType && type.Methods.All(static method => method.Name != "<Clone>$"))
        .Where(type => type.Methods.Any(method => method.IsConstructor && method.Parameters.Count > parts))
        .Select(static type => type.Name);

    /// <summary>
    /// Names each mutable field of another class that a method touches: of neither its own type nor one that either of them is nested in. A value
    /// belongs to the type that holds it.
    /// </summary>
    public static IEnumerable<string> ForeignFields(IEnumerable<TypeDefinition> types) =>
        types.SelectMany(Within).SelectMany(static type => type.Methods).SelectMany(ForeignFields).Distinct();

    /// <summary>
    /// Names the types whose properties others set, with how many others and properties. Such a property is a field of theirs in all but name. Setters of
    /// init and of values are none: what they make does not change.
    /// </summary>
    public static IEnumerable<string> ForeignSetters(IEnumerable<TypeDefinition> types) => types.SelectMany(Within).SelectMany(static type => type.Methods)
        .SelectMany(ForeignSetters).Distinct().GroupBy(static found => found.Owner).Select(static found => $"{found.Key} {found.Count()}");

    /// <summary>Whether a field of an object can change after it is made.</summary>
    public static bool IsMutable(FieldDefinition field) => field is { IsInitOnly: false, IsLiteral: false, IsStatic: false };

    private static IEnumerable<TypeDefinition> Within(TypeDefinition type) => [type, .. type.NestedTypes.SelectMany(Within)];

    private static IEnumerable<string> ForeignFields(MethodDefinition method)
    {
        TypeDefinition own = Outermost(method.DeclaringType);
        foreach (Instruction instruction in method.HasBody ? method.Body.Instructions : [])
        {
            if (instruction.Operand is FieldReference field && IsOfAnother(own, field.DeclaringType, out TypeDefinition owner)
                && field.Resolve() is { } definition && IsMutable(definition))
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
                && IsOfAnother(own, called.DeclaringType, out TypeDefinition owner) && called.Resolve() is { IsSetter: true, IsStatic: false } setter)
            {
                yield return (owner.Name, setter.Name, own.Name);
            }
        }
    }

    /// <summary>Whether a class of the same assembly belongs to another type.</summary>
    private static bool IsOfAnother(TypeDefinition own, TypeReference named, out TypeDefinition owner)
    {
        owner = (named.GetElementType() as TypeDefinition)!;
        return owner is { IsValueType: false } && Outermost(owner) != own;
    }

    private static TypeDefinition Outermost(TypeDefinition type) => type.DeclaringType is { } outer ? Outermost(outer) : type;

    private static bool IsGenerated(TypeDefinition type) =>
        type.Name.StartsWith('<') || type.CustomAttributes.Any(static attribute => attribute.AttributeType.Name is nameof(CompilerGeneratedAttribute)
            or nameof(System.CodeDom.Compiler.GeneratedCodeAttribute));
}
