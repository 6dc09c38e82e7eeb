using System.Reflection;

namespace TierSpaces.Contracts;

/// <summary>One parameter of a verb: its property and what the attribute says, with the lists taken apart.</summary>
public sealed class ParameterDescription(PropertyInfo property, VerbParameterAttribute attribute)
{
    /// <summary>Documented name.</summary>
    public string Name => property.Name;

    /// <summary>The property of the request record.</summary>
    public PropertyInfo Property => property;

    /// <summary>Attribute of the parameter in the request record.</summary>
    public VerbParameterAttribute Attribute => attribute;

    /// <summary>Aliases of the parameter.</summary>
    public string[] Aliases { get; } = Split(attribute.Aliases);

    /// <summary>Words that are offered while a value is typed; others may be accepted too.</summary>
    public string[] Suggestions { get; } = Split(attribute.Suggestions);

    /// <summary>Parameter sets; empty means every set.</summary>
    public string[] Sets { get; } = Split(attribute.Sets);

    /// <summary>Whether it takes no value.</summary>
    public bool IsSwitch => property.PropertyType == typeof(bool);

    /// <summary>Whether it takes a list.</summary>
    public bool IsList => property.PropertyType.IsArray;

    /// <summary>Type of one value, without nullability.</summary>
    public Type ElementType
    {
        get
        {
            Type type = property.PropertyType;
            Type element = type.IsArray ? type.GetElementType()! : type;
            return Nullable.GetUnderlyingType(element) ?? element;
        }
    }

    /// <summary>Accepted values of an enumeration or a closed list of words; empty when anything goes.</summary>
    public string[] AcceptedValues
    {
        get
        {
            if (!ElementType.IsEnum)
            {
                return Split(attribute.Values);
            }

            return Enum.GetNames(ElementType).Where(name => name != attribute.Except).ToArray();
        }
    }

    /// <summary>Whether it belongs to a parameter set.</summary>
    public bool IsIn(string set) => Sets.Length == 0 || Sets.Contains(set, StringComparer.OrdinalIgnoreCase);

    private static string[] Split(string text) =>
        text.Split(',', StringSplitOptions.RemoveEmptyEntries | StringSplitOptions.TrimEntries);
}
