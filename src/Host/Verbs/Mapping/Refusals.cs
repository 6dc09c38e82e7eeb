using TierSpaces.Contracts;
using TierSpaces.Engine.Management;

namespace TierSpaces.Host.Verbs.Mapping;

/// <summary>Turns the engine's refusals into rows of the table of errors. Both are named alike; a test compares them.</summary>
internal static class Refusals
{
    /// <summary>The row of a refusal.</summary>
    public static StorageErrorKind KindOf(Refusal refusal) =>
        StorageErrors.All.FirstOrDefault(kind => kind.Word == refusal.ToString()) ?? StorageErrors.Failed;

    /// <summary>The error of a refusal.</summary>
    public static StorageException ToError(RefusedException refused) =>
        new(KindOf(refused.Refusal), refused.Message, refused.Action, inner: refused);

    /// <summary>Why a disk cannot be pooled, in Windows' words; refusals Windows has no word for are "Other".</summary>
    public static CannotPoolReason ToCannotPoolReason(Refusal refusal) => refusal switch
    {
        Refusal.PhysicalDiskInUse => CannotPoolReason.InAPool,
        Refusal.NotEnoughCapacity => CannotPoolReason.InsufficientCapacity,
        Refusal.Failed => CannotPoolReason.NotHealthy,
        _ => CannotPoolReason.Other,
    };
}
