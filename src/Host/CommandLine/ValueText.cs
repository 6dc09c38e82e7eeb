using System.Text.Json;
using TierSpaces.Contracts;

namespace TierSpaces.Host.CommandLine;

/// <summary>Turns the text of one parameter into JSON, by the type of its property.</summary>
internal static class ValueText
{
    /// <summary>Writes the parameter as a JSON property.</summary>
    /// <exception cref="UsageException">The text is no value of that type; the message says what is.</exception>
    public static void Write(Utf8JsonWriter json, ParameterDescription parameter, string text)
    {
        json.WritePropertyName(parameter.Name);
        if (!parameter.IsList)
        {
            WriteOne(json, parameter, text);
            return;
        }

        json.WriteStartArray();
        foreach (string item in ListText.Split(text))
        {
            WriteOne(json, parameter, item);
        }

        json.WriteEndArray();
    }

    /// <summary>Whether a text is $true, $false, true, false, 1 or 0.</summary>
    public static bool IsBoolean(string text) => TryReadBoolean(text, out _);

    /// <summary>Reads $true, $false, true, false, 1 or 0.</summary>
    /// <exception cref="UsageException">It is none of them.</exception>
    public static bool ReadBoolean(string name, string text) => TryReadBoolean(text, out bool value)
        ? value
        : throw new UsageException($"-{name} '{text}' is no Boolean. Give $true or $false.");

    private static bool TryReadBoolean(string text, out bool value)
    {
        string word = text.TrimStart('$').ToLowerInvariant();
        value = word is "true" or "1";
        return value || word is "false" or "0";
    }

    private static void WriteOne(Utf8JsonWriter json, ParameterDescription parameter, string text)
    {
        Type type = parameter.ElementType;
        if (type == typeof(bool))
        {
            json.WriteBooleanValue(ReadBoolean(parameter.Name, text));
        }
        else if (type.IsEnum)
        {
            json.WriteStringValue(ReadWord(parameter, text));
        }
        else if (type == typeof(string))
        {
            json.WriteStringValue(ReadText(parameter, text));
        }
        else
        {
            json.WriteNumberValue(ReadNumber(parameter, type, text));
        }
    }

    private static string ReadText(ParameterDescription parameter, string text) =>
        parameter.Attribute.Kind == ParameterKind.Path ? ReadPath(parameter, text)
        : parameter.AcceptedValues.Length > 0 ? ReadWord(parameter, text)
        : text;

    private static string ReadPath(ParameterDescription parameter, string text) => text.Length > 0
        ? Path.GetFullPath(text)
        : throw new UsageException($"-{parameter.Name} '': is empty. Valid: the path of a file or device. Give one.");

    /// <summary>One of the accepted words, in any case, also as objects show it, by the number of its value, or by an unambiguous beginning.</summary>
    private static string ReadWord(ParameterDescription parameter, string text)
    {
        string[] words = parameter.AcceptedValues;
        string? exact = words.FirstOrDefault(word => Same(word, text))
            ?? (parameter.ElementType.IsEnum ? words.FirstOrDefault(word => Same(Shown(parameter, word), text) || NumberOf(parameter, word) == text) : null);
        if (exact is not null)
        {
            return exact;
        }

        string[] beginning = words.Where(word => word.StartsWith(text, StringComparison.OrdinalIgnoreCase)).ToArray();
        return beginning.Length == 1
            ? beginning[0]
            : throw new UsageException($"-{parameter.Name} '{text}' is not accepted. Give one of {string.Join(", ", words)}.");
    }

    /// <summary>A number; one that is no size has to be whole, a size is rounded to bytes.</summary>
    private static ulong ReadNumber(ParameterDescription parameter, Type type, string text)
    {
        bool isSize = parameter.Attribute.Kind == ParameterKind.Size;
        bool isNumber = isSize ? SizeText.TryParse(text, out ulong number) : SizeText.TryParseWhole(text, out number);
        return isNumber && number <= NumberRange.MaxOf(type)
            ? number
            : throw new UsageException(NumberRange.Describe(parameter, text));
    }

    private static string NumberOf(ParameterDescription parameter, string word) => ((Enum)Enum.Parse(parameter.ElementType, word)).ToString("D");

    private static string Shown(ParameterDescription parameter, string word) =>
        DisplayName.Of((Enum)Enum.Parse(parameter.ElementType, word));

    private static bool Same(string word, string text) => word.Equals(text, StringComparison.OrdinalIgnoreCase);
}
