using TierSpaces.Contracts;
using TierSpaces.Engine.Management;

namespace TierSpaces.Host.Verbs.Mapping;

/// <summary>Turns the engine's refusals into rows of the table of errors. Both are named alike; a test compares them.</summary>
internal static class EngineErrors
{
    /// <summary>The row of a refusal.</summary>
    public static StorageErrorKind KindOf(ManagementError problem) =>
        StorageErrors.All.FirstOrDefault(kind => kind.Word == problem.ToString()) ?? StorageErrors.Failed;

    /// <summary>The error of a refusal.</summary>
    public static StorageException ToError(ManagementException rejected) =>
        new(KindOf(rejected.Error), rejected.Message, rejected.Action, inner: rejected);

    /// <summary>Why a disk cannot be pooled, in Windows' words; refusals Windows has no word for are "Other".</summary>
    public static CannotPoolReason ToCannotPoolReason(ManagementError problem) => problem switch
    {
        ManagementError.PhysicalDiskInUse => CannotPoolReason.InAPool,
        ManagementError.NotEnoughCapacity => CannotPoolReason.InsufficientCapacity,
        ManagementError.Failed => CannotPoolReason.NotHealthy,
        _ => CannotPoolReason.Other,
    };
}
