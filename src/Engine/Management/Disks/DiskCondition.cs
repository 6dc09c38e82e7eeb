using TierSpaces.Engine.Devices;
using TierSpaces.Engine.Formats;
using TierSpaces.Engine.Pools;

namespace TierSpaces.Engine.Management;

// A condition does not change; an event of the disk makes another one.

/// <summary>Known facts of the use of a registered disk: its content, and the reasons against using it.</summary>
internal sealed record DiskCondition
{
    /// <summary>Content that the last scan found on the disk; null while it is not known.</summary>
    internal PoolScan? Scan { get; init; }

    /// <summary>Label that says which member of which pool it is; null for one that is none, or while that is not known.</summary>
    internal DiskLabel? Label => Scan?.Label;

    /// <summary>Reason why the disk could not be opened or used; empty if it could.</summary>
    internal string Problem { get; init; } = "";

    /// <summary>Kind of <see cref="Problem"/>; valid while there is one because the disk is not there or cannot be opened.</summary>
    internal CannotPoolKind ProblemKind { get; init; } = CannotPoolKind.NotHealthy;

    /// <summary>A process that has ended has it open still.</summary>
    internal bool IsStillHeld { get; init; }

    /// <summary>Whether it is of another history of a pool that is open: no member of the pool, whatever its label says.</summary>
    internal bool IsSplit { get; init; }

    /// <summary>Whether another device carries its disk identity, so that it is not used: see <see cref="DiskCopies"/>.</summary>
    internal CopyState Copy { get; init; }
}
