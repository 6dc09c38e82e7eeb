using TierSpaces.Contracts;

namespace TierSpaces.Cmdlets.Generator;

/// <summary>
/// The type that PowerShell binds. An object of ours is a PSObject, checked by its type names (at a position that
/// a number can have too, a type that converts from objects of its class alone); a flag is a switch; a value that may be
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

    internal static string Of(VerbDescription verb, ParameterDescription parameter)
    {
        if (parameter.IsSwitch)
        {
            return "SwitchParameter";
        }

        return Element(verb, parameter) + (parameter.IsList ? "[]" : "") + (IsReference(parameter) ? "?" : "");
    }

    private static bool IsReference(ParameterDescription parameter) =>
        parameter.IsList || !parameter.ElementType.IsValueType;

    private static string Element(VerbDescription verb, ParameterDescription parameter) =>
        parameter.Attribute.ObjectClass.Length == 0 ? s_keywords.GetValueOrDefault(parameter.ElementType, parameter.ElementType.Name)
        : SharesPositionWithNumber(verb, parameter) ? parameter.Attribute.ObjectClass["MSFT_".Length..] + "Argument"
        : "PSObject";

    // PowerShell converts every value to a PSObject, also a number that is meant for the other parameter at this position.
    private static bool SharesPositionWithNumber(VerbDescription verb, ParameterDescription parameter) => !parameter.IsList
        && verb.Parameters.Any(other =>
            other.Attribute.Position >= 0 && other.Attribute.Position == parameter.Attribute.Position && NumberRange.IsNumber(other));
}
