using TierSpaces.Engine.Primitives;

namespace TierSpaces.Engine.Resiliency;

/// <summary>
/// Member disks that a ring can be on: those of a space, or of a cache pool. If a disk leaves, the copy of a ring on it takes no part any more;
/// when the disk is back, the copy is made whole.
/// </summary>
internal interface IRingStorage
{
    /// <summary>Grows with every change of the members under its rings.</summary>
    int MembersVersion { get; }

    /// <summary>Makes a ring over slabs of its own.</summary>
    RingMedium AddRing(RingOptions options);

    /// <summary>Takes a ring away that holds nothing any more that anyone relies on.</summary>
    LaneTask<Nothing> RemoveRing(RingMedium ring);

    /// <summary>Moves a copy of a ring to other places, one disk's; the former ones are free when it is done.</summary>
    LaneTask<RepairEnd> Move(RingMedium ring, int copy, SlabPlace[] places, Func<LaneTask<IoError>> commit, IWorkPacer pacer);
}
