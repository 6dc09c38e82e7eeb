using TierSpaces.Engine.Primitives;

namespace TierSpaces.Engine.Resiliency;

/// <summary>
/// Where the ring of a write cache stands: on the members of its home's own pool, or of another pool that lends it room. It follows the disks
/// under the ring: one that leaves takes its copy along, one that is back has it made whole.
/// </summary>
internal interface IRingStand
{
    /// <summary>Grows with every change of the members under its rings.</summary>
    int MembersVersion { get; }

    /// <summary>A ring over slabs of its own.</summary>
    /// <param name="copies">Per copy the slabs that follow each other.</param>
    /// <param name="length">Length in bytes, a multiple of 4096.</param>
    /// <param name="staleCopies">Copies that nothing may be recovered from, bit per copy.</param>
    /// <param name="mark">Records durably that a copy is stale.</param>
    /// <param name="clear">Records durably that it is whole again.</param>
    RingMedium AddRing(
        IReadOnlyList<IReadOnlyList<SlabPlace>> copies, long length, int staleCopies, Func<int, LaneTask<IoError>> mark, Func<int, LaneTask<IoError>> clear);

    /// <summary>The ring holds nothing any more that anyone relies on.</summary>
    LaneTask<Nothing> RemoveRing(RingMedium ring);

    /// <summary>Moves a copy of a ring to other places, one disk's; the former ones are free when it is done.</summary>
    LaneTask<RepairEnd> Move(RingMedium ring, int copy, SlabPlace[] places, Func<LaneTask<IoError>> commit, IWorkPacer pacer);
}
