using TierSpaces.Engine.Lanes;
using TierSpaces.Engine.Pools;
using TierSpaces.Engine.Primitives;
using TierSpaces.Engine.Resiliency.Layouts;

namespace TierSpaces.Engine.Resiliency;

/// <summary>Place of one slab of a row.</summary>
/// <param name="Disk">Number of the member disk in its pool.</param>
/// <param name="PagesOffset">Offset of its checksum pages on the disk, in bytes.</param>
/// <param name="DataOffset">Offset of its data on the disk, in bytes.</param>
public readonly record struct SlabPlace(int Disk, long PagesOffset, long DataOffset)
{
    /// <summary>Returns the offset of a checksum page on the disk, in bytes.</summary>
    internal long OffsetOf(in PagePlace page) => (page.IsInData ? DataOffset : PagesOffset) + page.Offset;
}

/// <summary>Slabs for a row, or why there are none.</summary>
/// <param name="Error"><see cref="IoError.None"/>, or <see cref="IoError.NoSpace"/> when the pool has no room.</param>
/// <param name="Places">One place per position.</param>
public readonly record struct RowGrant(IoError Error, SlabPlace[] Places);

/// <summary>
/// Services that a pool provides to users of its member disks. A request is durable when it completes; what needs no request is in <see cref="Members"/>.
/// </summary>
public interface IMemberHost
{
    /// <summary>The lane the pool lives on.</summary>
    ILane Lane { get; }

    /// <summary>The member disks. The pool replaces the table with every change; a user keeps none.</summary>
    MemberTable Members { get; }

    /// <summary>
    /// Evicts a disk from the view. Before it completes, the new view is durable and every user of the disk through this host is notified
    /// (<see cref="Space.OnDiskLost"/>). If the disk is already out, it does nothing. If the pool cannot change its view any more, it fails.
    /// </summary>
    LaneTask<IoError> Evict(int disk, string reason);

    /// <summary>
    /// Tells the owner what was found or rewritten at an offset of a disk (-1: none), for its reliability counters and its threshold of errors. No data depends
    /// on it.
    /// </summary>
    void Report(int disk, DiskFinding finding, int count, long offset)
    {
    }
}

/// <summary>Services that a pool provides to a space. A request is durable when it completes.</summary>
public interface ISpaceHost : IMemberHost
{
    /// <summary>
    /// Reserves slabs for a row that has none, or returns those that it owns already. Nothing is committed yet. If the other disks do not suffice, some copies
    /// are on disks that are retired or away: at least one copy of each column is on a disk that is neither.
    /// </summary>
    LaneTask<RowGrant> ReserveRow(uint space, int row);

    /// <summary>
    /// Commits the reserved row to the map: its slabs hold nothing of a former owner any more. <see cref="IoError.TryAgain"/>: a disk was removed from the
    /// pool since the row was reserved.
    /// </summary>
    LaneTask<IoError> CommitRow(uint space, int row);

    /// <summary>
    /// Commits the reserved row to the map as owned and not written: it reads as zeros, <see cref="ReserveRow"/> gives its slabs again, and
    /// copies of it can be marked stale.
    /// </summary>
    LaneTask<IoError> OwnRow(uint space, int row);

    /// <summary>Gives a reservation back. The space waits for no answer.</summary>
    void CancelRow(uint space, int row);

    /// <summary>Takes a row out of the map, punches its slabs below and only then lets others have them.</summary>
    LaneTask<IoError> FreeRow(uint space, int row);

    /// <summary>Records that the copy at a position misses writes in these regions (bit per region).</summary>
    LaneTask<IoError> MarkStale(uint space, int row, int position, ushort regions);

    /// <summary>Records that the copy at a position holds these regions again, durably.</summary>
    LaneTask<IoError> ClearStale(uint space, int row, int position, ushort regions);

    /// <summary>Records that a copy of the integrity log misses blocks: until <see cref="ClearLogStale"/> nothing is recovered from it.</summary>
    LaneTask<IoError> MarkLogStale(uint space, int copy);

    /// <summary>Records that a copy of the integrity log is whole again, durably.</summary>
    LaneTask<IoError> ClearLogStale(uint space, int copy);
}

/// <summary>Finding of a space about a member disk.</summary>
public enum DiskFinding
{
    /// <summary>A block or sector was not what its checksum says.</summary>
    ChecksumMismatch,

    /// <summary>A wrong or unreadable block was rewritten from a good copy.</summary>
    Healed,

    /// <summary>A wrong or unreadable block could not be given by any copy.</summary>
    Lost,
}
