using TierSpaces.Engine.Primitives;

namespace TierSpaces.Engine.Resiliency;

/// <summary>Something with copies that may have missed writes while their disks were away.</summary>
public interface IRepairable
{
    /// <summary>Error because of which the object takes no more requests; <see cref="IoError.None"/> while it serves.</summary>
    IoError Fault { get; }

    /// <summary>Reason of the fault, in words.</summary>
    string FaultReason { get; }

    /// <summary>Bytes that <see cref="Resync"/> would look at now: stale copies on disks that are there.</summary>
    long BytesToResync { get; }

    /// <summary>Makes every stale copy whole whose disk is there. One repair runs at a time; a second one waits for the first.</summary>
    LaneTask<RepairEnd> Resync(IWorkPacer pacer);
}
