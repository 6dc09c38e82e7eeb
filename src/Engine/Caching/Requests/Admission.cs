using TierSpaces.Engine.Formats;
using TierSpaces.Engine.Primitives;
using TierSpaces.Engine.Resiliency;

namespace TierSpaces.Engine.Caching;

// In front of parity only whole stripes pass the ring by: a part of a stripe costs reads and a journal there, and waits in the ring for what comes beside
// it, whatever medium the ring is on.
//
// Invariants
//  1. A write passes the ring by only while no record of its range, destaged or not, is in the ring. So a replay never covers newer data.
//  2. Nothing passes a ring by that is being given up.

/// <summary>Decides where a write goes: into the ring, or past it to the backing store.</summary>
internal sealed class Admission(CacheContext cache, CacheIndex index, HeldRows rows, ServingRing ring)
{
    private const int BlockSize = CacheRecord.BlockSize;
    private const int LargestCached = 256 << 10;   // bytes of a write

    private readonly IBackingStore _backing = cache.Backing;
    private readonly WriteCacheOptions _options = cache.Options;
    private readonly CacheStatus _status = cache.Status;
    private readonly int _stripe = cache.Backing.StripeSize;
    private int _ranksVersion = -1;   // members of the ring when its rank was looked up
    private int _ringRank;

    /// <summary>Returns where a write should go. A write that overlaps the ring belongs there, however large it is.</summary>
    internal WriteReason ReasonFor(long offset, int length)
    {
        if (!_status.TakesWrites)
        {
            return WriteReason.WriteThrough;
        }

        CacheRing records = ring.Records!;
        int blocks = length / BlockSize;
        bool isPartOfStripe = _stripe > 0 && ((offset % _stripe) | (long)(length % _stripe)) != 0;
        bool isResident = !isPartOfStripe && RankOfRows(offset, length) >= _ringRank;
        bool isLarge = !isPartOfStripe && blocks > Math.Min(LargestCached / BlockSize, records.PayloadMax);
        bool hasRoom = records.HasRoom(Math.Min(blocks, records.PayloadMax), 1) && index.HasRoom(blocks);
        if (!isResident && !isLarge)
        {
            return hasRoom ? WriteReason.Cache : WriteReason.BypassFull;
        }

        return hasRoom && index.HasAny(offset / BlockSize, blocks) ? WriteReason.Cache
            : isResident ? WriteReason.SsdResident : WriteReason.BypassLarge;
    }

    /// <summary>
    /// Whether a write that does not belong in the ring may pass it by now: the backing store takes writes, the ring is not being given up, and it
    /// holds nothing of the range.
    /// </summary>
    internal bool MayPassBy(WriteReason reason, long offset, int length) =>
        reason != WriteReason.Cache && _backing.Fault == IoError.None && _status.State != WriteCacheState.Retiring
            && !index.HasAny(offset / BlockSize, length / BlockSize);

    /// <summary>Returns the rank of the slowest disk under a range.</summary>
    private int RankOfRows(long offset, int length)
    {
        if (_ranksVersion != ring.MembersVersion)
        {
            _ranksVersion = ring.MembersVersion;
            _ringRank = ring.LowestRank();
        }

        int lowest = int.MaxValue;
        for (int row = rows.RowOf(offset); row <= rows.RowOf(offset + length - 1); row++)
        {
            lowest = Math.Min(lowest, _backing.LowestRank(row, _options.RankOf));
        }

        return lowest;
    }
}
