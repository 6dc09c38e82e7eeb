using System.Collections.Concurrent;
using System.Reflection;

namespace TierSpaces.Contracts;

/// <summary>
/// One verb as its request record declares it. Built once per verb, on demand: a command looks at its own verb only.
/// </summary>
public sealed class VerbDescription
{
    private static readonly ConcurrentDictionary<Type, VerbDescription> s_known = new();

    private VerbDescription(Type requestType, VerbAttribute verb)
    {
        RequestType = requestType;
        Verb = verb;
        Parameters = requestType.GetProperties()
            .Select(property => (property, attribute: property.GetCustomAttribute<VerbParameterAttribute>()))
            .Where(pair => pair.attribute is not null)
            .Select(pair => new ParameterDescription(pair.property, pair.attribute!))
            .ToArray();
    }

    /// <summary>Verb and noun.</summary>
    public string Name => Verb.Name;

    /// <summary>Attribute of the verb in the request record.</summary>
    public VerbAttribute Verb { get; }

    /// <summary>Type of the request record.</summary>
    public Type RequestType { get; }

    /// <summary>Type of the objects in the reply.</summary>
    public Type OutputType => RequestType.BaseType!.GenericTypeArguments[0];

    /// <summary>Its parameters in the order of the record.</summary>
    public IReadOnlyList<ParameterDescription> Parameters { get; }

    /// <summary>Every verb, by name.</summary>
    public static IEnumerable<VerbDescription> All =>
        typeof(VerbDescription).Assembly.GetTypes()
            .Select(TryOf).OfType<VerbDescription>().OrderBy(verb => verb.Name, StringComparer.Ordinal);

    /// <summary>The verb of that name or alias in any case, or null. Costs the one type, not the catalogue.</summary>
    public static VerbDescription? Find(string name) => FindByName(CmdletAliases.Resolve(name));

    /// <summary>The verb a request record declares.</summary>
    public static VerbDescription Of(Type requestType) =>
        TryOf(requestType) ?? throw new ArgumentException($"{requestType.Name} carries no [Verb].", nameof(requestType));

    /// <summary>The verb a type declares, from any assembly, or null.</summary>
    public static VerbDescription? TryOf(Type type)
    {
        if (s_known.TryGetValue(type, out VerbDescription? description))
        {
            return description;
        }

        return type.GetCustomAttribute<VerbAttribute>() is { } verb
            ? s_known.GetOrAdd(type, new VerbDescription(type, verb))
            : null;
    }

    private static VerbDescription? FindByName(string name) =>
        name.Count(c => c == '-') == 1
        && typeof(VerbDescription).Assembly.GetType(
            $"TierSpaces.Contracts.{name.Replace("-", "")}Request", throwOnError: false, ignoreCase: true) is { } type
        && TryOf(type) is { } verb && verb.Name.Equals(name, StringComparison.OrdinalIgnoreCase)
            ? verb
            : null;
}
