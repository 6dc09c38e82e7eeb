using TierSpaces.Engine.Formats;
using TierSpaces.Engine.Primitives;
using TierSpaces.Engine.Resiliency;

namespace TierSpaces.Engine.Caching;

public sealed partial class WriteCache
{
    /// <summary>Makes a new, empty ring and puts the cache in front of a space; a state of Lost says that it could not be made.</summary>
    internal static async LaneTask<WriteCache> Create(Lanes.ILane lane, IHomeStore home, WriteCacheOptions options)
    {
        WriteCache cache = new(lane, home, options);
        RingMedium medium = cache.UseMedium();
        if (!await cache.TryStart(medium, CacheChain.Empty(lane.Buffers, medium, options.Owner)))
        {
            await cache._stand.RemoveRing(medium);
            cache.State = WriteCacheState.Lost;
            cache._reason = "its ring could not be made";
        }

        return cache;
    }

    /// <summary>
    /// Opens the cache after any stop: what its ring holds is served again. When that cannot be known, or is damaged on every copy, the
    /// space has its fault set and says why.
    /// </summary>
    internal static async LaneTask<WriteCache> Open(Lanes.ILane lane, IHomeStore home, WriteCacheOptions options)
    {
        WriteCache cache = new(lane, home, options);
        if (options.StaleCopies == (1 << options.Copies.Count) - 1)
        {
            cache.State = WriteCacheState.WriteThrough;
            cache._reason = "the write cache was given up";
            return cache;
        }

        if (home.Fault == IoError.None)
        {
            await cache.Replay(cache.UseMedium());
        }

        return cache;
    }

    /// <summary>The cache of a disk whose ring is out of reach as a whole: the disk cannot be used, and what the ring holds is not lost.</summary>
    internal static WriteCache OutOfReach(Lanes.ILane lane, IHomeStore home, WriteCacheOptions options, string reason)
    {
        WriteCache cache = new(lane, home, options) { State = WriteCacheState.Absent, _reason = reason };
        home.FailFront(IoError.DeviceGone, reason);
        return cache;
    }

    /// <summary>Moves a copy of the ring to other places, one disk's; the former ones are free when it is done.</summary>
    internal async LaneTask<RepairEnd> Move(int copy, SlabPlace[] places, Func<LaneTask<IoError>> commit, IWorkPacer pacer)
    {
        if (_medium is not { } medium || _ring is null)
        {
            return RepairEnd.Incomplete;
        }

        RepairEnd end = await _stand.Move(medium, copy, places, commit, pacer);
        if (end == RepairEnd.Done)
        {
            await DrainReaders();   // of the former places
        }

        return end;
    }

    /// <summary>Lets no copy of the ring be made whole or moved any more, until <see cref="Resume"/>.</summary>
    internal LaneTask<Nothing> Suspend() => _medium is { } medium ? medium.Suspend() : LaneTask.FromResult(default(Nothing));

    /// <summary>Whether a disk holds the only good copy of what is not home yet.</summary>
    internal bool IsDegraded => _ring is not null && _medium is { } medium && Enumerable.Range(0, medium.Copies).Any(medium.IsStale);

    /// <summary>Takes the ring, which is empty, away from its members: another one stands in its place, or none.</summary>
    internal async LaneTask<Nothing> Leave()
    {
        await StopDestaging();
        _ring?.Release();
        _ring = null;
        return _medium is { } medium ? await _stand.RemoveRing(medium) : default;
    }

    private async LaneTask<Nothing> StopDestaging()
    {
        _closing = true;
        _work.NotifyAll();
        _freed.NotifyAll();
        while (_isDestaging)
        {
            await _destageEnded.Wait();
        }

        return default;
    }

    /// <summary>Stops it. What the ring holds stays there, durable. No request is under way any more.</summary>
    public async LaneTask<IoError> Close()
    {
        await StopDestaging();
        IoError error = _ring is null || _home.Fault != IoError.None ? IoError.None : await FlushRing(_ring);
        if (_ring is { Fault: IoError.None } ring && _home.Fault == IoError.None && error == IoError.None)
        {
            error = await ring.WriteAnchor();   // it says up to where records are durable: what is missing below is damage
        }

        _ring?.Release();
        return error;
    }

    private RingMedium UseMedium()
    {
        _medium = _stand.AddRing(_options.Copies, _options.Length, _options.StaleCopies, _options.MarkStale, _options.ClearStale);
        _medium.SourceLost = OnSourceLost;
        return _medium;
    }

    /// <summary>The last disk of the ring has left: what is not home cannot be read until one is back.</summary>
    private void OnSourceLost()
    {
        if (!IsGone && !_closing && _ring is { Used: > 0 })
        {
            Lose(IoError.DeviceGone, "none of its disks is there; the virtual disk is attached again when one of them is back");
        }
    }

    private async LaneTask<Nothing> Replay(RingMedium medium)
    {
        long startNs = _lane.NowNs;
        CacheChain chain = await CacheChain.Recover(
            _lane.Buffers, medium, _options.Owner, _home.Length / BlockSize,
            (header, record, checksum) => Index(header, record.Extents, record.Position, record.Position + record.Blocks, checksum));
        _oldest = chain.Tail;
        switch (chain.State)
        {
            case CacheChainState.Recovered:
                if (!await TryStart(medium, chain))
                {
                    Lose(IoError.Io, "its ring could not be continued");
                }

                ReplayNs = _lane.NowNs - startNs;
                break;
            case CacheChainState.Damaged:
                Lose(IoError.Io, "a record of it is damaged on every copy");
                break;
            default:
                Lose(IoError.Io, "no copy of it could be read");
                break;
        }

        return default;
    }

    /// <summary>Begins a session of its own in the ring; false when no copy takes its anchor.</summary>
    private async LaneTask<bool> TryStart(RingMedium medium, CacheChain chain)
    {
        _isIndexWhole = true;
        CacheRing ring = new(_lane, medium, _options.Owner, _lane.NextRandom(), chain) { OnRecord = NoteRecord };
        if (await ring.WriteAnchor() != IoError.None)
        {
            ring.Release();
            return false;
        }

        _ring = ring;
        HoldRows();
        LastWriteNs = _lane.NowNs;
        Destage().Forget();
        return true;
    }

    /// <summary>The home gives no row back that this cache holds data for.</summary>
    private void HoldRows() => _home.IsUnitHeld = row => row < _heldBlocks.Length && _heldBlocks[row] > 0;

    private int OwnRank(RingMedium medium)
    {
        int lowest = int.MaxValue;
        for (int copy = 0; copy < medium.Copies; copy++)
        {
            lowest = Math.Min(lowest, (_options.RingRankOf ?? _options.RankOf)(medium.DiskOf(copy)));
        }

        return lowest;
    }

    private void StartRetiring(string reason)
    {
        if (State == WriteCacheState.Active)
        {
            State = WriteCacheState.Retiring;
            _reason = reason;
            if (_ring!.Used > 0 && !_medium!.HasSource)
            {
                Lose(IoError.Io, $"no copy of it is left; {reason}");
                return;
            }

            Retire().Forget();
        }
    }

    // A record that was refused may stand on a disk all the same: until the pool knows that nothing may be replayed, nothing passes by.
    private async LaneTask Retire()
    {
        while (_ring is { Used: > 0 } && _home.Fault == IoError.None && !_closing)
        {
            await NextFreed();
        }

        await _medium!.Suspend();   // a copy that is made whole now would count again
        for (int copy = 0; copy < _options.Copies.Count && _home.Fault == IoError.None && !_closing; copy++)
        {
            IoError error = await _options.MarkStale(copy);
            if (error != IoError.None)
            {
                Lose(error, "it could not be given up");
            }
        }

        if (_home.Fault == IoError.None && !_closing)
        {
            await _stand.RemoveRing(_medium);
            _ring?.Release();
            _ring = null;
            State = WriteCacheState.WriteThrough;
        }

        _work.NotifyAll();
        _freed.NotifyAll();
    }
}
