using TierSpaces.Engine.Lanes;
using TierSpaces.Engine.Primitives;
using TierSpaces.Engine.Resiliency;

namespace TierSpaces.Engine.Caching;

// Destages the ring in rounds:
//
//  1. The ring is flushed up to the end of the round: only durable records are destaged.
//  2. The newest version of each block in these records, unless a later durable record has a newer one, sorted by address, in runs.
//  3. The backing store is flushed and its entries are logged, durably.
//  4. An anchor with the new tail is made durable on every live copy.
//  5. The blocks whose newest version was in these records are forgotten; when their readers have ended the space is free.
//
// Invariants
//  1. Rounds do not overlap.
//  2. The tail advances durably only after the backing store is flushed and its entries are logged. Only then the blocks are forgotten, and only
//     after their readers have ended the space is used again.
//  3. A ring that is being given up gets no anchor: its space is not used again.

/// <summary>Destages the ring to the backing store.</summary>
internal sealed class Destager(
    CacheContext cache, ServingRing serving, CacheContents contents, RingReaders readers, DestageGoal goal, DestagePace pace, DestagePlan plan,
    DestageRuns runs, CacheLosses losses, BackingWrites backingWrites)
{
    private const int BlockSize = CacheRing.BlockSize;
    private const long IdlePollNs = 20_000_000;
    private const long RetryNs = 1_000_000_000;

    private readonly ILane _lane = cache.Lane;
    private readonly IBackingStore _backing = cache.Backing;
    private readonly CacheStatus _status = cache.Status;
    private readonly WriteCacheCounters _counters = cache.Counters;
    private readonly LaneSignal _ended = new();
    private bool _isRunning;     // the loop
    private int _failedRounds;

    /// <summary>Starts the loop, which runs until the cache is closed, fails or gives its ring up.</summary>
    internal void Start() => Run().Forget();

    /// <summary>Ends the loop, for good.</summary>
    internal async LaneTask<Nothing> Stop()
    {
        _status.BeginClosing();
        while (_isRunning)
        {
            await _ended.Wait();
        }

        return default;
    }

    /// <summary>Empties the ring, which takes nothing meanwhile, until the draining is ended.</summary>
    internal async LaneTask<IoError> Drain()
    {
        _status.BeginDraining();
        int failures = _failedRounds;
        while (serving.Records is { Used: > 0 } && _backing.Fault == IoError.None && !_status.IsClosing && failures == _failedRounds)
        {
            await _status.NextFreed();
        }

        return _status.IsClosing ? IoError.Cancelled : failures != _failedRounds ? IoError.Io : _backing.Fault;
    }

    private async LaneTask Run()
    {
        _isRunning = true;
        while (!_status.IsClosing && _backing.Fault == IoError.None && serving.Records is { } ring)
        {
            long use = goal.Of(ring);
            if (use < ring.Used)
            {
                pace.Begin();
                await Round(ring, use);
                await _lane.Yield();
            }
            else if (ring.Used > 0)
            {
                pace.End();
                await _lane.Delay(IdlePollNs);
            }
            else
            {
                pace.End();
                await _status.Work.Wait();
            }
        }

        pace.End();
        _isRunning = false;
        _ended.NotifyAll();
        _status.NotifyFreed();
    }

    private async LaneTask<Nothing> Round(CacheRing ring, long use)
    {
        (int records, long end, uint checksum) = plan.Choose(ring, use);
        losses.BeginRound();
        bool isRetiring = _status.State == WriteCacheState.Retiring;   // nothing is written to the ring any more, and nothing of it used again
        IoError error = ring.Durable < end && !isRetiring ? await serving.FlushRing(ring) : IoError.None;
        if (error == IoError.None)
        {
            Invariant.That(isRetiring || end <= ring.Durable, "Only durable records are destaged.");
            plan.Make(ring, records);
            error = await runs.Take(ring);
        }

        error = error == IoError.None ? await backingWrites.FlushBacking() : error;
        Invariant.That(error != IoError.None || backingWrites.AreRunsFlushed, "The tail advances only after the backing store is flushed.");
        error = error == IoError.None && !isRetiring ? await ring.WriteAnchor(end, checksum) : error;
        if (error == IoError.None)
        {
            _status.ClearTrouble();
            plan.NoteFlushed(end);
            await Forget(ring, records, end, isRetiring);
        }
        else if (!_status.IsClosing && _backing.Fault == IoError.None && (ring.FlushFault != IoError.None || !serving.Medium!.HasSource))
        {
            serving.Lose(error, "no copy of it is left");
        }
        else if (!_status.IsClosing && _backing.Fault == IoError.None)
        {
            _failedRounds++;
            _status.NotifyFreed();
            _status.NoteTrouble(losses.TroubleOf(error));
            await _lane.Delay(RetryNs);
        }

        _status.NotifyFreed();
        return default;
    }

    private async LaneTask<Nothing> Forget(CacheRing ring, int records, long end, bool isGivenUp)
    {
        contents.Forget(records);
        await readers.DrainReaders();
        _counters.NoteEviction((end - ring.Tail) * BlockSize);
        ring.Free(end, isGivenUp);
        return default;
    }
}
