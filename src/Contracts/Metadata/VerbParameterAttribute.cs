namespace TierSpaces.Contracts;

/// <summary>Interpretation of a parameter's text.</summary>
public enum ParameterKind
{
    /// <summary>As the type of the property says.</summary>
    Value = 0,

    /// <summary>A number of bytes with an optional suffix, see <see cref="SizeText"/>.</summary>
    Size,

    /// <summary>A file or device; the client makes it absolute, since the host has another current directory.</summary>
    Path,
}

/// <summary>Whether PowerShell may bind the parameter from the pipeline.</summary>
public enum PipelineBinding
{
    /// <summary>No.</summary>
    None = 0,

    /// <summary>The object itself.</summary>
    ByValue,

    /// <summary>The object's property of the same name or alias.</summary>
    ByPropertyName,
}

/// <summary>
/// Describes one parameter of a verb. Invariants: the property's name is the documented name; a <c>bool</c> property is a
/// switch, <c>bool?</c> takes a value; an array takes a list; a property that is null (false for a switch) was not given.
/// </summary>
/// <param name="help">Meaning of the parameter, with unit and range.</param>
[AttributeUsage(AttributeTargets.Property)]
public sealed class VerbParameterAttribute(string help) : Attribute
{
    /// <summary>Meaning of the parameter, with unit and range.</summary>
    public string Help { get; } = help;

    /// <summary>Names of the parameter sets it belongs to, separated by commas; empty means every set.</summary>
    public string Sets { get; init; } = "";

    /// <summary>Whether it must be given in its sets.</summary>
    public bool Required { get; init; }

    /// <summary>Position from 0, or -1 for none.</summary>
    public int Position { get; init; } = -1;

    /// <summary>Other names, separated by commas.</summary>
    public string Aliases { get; init; } = "";

    /// <summary>Binding of the parameter to PowerShell's pipeline.</summary>
    public PipelineBinding Pipeline { get; init; }

    /// <summary>Interpretation of its text.</summary>
    public ParameterKind Kind { get; init; }

    /// <summary>
    /// For a parameter that takes objects: their class. On the wire each is a string: a unique identifier, else a friendly name,
    /// where wildcards are accepted.
    /// </summary>
    public string ObjectClass { get; init; } = "";

    /// <summary>Windows class whose objects the parameter names, where neither its own name nor <see cref="ObjectClass"/> says so.</summary>
    public string NamedClass { get; init; } = "";

    /// <summary>For text: the accepted values, separated by commas; empty accepts any.</summary>
    public string Values { get; init; } = "";

    /// <summary>Words that are offered while a value is typed, separated by commas; others may be accepted too.</summary>
    public string Suggestions { get; init; } = "";

    /// <summary>For an enumeration: the one value that is not accepted; empty accepts all.</summary>
    public string Except { get; init; } = "";

    /// <summary>The value that means the same as an absent one; empty for none.</summary>
    public string Default { get; init; } = "";

    /// <summary>
    /// Reason why the parameter is refused with code 1 unless it is absent, false or <see cref="Default"/>; empty: it is accepted.
    /// </summary>
    public string Refused { get; init; } = "";

    /// <summary>Reason why the parameter is accepted and changes nothing (a warning states the reason); empty when it has an effect.</summary>
    public string WithoutEffect { get; init; } = "";

    /// <summary>For a Boolean: whether setting it to true puts data at risk, so that it is asked about as a verb that destroys is.</summary>
    public bool Endangers { get; init; }

    /// <summary>Whether Windows has no such parameter.</summary>
    public bool IsOurs { get; init; }

    /// <summary>Whether Windows has it and does not document it.</summary>
    public bool IsUndocumented { get; init; }
}
