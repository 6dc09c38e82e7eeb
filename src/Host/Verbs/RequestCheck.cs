using System.Collections;
using System.Globalization;
using TierSpaces.Contracts;

namespace TierSpaces.Host.Verbs;

/// <summary>
/// The checks that follow from a request record's attributes alone, for every caller alike: parameter sets, required parameters,
/// accepted values, parameters that are refused or without effect.
/// </summary>
internal static class RequestCheck
{
    /// <summary>Checks a request.</summary>
    /// <param name="verb">Its verb.</param>
    /// <param name="request">The request.</param>
    /// <param name="warn">Takes the remarks on parameters without effect.</param>
    /// <exception cref="StorageException">Code 5 for parameters that do not go together, code 1 for refused ones.</exception>
    public static void Check(VerbDescription verb, StorageRequest request, Action<string> warn)
    {
        ParameterDescription[] given = verb.Parameters.Where(parameter => IsGiven(parameter.Property.GetValue(request))).ToArray();
        if (ParameterSets.Choose(verb, given, out string? problem) is null)
        {
            throw new StorageException(StorageErrors.InvalidParameter, problem);
        }

        List<ParameterDescription> rejected = new List<ParameterDescription>();
        foreach (ParameterDescription? parameter in given)
        {
            CheckOne(parameter, parameter.Property.GetValue(request)!, rejected.Add, warn);
        }

        if (rejected.Count > 0)
        {
            throw new StorageException(
                StorageErrors.NotSupported, string.Join(" ", rejected.Select(parameter => $"-{parameter.Name}: {parameter.Attribute.Refused}")),
                target: rejected[0].Name);
        }
    }

    private static bool IsGiven(object? value) => value is not (null or false) || value is true;

    private static void CheckOne(
        ParameterDescription parameter, object value, Action<ParameterDescription> refuse, Action<string> warn)
    {
        foreach (object? item in value is IEnumerable list and not string ? list.Cast<object?>() : [value])
        {
            CheckAccepted(parameter, item);
        }

        if (SaysNothing(parameter, value))
        {
            return;
        }

        if (parameter.Attribute.Refused.Length > 0)
        {
            refuse(parameter);
        }

        if (parameter.Attribute.WithoutEffect.Length > 0)
        {
            warn($"-{parameter.Name} has no effect: {parameter.Attribute.WithoutEffect}");
        }
    }

    private static void CheckAccepted(ParameterDescription parameter, object? item)
    {
        if (parameter.Attribute.ObjectClass.Length > 0 && item is (null or ""))
        {
            throw new StorageException(
                StorageErrors.InvalidParameter, $"-{parameter.Name} '' is not accepted: an object of class {parameter.Attribute.ObjectClass} is missing.",
                "Give objects of that class, or their unique identifiers or friendly names.", parameter.Name);
        }

        string[] words = parameter.AcceptedValues;
        string text = Convert.ToString(item, CultureInfo.InvariantCulture) ?? "";
        if (item is null || (words.Length > 0 && !words.Contains(text, StringComparer.OrdinalIgnoreCase)))
        {
            string allowed = words.Length > 0 ? $"one of {string.Join(", ", words)}" : "a value";
            throw new StorageException(
                StorageErrors.InvalidParameter, $"-{parameter.Name} '{text}' is not accepted. Give {allowed}.",
                target: parameter.Name);
        }
    }

    /// <summary>Whether the value is false, or the default that means an absent value.</summary>
    private static bool SaysNothing(ParameterDescription parameter, object value)
    {
        string absent = parameter.Attribute.Default;
        string? text = Convert.ToString(value, CultureInfo.InvariantCulture);
        return value is false || (absent.Length > 0 && absent.Equals(text, StringComparison.OrdinalIgnoreCase));
    }
}
