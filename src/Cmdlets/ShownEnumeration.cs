using System.Reflection;

namespace TierSpaces.Cmdlets;

/// <summary>
/// Texts of an enumeration as values that equal the text and the number. Windows' objects hold numbers and show names; scripts compare
/// with either.
/// </summary>
internal sealed class ShownEnumeration
{
    private readonly Type _type;
    private readonly Dictionary<string, object> _values;

    internal ShownEnumeration(string name)
    {
        _type = Assembly.Load("TierSpaces.Enumerations").GetType("TierSpaces.Enumerations." + name, throwOnError: true)!;
        _values = Enum.GetValues(_type).Cast<object>().Where(IsName).ToDictionary(value => value.ToString()!);
    }

    /// <summary>The value of a text; a text that is no value's stays what it is.</summary>
    internal object Of(string text) => _values.GetValueOrDefault(text, text);

    /// <summary>The values of several texts, as a list of the enumeration where each has one.</summary>
    internal Array Of(string[] texts)
    {
        object[] values = [.. texts.Select(Of)];
        if (!values.All(_type.IsInstanceOfType))
        {
            return values;
        }

        Array typed = Array.CreateInstance(_type, values.Length);
        values.CopyTo(typed, 0);
        return typed;
    }

    // The bus "1394" would be taken for the number: it is a text only.
    private static bool IsName(object value) => !long.TryParse(value.ToString(), out _);
}
