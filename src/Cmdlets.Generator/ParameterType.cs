using TierSpaces.Contracts;

namespace TierSpaces.Cmdlets.Generator;

/// <summary>
/// The type that PowerShell binds. An object of ours is a PSObject, checked by its type names; a flag is a switch; a value that may be
/// absent loses its question mark, because the binder knows what was given.
/// </summary>
internal static class ParameterType
{
    private static readonly Dictionary<Type, string> s_keywords = new()
    {
        [typeof(string)] = "string",
        [typeof(bool)] = "bool",
        [typeof(ushort)] = "ushort",
        [typeof(uint)] = "uint",
        [typeof(ulong)] = "ulong",
        [typeof(int)] = "int",
        [typeof(long)] = "long",
    };

    internal static string Of(ParameterDescription parameter)
    {
        if (parameter.IsSwitch)
        {
            return "SwitchParameter";
        }

        return Element(parameter) + (parameter.IsList ? "[]" : "") + (IsReference(parameter) ? "?" : "");
    }

    private static bool IsReference(ParameterDescription parameter) =>
        parameter.IsList || !parameter.ElementType.IsValueType;

    private static string Element(ParameterDescription parameter) =>
        parameter.Attribute.ObjectClass.Length > 0
            ? "PSObject"
            : s_keywords.GetValueOrDefault(parameter.ElementType, parameter.ElementType.Name);
}
