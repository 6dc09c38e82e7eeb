using System.Collections;
using System.Globalization;
using TierSpaces.Contracts;

namespace TierSpaces.Host.Verbs;

/// <summary>Describes the changes that a request makes.</summary>
internal static class ChangeText
{
    /// <summary>The parameters that choose no object, with their values: <c>NewFriendlyName to 'Pool2', IsReadOnly to True</c>.</summary>
    /// <param name="request">The request.</param>
    /// <param name="nothing">Text when there are none.</param>
    public static string Changes(this StorageRequest request, string nothing = "nothing")
    {
        IEnumerable<(string Name, bool IsSwitch, object? Value)> given = VerbDescription.Of(request.GetType()).Parameters
            .Where(parameter => parameter.Attribute is { Required: false, WithoutEffect: "" } && parameter.Name != "PassThru")
            .Select(parameter => (parameter.Name, parameter.IsSwitch, Value: Sized(parameter, parameter.Property.GetValue(request))))
            .Where(pair => pair.Value is not null && !(pair.IsSwitch && pair.Value is false));
        string[] texts = given.Select(pair => $"{pair.Name} to {Text(pair.Value!)}").ToArray();
        return texts.Length > 0 ? string.Join(", ", texts) : nothing;
    }

    private static object? Sized(ParameterDescription parameter, object? value) =>
        parameter.Attribute.Kind == ParameterKind.Size && value is ulong bytes ? new Size(bytes) : value;

    private static string Text(object value) => value switch
    {
        string text => $"'{text}'",
        Enum one => DisplayName.Of(one),
        IEnumerable several => string.Join(", ", several.Cast<object>().Select(Text)),
        Size { Bytes: ulong.MaxValue } => "automatic",
        Size size => SizeText.Exact(size.Bytes),
        _ => Convert.ToString(value, CultureInfo.InvariantCulture)!,
    };

    private readonly record struct Size(ulong Bytes);
}
