using TierSpaces.Engine.Formats;
using TierSpaces.Engine.Primitives;
using TierSpaces.Engine.Resiliency;

namespace TierSpaces.Engine.Caching;

// A ring that failed a write is given up:
//
//  1. It takes nothing any more; destaging empties it. Nothing passes it by.
//  2. No copy is made whole any more: it would count again.
//  3. Every copy is marked stale, durably: nothing is replayed from it.
//  4. The ring leaves its members; writes go to the backing store from here on.
//
// Invariants
//  1. After a failed write to the ring nothing passes it by before step 3 has ended: a record that failed may be on a disk nevertheless.
//  2. A ring without a readable copy, with data that is not destaged, is lost and not given up.

/// <summary>Gives up the ring of a write cache after a failed write.</summary>
internal sealed class RingRetirement(CacheContext cache, ServingRing ring)
{
    private readonly IBackingStore _backing = cache.Backing;
    private readonly WriteCacheOptions _options = cache.Options;
    private readonly CacheStatus _status = cache.Status;

    /// <summary>Starts giving the ring up, once.</summary>
    internal void Start(string reason)
    {
        if (_status.State == WriteCacheState.Active)
        {
            _status.BeginRetiring(reason);
            if (ring.Records!.Used > 0 && !ring.Medium!.HasSource)
            {
                ring.Lose(IoError.Io, $"no copy of it is left; {reason}");
                return;
            }

            Retire().Forget();
        }
    }

    private async LaneTask Retire()
    {
        while (ring.Records is { Used: > 0 } && _backing.Fault == IoError.None && !_status.IsClosing)
        {
            await _status.NextFreed();
        }

        await ring.Suspend();
        for (int copy = 0; copy < _options.Copies.Count && _backing.Fault == IoError.None && !_status.IsClosing; copy++)
        {
            IoError error = await _options.MarkStale(copy);
            if (error != IoError.None)
            {
                ring.Lose(error, "it could not be given up");
            }
        }

        if (_backing.Fault == IoError.None && !_status.IsClosing)
        {
            await ring.Settle();
            await ring.Remove();
            ring.Forget();
            _status.EndRetiring();
        }

        _status.Work.NotifyAll();
        _status.NotifyFreed();
    }
}
