namespace TierSpaces.Contracts;

/// <summary>One row of the table of errors.</summary>
/// <param name="Code">Number, as in <c>StorageWMI 48004</c>.</param>
/// <param name="Word">Name of the row. It distinguishes the errors that Windows has no code for, which share code 5.</param>
/// <param name="Message">The problem, one sentence.</param>
/// <param name="Category">Name of PowerShell's error category.</param>
public sealed record StorageErrorKind(int Code, string Word, string Message, string Category);
