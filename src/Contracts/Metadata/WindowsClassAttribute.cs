namespace TierSpaces.Contracts;

/// <summary>
/// Names the Windows class whose properties a record carries, and the columns of its default table. A column is a property;
/// <c>Heading=Property</c> renames it, <c>Heading=A/B</c> is the quotient of two in percent, <c>:bytes</c> at the end prints
/// it with a unit (1 GB), and <c>:auto</c> prints Auto where it is empty.
/// </summary>
/// <param name="name">Class name, for example <c>MSFT_VirtualDisk</c>.</param>
/// <param name="columns">Columns of the default table, in order.</param>
[AttributeUsage(AttributeTargets.Class, Inherited = false)]
public sealed class WindowsClassAttribute(string name, params string[] columns) : Attribute
{
    /// <summary>Class name.</summary>
    public string Name { get; } = name;

    /// <summary>Columns of the default table.</summary>
    public string[] Columns { get; } = columns;

    /// <summary>Property whose text is printed unchanged, object after object, instead of the table; empty for none.</summary>
    public string Text { get; init; } = "";

    /// <summary>Property whose value a shell gets instead of an object; empty: it gets the object.</summary>
    public string Value { get; init; } = "";

    /// <summary>Property whose object is shown in place of the object wherever it has one; empty for none.</summary>
    public string Inner { get; init; } = "";

    /// <summary>Properties that a shell finds under another name too, as <c>Alias=Property</c> separated by commas; empty for none.</summary>
    public string Aliases { get; init; } = "";
}
