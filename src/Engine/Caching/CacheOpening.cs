using TierSpaces.Engine.Formats;
using TierSpaces.Engine.Lanes;
using TierSpaces.Engine.Primitives;
using TierSpaces.Engine.Resiliency;

namespace TierSpaces.Engine.Caching;

// Invariants
//  1. Nothing is replayed from a copy that is marked stale. If all copies are marked, the ring was given up.
//  2. Requests are served only after the anchor of this session is durable on every live copy.
//  3. If the contents of the ring cannot be known, or are damaged on every copy, the backing store fails with the reason.

/// <summary>Opens a write cache: makes a new ring, or replays the ring that an earlier session left.</summary>
internal sealed class CacheOpening(CacheContext cache, ServingRing ring, CacheContents contents, HeldRows rows, CacheSurvey survey, Destager destager)
{
    private readonly ILane _lane = cache.Lane;
    private readonly IBackingStore _backing = cache.Backing;
    private readonly WriteCacheOptions _options = cache.Options;
    private readonly CacheStatus _status = cache.Status;

    /// <summary>Time that reading the ring took, in nanoseconds.</summary>
    internal long ReplayNs { get; private set; }

    /// <inheritdoc cref="CacheChain.SummariesUsed"/>
    internal int SummariesUsed { get; private set; }

    /// <summary>Makes a new, empty ring.</summary>
    internal async LaneTask<Nothing> Create()
    {
        RingMedium medium = ring.UseMedium();
        if (!await TryStart(medium, CacheChain.Empty(_lane.Buffers, medium, _options)))
        {
            await ring.Remove();
            _status.NoteNotMade("its ring could not be made");
        }

        return default;
    }

    /// <summary>Opens the ring after any stop: what it holds is served again.</summary>
    internal async LaneTask<Nothing> Open()
    {
        if (_options.StaleCopies == (1 << _options.Copies.Count) - 1)
        {
            _status.StartWriteThrough("the write cache was given up");
        }
        else if (_backing.Fault == IoError.None)
        {
            await Replay(ring.UseMedium());
        }

        return default;
    }

    private async LaneTask<Nothing> Replay(RingMedium medium)
    {
        long startNs = _lane.NowNs;
        CacheChain chain = await CacheChain.Recover(
            _lane.Buffers, medium, _options, _backing.Length / CacheRecord.BlockSize, _backing.RingEnd, contents.Add);
        survey.NoteOldest(chain.Tail);
        SummariesUsed = chain.SummariesUsed;
        switch (chain.State)
        {
            case CacheChainState.Recovered:
                if (!await TryStart(medium, chain))
                {
                    ring.Lose(IoError.Io, "its ring could not be continued");
                }

                ReplayNs = _lane.NowNs - startNs;
                break;
            case CacheChainState.Incomplete:
                ring.Lose(IoError.Io, "a record of it is damaged, and a disk with another copy is away");
                break;
            case CacheChainState.Damaged:
                ring.Lose(IoError.Io, "a record of it is damaged on every copy");
                break;
            default:
                ring.Lose(IoError.Io, "no copy of it could be read");
                break;
        }

        return default;
    }

    private async LaneTask<bool> TryStart(RingMedium medium, CacheChain chain)
    {
        survey.NoteIndexWhole();
        if (!await ring.TryStart(medium, chain, contents.AddRecord))
        {
            return false;
        }

        rows.Claim();
        _status.NoteWrite(_lane.NowNs);
        destager.Start();
        return true;
    }
}
