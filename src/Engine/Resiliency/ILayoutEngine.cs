using TierSpaces.Engine.Primitives;
using TierSpaces.Engine.Resiliency.Layouts;

namespace TierSpaces.Engine.Resiliency;

// Executes a layout: turns reads, writes and repairs of places into requests to the positions of a row.
//
// The space has seen to this before it calls:
//  - the row is initialized and counted as used, and its region is resolved (but for Resync)
//  - Write: the range lock is held and the region is marked dirty. Zero, Poison, ReadLocked, Rebuild, VerifyLocked: the range lock is held.
// An engine sees to the rest: at most LossesMax positions of a group are out; what a position missed is durably stale before a write is acknowledged. It
// notes what it writes by itself and a disk may lose (LackedBlocks.NoteWritten); of Write, Zero and Poison the space does.

/// <summary>Executes a layout.</summary>
internal interface ILayoutEngine
{
    /// <summary>Answer of <see cref="Read"/>: what was read does not match its entries, or did not arrive. The space reads again under the lock.</summary>
    internal const IoError Doubtful = (IoError)(-2);

    /// <summary>Whether <see cref="Zero"/> and <see cref="Poison"/> write to the disks: then the region is marked dirty before them too.</summary>
    bool ZeroesWrite => false;

    /// <summary>Reads that another position was asked for because the first one took too long.</summary>
    long HedgesAsked { get; }

    /// <summary>Reads that the other position answered.</summary>
    long HedgesWon { get; }

    /// <summary>Makes what the engine keeps beside the log, for a new space.</summary>
    LaneTask<IoError> Create() => default;

    /// <summary>
    /// Completes, durably, the changes that were under way at an unclean stop. The log is replayed; regions that were dirty are unresolved, and nothing is
    /// served yet. An error, or a fault of the space, ends the opening.
    /// </summary>
    LaneTask<IoError> Open() => default;

    /// <summary>Reads a piece without its lock.</summary>
    LaneTask<IoError> Read(SpaceRow row, StripPiece piece, IoBuffer target);

    /// <summary>Reads a piece block by block, and heals what is wrong.</summary>
    LaneTask<IoError> ReadLocked(SpaceRow row, StripPiece piece, IoBuffer target);

    /// <summary>Writes a piece to every position that is in.</summary>
    LaneTask<IoError> Write(SpaceRow row, StripPiece piece, IoBuffer source);

    /// <summary>Makes a piece never-written. Only with checksums.</summary>
    LaneTask<IoError> Zero(SpaceRow row, StripPiece piece);

    /// <summary>Makes reads of a piece fail until it is written. Only with checksums.</summary>
    LaneTask<IoError> Poison(SpaceRow row, StripPiece piece);

    /// <summary>Appends what is known of a piece.</summary>
    LaneTask<IoError> Status(SpaceRow row, StripPiece piece, List<StoreExtent> extents);

    /// <summary>Unmaps a stretch of a column on its disks. The caller knows that its bytes are not needed.</summary>
    LaneTask<Nothing> Punch(SpaceRow row, int column, int slabOffset, int length);

    /// <summary>
    /// Gives what is under a piece back to the disks that can do so without changing its bytes. All of it holds zeros, and its lock is held. Only
    /// without checksums.
    /// </summary>
    LaneTask<Nothing> PunchZeros(SpaceRow row, StripPiece piece) => LaneTask.FromResult(default(Nothing));

    /// <summary>Bytes of each position that are resynced at once at least: a part of a region, all of it at most. At most 64 parts are a region.</summary>
    int ResyncSize { get; }

    /// <summary>Whether <see cref="Open"/> has decided what a block holds: then no record of a write does.</summary>
    bool HasDecided(in StripPiece block) => false;

    /// <summary>Whether the engine writes to a journal of its own, with no request under way.</summary>
    bool IsStating => false;

    /// <summary>
    /// Makes the positions of a part of a region agree after an unclean stop, durably, and judges the writes of a process that died
    /// (<see cref="FoundWrites"/>).
    /// </summary>
    /// <param name="row">The row.</param>
    /// <param name="region">The region, numbered in its row.</param>
    /// <param name="slabOffset">First byte of the part, in the slab; a multiple of <see cref="ResyncSize"/>.</param>
    /// <param name="length">Bytes, a multiple too.</param>
    LaneTask<IoError> Resync(SpaceRow row, int region, int slabOffset, int length);

    /// <summary>Buffers of the length of a stretch that <see cref="Rebuild"/> holds at once, at most.</summary>
    int RebuildBuffers => 1;

    /// <summary>Whether <see cref="Rebuild"/> gives lines with a poisoned block their redundancy back, whatever the position lacks.</summary>
    bool RebuildMendsPoisoned => false;

    /// <summary>Rebuilds a stretch of the slab of a position at a place that takes its writes already.</summary>
    LaneTask<IoError> Rebuild(SpaceRow row, int position, StripPiece stretch, SlabPlace target);

    /// <summary>Verifies a stretch of a group on every position, without its lock. False: something does not match, or a write was in the way.</summary>
    LaneTask<bool> Verify(SpaceRow row, StripPiece stretch, ScrubFindings findings);

    /// <summary>Verifies a stretch of a group again, block by block, and heals what is wrong.</summary>
    LaneTask<IoError> VerifyLocked(SpaceRow row, StripPiece stretch, ScrubFindings findings);
}
