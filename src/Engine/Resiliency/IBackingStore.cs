using TierSpaces.Engine.Primitives;

namespace TierSpaces.Engine.Resiliency;

/// <summary>
/// Storage of the data of a virtual disk: one space, or the tiers of a tiered disk. It gets room in units: a row of slabs, or a slice. Beside the
/// requests of every store it provides what a write cache in front of it needs: room for a ring on its own members, unless the ring is in
/// another pool, and units that exist before a write to them is acknowledged.
/// </summary>
internal interface IBackingStore : IBlockStore, IRingStorage
{
    /// <summary>Error because of which the store takes no more requests; <see cref="IoError.None"/> while it serves.</summary>
    IoError Fault { get; }

    /// <summary>Reason of the fault, in words.</summary>
    string FaultReason { get; }

    /// <summary>Length in bytes.</summary>
    long Length { get; }

    /// <summary>
    /// Bytes of a stripe, if writes of whole stripes, aligned to them, cost much less than others; 0: there is no such size.
    /// </summary>
    int StripeSize => 0;

    /// <summary>States the end of a ring in front where a later process finds it; null: there is no place for that.</summary>
    EndStatement? RingEnd => null;

    /// <summary>Bytes of a unit of room.</summary>
    long UnitSize { get; }

    /// <summary>Units are not given back as long as something in front of it, which says so, still holds data for them.</summary>
    void KeepUnits(Func<int, bool> isHeld);

    /// <summary>Makes it longer; shrinking is not done.</summary>
    void Grow(long length);

    /// <summary>Whether a unit has room of its own.</summary>
    bool IsReserved(int unit);

    /// <summary>Gives a unit, durably, room of its own when it has none.</summary>
    LaneTask<IoError> Reserve(int unit);

    /// <summary>
    /// All of a unit was unmapped by a client; parts of that may have to come yet, as long as something in front holds the unit.
    /// </summary>
    void UnitUnmapped(int unit);

    /// <summary>A unit is held no more: an empty one of a thin disk goes back to the pool.</summary>
    void UnitReleased(int unit);

    /// <summary>
    /// Marks the blocks of a range as lost for good: reading a block fails until it is written or unmapped. Durable with the next flush.
    /// <see cref="IoError.NotSupported"/>: a store without checksums has no place for such marks.
    /// </summary>
    LaneTask<IoError> Poison(long offset, long length);

    /// <summary>The lowest rank among the disks under a unit; high for one without room.</summary>
    int LowestRank(int unit, Func<int, int> rankOf);

    /// <summary>Nothing can be promised any more, for a reason that lies in front of it.</summary>
    void FailFront(IoError error, string reason);
}
