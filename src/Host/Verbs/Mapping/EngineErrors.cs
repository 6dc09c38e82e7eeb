using TierSpaces.Contracts;
using TierSpaces.Engine.Management;

namespace TierSpaces.Host.Verbs.Mapping;

/// <summary>Maps the engine's errors to rows of the table of errors. Both have the same names; a test compares them.</summary>
internal static class EngineErrors
{
    /// <summary>Returns the row of an engine error.</summary>
    public static StorageErrorKind KindOf(ManagementError problem) =>
        StorageErrors.All.FirstOrDefault(kind => kind.Word == problem.ToString()) ?? StorageErrors.Failed;

    /// <summary>Converts an engine error to the error that the client gets.</summary>
    public static StorageException ToError(ManagementException rejected) =>
        new(KindOf(rejected.Error), rejected.Message, rejected.Action, inner: rejected);
}
