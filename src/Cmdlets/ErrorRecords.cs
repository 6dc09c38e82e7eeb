using System.Management.Automation;
using System.Reflection;
using TierSpaces.Contracts;

namespace TierSpaces.Cmdlets;

/// <summary>The one place where errors of the host become error records.</summary>
internal static class ErrorRecords
{
    // A binary cmdlet's FullyQualifiedErrorId ends in the full name of its class; scripts match on the name of the cmdlet. PowerShell
    // prefers this field, which it fills itself when a record comes back from a remote session. Without it the id keeps its first part.
    private static readonly FieldInfo? s_serializedId =
        typeof(ErrorRecord).GetField("_serializedFullyQualifiedErrorId", BindingFlags.Instance | BindingFlags.NonPublic);

    /// <summary>Makes the record of an error.</summary>
    /// <param name="error">The error.</param>
    /// <param name="command">Name of the cmdlet, with which the record's id ends.</param>
    internal static ErrorRecord From(StorageErrorInfo error, string command)
    {
        ErrorRecord record = new(
            new StorageException(error), error.ErrorId, Category(error.Category), error.Target.Length > 0 ? error.Target : null)
        {
            ErrorDetails = new ErrorDetails(error.FullText),
        };
        s_serializedId?.SetValue(record, $"{error.ErrorId},{command}");
        return record;
    }

    private static ErrorCategory Category(string name) =>
        Enum.TryParse(name, out ErrorCategory category) ? category : ErrorCategory.NotSpecified;
}
