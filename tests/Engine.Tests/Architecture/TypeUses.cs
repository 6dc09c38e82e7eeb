using Mono.Cecil;
using Mono.Cecil.Cil;

namespace TierSpaces.Engine.Tests.Architecture;

/// <summary>Finds every type that a compiled type names: in its shape, its signatures and its code.</summary>
internal static class TypeUses
{
    internal static IEnumerable<TypeReference> Of(TypeDefinition type) =>
        Named(type).Where(used => used is not null).SelectMany(used => Parts(used!));

    private static IEnumerable<TypeReference?> Named(TypeDefinition type) =>
    [
        type.BaseType,
        .. type.Interfaces.Select(i => i.InterfaceType),
        .. type.CustomAttributes.Select(a => a.AttributeType),
        .. type.GenericParameters.SelectMany(p => p.Constraints).Select(c => c.ConstraintType),
        .. type.Fields.Select(f => f.FieldType),
        .. type.Methods.SelectMany(Named),
        .. type.NestedTypes.SelectMany(Named),
    ];

    private static IEnumerable<TypeReference?> Named(MethodDefinition method) =>
    [
        method.ReturnType,
        .. method.Parameters.Select(p => p.ParameterType),
        .. method.CustomAttributes.Select(a => a.AttributeType),
        .. method.GenericParameters.SelectMany(p => p.Constraints).Select(c => c.ConstraintType),
        .. method.HasBody ? Named(method.Body) : [],
    ];

    private static IEnumerable<TypeReference?> Named(MethodBody body) =>
    [
        .. body.Variables.Select(v => v.VariableType),
        .. body.ExceptionHandlers.Select(h => h.CatchType),
        .. body.Instructions.SelectMany(Named),
    ];

    private static IEnumerable<TypeReference?> Named(Instruction instruction) => instruction.Operand switch
    {
        TypeReference type => [type],
        FieldReference field => [field.DeclaringType, field.FieldType],
        GenericInstanceMethod method => [method.DeclaringType, method.ReturnType, .. method.GenericArguments],
        MethodReference method => [method.DeclaringType, method.ReturnType],
        _ => [],
    };

    // A generic instance is its definition and its arguments; an array, pointer or reference is its element.
    private static IEnumerable<TypeReference> Parts(TypeReference type) => type switch
    {
        GenericParameter => [],
        GenericInstanceType generic => [.. Parts(generic.ElementType), .. generic.GenericArguments.SelectMany(Parts)],
        TypeSpecification specification => Parts(specification.ElementType),
        { DeclaringType: { } outer } => Parts(outer),
        _ => [type],
    };
}
