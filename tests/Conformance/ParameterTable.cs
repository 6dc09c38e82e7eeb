namespace TierSpaces.Conformance;

/// <summary>Support of a parameter here.</summary>
public enum ParameterState
{
    /// <summary>It does what it says.</summary>
    Works,

    /// <summary>It is answered with an error, and nothing is done.</summary>
    Refused,

    /// <summary>It is accepted and changes nothing.</summary>
    WithoutEffect,
}

/// <summary>A row of Facts/parameters.tsv.</summary>
/// <param name="Cmdlet">Verb and noun; * for every cmdlet.</param>
/// <param name="Parameter">Its name.</param>
/// <param name="State">Its support.</param>
/// <param name="Code">Code of the validation error; 0 for none.</param>
/// <param name="Value">The value that is refused, or "other than" the one that is not; empty for any.</param>
/// <param name="Reason">Why it does not simply work.</param>
public sealed record ParameterRow(string Cmdlet, string Parameter, ParameterState State, int Code, string Value, string Reason)
{
    private const string OtherThan = "other than ";

    /// <summary>The value that says the same as leaving the parameter out, or null.</summary>
    public string? Accepted => Value.StartsWith(OtherThan, StringComparison.Ordinal) ? Value[OtherThan.Length..] : null;

    /// <summary>Whether one value is refused and the others work.</summary>
    public bool IsForOneValue => Value.Length > 0 && Accepted is null;
}

/// <summary>
/// The one table of what each parameter of each cmdlet is worth. Every row is tested: against the declarations here, refused ones and those
/// without effect by being sent to a host (tests/Host.Tests), working ones by a command line of tests/Acceptance.
/// </summary>
public static class ParameterTable
{
    /// <summary>Name that matches every cmdlet.</summary>
    public const string EveryCmdlet = "*";

    /// <summary>Its rows.</summary>
    public static IReadOnlyList<ParameterRow> Rows { get; } = File
        .ReadAllLines(Path.Combine(AppContext.BaseDirectory, "Facts", "parameters.tsv")).Skip(1).Select(Read).ToArray();

    private static ParameterRow Read(string line) => line.Split('\t') switch
    {
        [var cmdlet, var parameter, "works", "", "", ""] => new(cmdlet, parameter, ParameterState.Works, 0, "", ""),
        [var cmdlet, var parameter, "refused", var code, var value, { Length: > 0 } reason] =>
            new(cmdlet, parameter, ParameterState.Refused, int.Parse(code, System.Globalization.CultureInfo.InvariantCulture), value, reason),
        [var cmdlet, var parameter, "without effect", "", "", { Length: > 0 } reason] =>
            new(cmdlet, parameter, ParameterState.WithoutEffect, 0, "", reason),
        _ => throw new FormatException($"No row of parameters: '{line}'."),
    };
}
