namespace TierSpaces.Contracts;

/// <summary>The numbers that the type of a parameter can hold, and the message for a value that is none of them: the same in every caller.</summary>
public static class NumberRange
{
    /// <summary>Whether a parameter takes numbers.</summary>
    public static bool IsNumber(ParameterDescription parameter) =>
        parameter.ElementType == typeof(ushort) || parameter.ElementType == typeof(int) || parameter.ElementType == typeof(uint)
        || parameter.ElementType == typeof(ulong);

    /// <summary>Largest number of a type.</summary>
    public static ulong MaxOf(Type type) =>
        type == typeof(ushort) ? ushort.MaxValue : type == typeof(int) ? int.MaxValue : type == typeof(uint) ? uint.MaxValue : ulong.MaxValue;

    /// <summary>Returns the message for a value that a parameter cannot hold: value, range and what to do.</summary>
    /// <param name="parameter">Name of the parameter.</param>
    /// <param name="type">Type of one value.</param>
    /// <param name="isSize">Whether it is a size in bytes.</param>
    /// <param name="value">The value as it was given.</param>
    public static string Describe(string parameter, Type type, bool isSize, string value) => isSize
        ? $"-{parameter} '{value}': is not a size. Valid: 0 to {SizeText.Exact(MaxOf(type))}. Give a whole number of bytes, or one with KB, MB, GB, TB or PB, for example 512MB."
        : $"-{parameter} '{value}': is not a number of this parameter. Valid: 0 to {MaxOf(type)}. Give a whole number in that range.";

    /// <summary>The same for a parameter of a verb.</summary>
    public static string Describe(ParameterDescription parameter, string value) =>
        Describe(parameter.Name, parameter.ElementType, parameter.Attribute.Kind == ParameterKind.Size, value);
}
